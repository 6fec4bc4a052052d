// SPDX-License-Identifier: Apache-2.0
// newel_bench_gpus: microseconds of an iteration of CG with Jacobi on one GPU and on several that share the rows.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <thread>

#include <newel/distributed/distributed_system.hpp>

#include "apps/fem/problem.hpp"
#include "machine_facts.hpp"
#include "measure.hpp"

namespace {

using namespace newel;
using namespace newel::bench;
constexpr Space host = Space::host, device = Space::device;

struct Options {
  std::vector<std::string> systems = {"generate:elasticity:68", "generate:grid7:96"};
  std::vector<int> gpus = {1, 2};
  std::string link = "automatic";
  int iterations = 200, repeats = 5;
  std::string report;
};

const std::map<std::string, RankLink>& links() {
  static const std::map<std::string, RankLink> all = {{"automatic", RankLink::automatic},
                                                      {"peers", RankLink::peers},
                                                      {"nccl", RankLink::nccl},
                                                      {"host", RankLink::host}};
  return all;
}

// Iterations by number, all of them, whatever the residual is.
SystemOptions fixed_iterations(int iterations, const std::string& format) {
  SystemOptions options;
  options.solver.name = "cg";
  options.precond.name = "jacobi";
  options.spmv.format = format;
  options.stop.rel_tol = 1e-300;
  options.stop.max_iterations = iterations;
  return options;
}

// What a system of one rank or of one GPU does: seconds of a solve of k iterations, by the report.
struct Measured {
  Samples microseconds;  ///< of an iteration
  int iterations = 0;
  std::string link;
};

// An iteration takes what twice as many take longer, over their number: without start and end of a solve.
template <class Solve>
Samples microseconds_of(const Options& options, const Solve& solve_of) {
  const auto once = solve_of(options.iterations), twice = solve_of(2 * options.iterations);
  Samples found;
  for (int repeat = -2; repeat < options.repeats; ++repeat) {
    const double more = twice() - once();
    if (repeat >= 0) found.push_back(1e6 * more / options.iterations);  // the first two load and capture
  }
  return found;
}

Measured measure_alone(const fem::HostCsr& a, const std::string& format, const Options& options) {
  const Context<device> ctx;
  const Csr<double, device> there = make_csr(ctx, CsrView<double, host>(a));
  const Array<double, device> b = make_array(ctx, random_vector(a.rows));
  Array<double, device> x(ctx, a.rows);
  Measured measured;
  measured.microseconds = microseconds_of(options, [&](int iterations) {
    const auto system = std::make_shared<LinearSystem<double, device>>(ctx, CsrView<double, device>(there),
                                                                       fixed_iterations(iterations, format));
    return [&, system] {
      const SolveReport report = system->solve(b.cspan(), x.span(), {}, InitialGuess::zero);
      measured.iterations = report.iterations;
      return report.seconds;
    };
  });
  measured.link = "none, " + format;
  return measured;
}

// Rows first, first + 1, ... with 64-bit columns.
struct Rows {
  std::vector<Offset> row_ptr = {0};
  std::vector<std::int64_t> col;
  Span<const double, host> val;

  Rows(const CsrView<double, host>& a, Index first, Index rows) {
    const auto begin_of = [&](Index i) { return a.wide() ? a.row_ptr64[i] : Offset{a.row_ptr32[i]}; };
    const Offset begin = begin_of(first), end = begin_of(first + rows);
    for (Index i = first; i < first + rows; ++i) row_ptr.push_back(begin_of(i + 1) - begin);
    col.assign(a.col.data + begin, a.col.data + end);
    val = a.val.subspan(begin, end - begin);
  }
  RankRows<double> view() const {
    return {Span<const Offset, host>(row_ptr), Span<const std::int64_t, host>(col), val};
  }
};

Measured measure_rank(const std::shared_ptr<Communicator>& ranks, const fem::HostCsr& a, const Options& options) {
  const auto bound = [&](int r) { return static_cast<Index>(std::int64_t{a.rows} * r / ranks->size()); };
  const Index first = bound(ranks->rank()), count = bound(ranks->rank() + 1) - first;
  const Rows own(CsrView<double, host>(a), first, count);
  const Context<device> ctx(ranks->rank() % device_count());
  const std::vector<double> whole = random_vector(a.rows);
  const auto b = make_array(ctx, std::vector<double>(whole.begin() + first, whole.begin() + first + count));
  Array<double, device> x(ctx, count);
  Measured measured;
  measured.microseconds = microseconds_of(options, [&](int iterations) {
    const auto system = std::make_shared<DistributedSystem<double, device>>(
        ctx, ranks, own.view(), fixed_iterations(iterations, "auto"), links().at(options.link));
    measured.link = system->link();
    return [&, system] {
      const SolveReport report = system->solve(b.cspan(), x.span(), {}, InitialGuess::zero);
      measured.iterations = report.iterations;
      return report.seconds;
    };
  });
  return measured;
}

Measured measure_ranks(int size, const fem::HostCsr& a, const Options& options) {
  const auto ranks = thread_ranks(size);
  std::vector<Measured> measured(ranks.size());
  std::vector<std::exception_ptr> thrown(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    threads.emplace_back([&, r] {
      try {
        measured[r] = measure_rank(ranks[r], a, options);
      } catch (const std::exception& failure) {
        ranks[r]->fail(failure.what());
        thrown[r] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : thrown) {
    if (failure != nullptr) std::rethrow_exception(failure);
  }
  return measured[0];
}

Json shown(const std::string& system, int gpus, const Measured& measured) {
  std::printf("%-28s %d GPU%s  %s us an iteration  (%d iterations; link: %s)\n", system.c_str(), gpus,
              gpus == 1 ? " " : "s", spread(measured.microseconds).c_str(), measured.iterations,
              measured.link.c_str());
  std::fflush(stdout);
  return {{"gpus", gpus},
          {"link", measured.link},
          {"iterations", measured.iterations},
          {"microseconds", summary(measured.microseconds)}};
}

int run(int argc, char* argv[]) {
  Options options;
  CLI::App app(
      "CG with Jacobi in double on GPUs that share the rows of a system, one thread each: microseconds of an "
      "iteration, median (min .. max), beside those of one GPU without ranks");
  app.add_option("systems", options.systems, "Systems, as newel generates them")->capture_default_str();
  app.add_option("--gpus", options.gpus, "Numbers of GPUs")->delimiter(',')->capture_default_str();
  app.add_option("--link", options.link, "How their values travel")->check(CLI::IsMember(links()));
  app.add_option("--iterations", options.iterations, "Iterations of the shorter solve")->check(CLI::PositiveNumber);
  app.add_option("--repeats", options.repeats, "Repeats of each measurement")->check(CLI::PositiveNumber);
  app.add_option("--report", options.report, "Write the figures as JSON");
  CLI11_PARSE(app, argc, argv);
  Json report = report_head("newel_bench_gpus", typed_command(argc, argv));
  report.update(machine_facts(Context<device>()));
  report["devices"] = device_count();
  report["systems"] = Json::array();
  for (const std::string& spec : options.systems) {
    const fem::HostCsr a = fem::generate_matrix(Context<host>(), spec);
    Json system{{"system", spec}, {"rows", a.rows}, {"nonzeros", a.nnz()}, {"runs", Json::array()}};
    for (const std::string format : {"csr", "ehyb"}) {
      system["runs"].push_back(shown(spec, 1, measure_alone(a, format, options)));
    }
    for (const int gpus : options.gpus) {
      if (gpus > 1) system["runs"].push_back(shown(spec, gpus, measure_ranks(gpus, a, options)));
    }
    report["systems"].push_back(system);
    if (!options.report.empty()) write_report(options.report, report);
  }
  return 0;
}

}  // namespace

int main(int argc, char* argv[]) { return newel::bench::run_program(argc, argv, &run); }

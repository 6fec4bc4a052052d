// SPDX-License-Identifier: Apache-2.0
// newel_bench_multigrid: AMG from the matrix in its space: setup, refresh, cycle and whole solves, beside those with
// Jacobi.
#include <CLI/CLI.hpp>

#include <cstdio>

#include <newel/config.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/precond/registry.hpp>
#include <newel/solver/linear_system.hpp>

#include "apps/common/json_file.hpp"
#include "apps/fem/problem.hpp"
#include "comparison.hpp"
#include "machine_facts.hpp"
#include "memory_traffic.hpp"
#include "product_oracle.hpp"
#include "timer.hpp"

namespace {

using namespace newel;
using namespace newel::bench;
constexpr Space host = Space::host;

struct Options {
  std::vector<std::string> systems = {"generate:diffusion:68", "generate:elasticity:68"};
  std::vector<std::string> formats = {"ehyb"};
  std::string place = NEWEL_HAS_CUDA == 1 ? "cuda" : "host";
  std::string precision = "auto", smoother = "auto";
  int threads = 0;
  int repeats = 5;
  double tolerance = 1e-8;
  bool jacobi = true;
  std::string report;
};

// A system in S, with b = 1.
template <Space S>
struct Problem {
  Problem(const Context<S>& ctx, const std::string& spec, int threads)
      : on_host(fem::generate_matrix(Context<host>(threads), spec, coordinates.get())),
        a(make_csr(ctx, CsrView<double, host>(on_host))),
        b(ctx, on_host.rows),
        x(ctx, on_host.rows) {
    fill(ctx, 1.0, b.span());
    elastic = spec.find("elasticity") != std::string::npos;
  }
  CsrView<double, S> view() const { return CsrView<double, S>(a); }
  SpmvOptions in_format(const std::string& format) const {
    SpmvOptions options{format};
    if (elastic) options.coordinates = coordinates;
    return options;
  }

  std::shared_ptr<NodeCoordinates> coordinates = std::make_shared<NodeCoordinates>();
  bool elastic = false;
  fem::HostCsr on_host;
  Csr<double, S> a;
  Array<double, S> b, x;
};

PrecondOptions amg_options(const Options& options) {
  PrecondOptions amg;
  amg.name = "amg";
  amg.symmetric = true;
  for (const MethodOption& option : find_preconditioner("amg").options) {
    if (option.key == "amg_precision") option.set(amg.methods, options.precision);
    if (option.key == "amg_smoother") option.set(amg.methods, options.smoother);
  }
  return amg;
}

// The hierarchy with its cycle, in csr and the caller's order: the first setup loads kernels too.
template <Space S>
Json measure_hierarchy(const Context<S>& ctx, const Problem<S>& problem, const Options& options) {
  OperatorPtr<double, S> m;
  const auto set_up = [&] {
    m.reset();
    ctx.synchronize();
    return seconds_of([&] {
      m = make_precond(ctx, problem.view(), RowOrder<S>{}, amg_options(options), problem.in_format("csr"));
      ctx.synchronize();
    });
  };
  const double first = set_up();
  Samples setups, refreshes, cycles;
  for (int k = 0; k < options.repeats; ++k) setups.push_back(set_up());
  for (int k = 0; k < options.repeats; ++k) {
    refreshes.push_back(seconds_of([&] {
      m->refresh(ctx, problem.a.val.cspan());
      ctx.synchronize();
    }));
  }
  constexpr int at_once = 20;
  Array<double, S> y(ctx, problem.a.rows);
  const Timer<S> timer(ctx);
  for (int k = 0; k < options.repeats; ++k) {
    cycles.push_back(timer.back_to_back(at_once, [&] { m->apply(ctx, 1.0, problem.b.cspan(), 0.0, y.span()); }));
  }
  const OperatorInfo info = m->info();
  Json levels = Json::array();
  for (const auto& level : info.levels) levels.push_back(cli::object_of(level));
  std::printf("  hierarchy %s ms (the first %.1f), refresh %s ms, cycle %s us; %s\n", spread(setups, 1e3).c_str(),
              1e3 * first, spread(refreshes, 1e3).c_str(), spread(cycles, 1e6).c_str(), info.detail.c_str());
  return {{"first_setup_milliseconds", 1e3 * first},
          {"setup", milliseconds(setups)},
          {"setup_seconds", cli::object_of(info.setup_seconds)},
          {"refresh", milliseconds(refreshes)},
          {"cycle", {{"microseconds", summary(cycles, 1e6)}}},
          {"detail", info.detail},
          {"figures", cli::object_of(info.figures)},
          {"levels", levels},
          {"bytes", info.total_bytes()}};
}

// Whole solves from 0 by CG, judged by their x.
template <Space S>
Json measure_solve(const Context<S>& ctx, Problem<S>& problem, const PrecondOptions& precond,
                   const std::string& format, const Options& options) {
  SystemOptions system_options;
  system_options.spmv = problem.in_format(format);
  system_options.precond = precond;
  system_options.solver.name = "cg";
  system_options.stop.rel_tol = options.tolerance;
  system_options.stop.max_iterations = 100000;
  std::unique_ptr<LinearSystem<double, S>> system;
  const double setup = seconds_of([&] {
    system = std::make_unique<LinearSystem<double, S>>(ctx, problem.view(), system_options);
    ctx.synchronize();
  });
  SolveReport report;
  const auto solve = [&] {
    fill(ctx, 0.0, problem.x.span());
    ctx.synchronize();
    return seconds_of([&] { report = system->solve(problem.b.cspan(), problem.x.span()); });
  };
  const Samples seconds = alternate({solve}, options.repeats).front();
  const std::vector<double> ones(static_cast<std::size_t>(problem.a.rows), 1.0);
  const double residual =
      true_residual<double>(Context<host>(options.threads), problem.on_host, ones, to_vector(ctx, problem.x.cspan()))
          .relative;
  std::printf("  %-6s %-15s setup %7.1f ms, solve %s ms, %d iterations, %s, residual %.2e\n", precond.name.c_str(),
              format.c_str(), 1e3 * setup, spread(seconds, 1e3).c_str(), report.iterations,
              std::string(name_of(report.status)).c_str(), residual);
  return {{"precond", precond.name},
          {"format", system->info().matrix.name},
          {"setup_milliseconds", 1e3 * setup},
          {"setup_seconds", cli::object_of(system->info().setup_seconds)},
          {"solve", milliseconds(seconds)},
          {"iterations", report.iterations},
          {"status", std::string(name_of(report.status))},
          {"true_residual", residual}};
}

template <Space S>
Json run_system(const Context<S>& ctx, const std::string& spec, const Options& options) {
  Problem<S> problem(ctx, spec, options.threads);
  std::printf("%s: %d rows, %lld entries\n", spec.c_str(), problem.a.rows,
              static_cast<long long>(problem.on_host.nnz()));
  Json result{{"system", spec}, {"rows", problem.a.rows}, {"nonzeros", problem.on_host.nnz()}};
  result["amg"] = measure_hierarchy(ctx, problem, options);
  result["solves"] = Json::array();
  for (const std::string& format : options.formats) {
    result["solves"].push_back(measure_solve(ctx, problem, amg_options(options), format, options));
    PrecondOptions jacobi;
    jacobi.name = "jacobi";
    if (options.jacobi) result["solves"].push_back(measure_solve(ctx, problem, jacobi, format, options));
  }
  return result;
}

template <Space S>
void run_at(const Context<S>& ctx, Json report, const Options& options) {
  report.update(machine_facts(ctx));
  const CopyBandwidth copied = measure_copy(ctx, options.repeats);
  report["copy"] = {{"bytes", copied.bytes}, {"gigabytes_per_second", summary(copied.gigabytes_per_second)}};
  report["tolerance"] = options.tolerance;
  report["rhs"] = "ones";
  report["systems"] = Json::array();
  for (const std::string& spec : options.systems) {
    report["systems"].push_back(run_system(ctx, spec, options));
    if (!options.report.empty()) write_report(options.report, report);
  }
}

int run(int argc, char* argv[]) {
  Options options;
  CLI::App app(
      "AMG from the matrix in the memory of its space: setup, refresh, cycle, and whole solves with CG from 0 for b "
      "= "
      "ones in double; medians (min .. max)");
  app.add_option("systems", options.systems, "Systems, as newel generates them")->capture_default_str();
  app.add_option("--format", options.formats, "Formats of the solves")->delimiter(',')->capture_default_str();
  app.add_option("--place", options.place, "host or cuda")->check(CLI::IsMember({"host", "cuda"}));
  app.add_option("--precision", options.precision, "Precision of the cycle")
      ->check(CLI::IsMember({"auto", "double", "single"}));
  app.add_option("--smoother", options.smoother, "Smoother of the levels")
      ->check(CLI::IsMember({"auto", "chebyshev", "fsai", "jacobi", "spai"}));
  app.add_option("--threads", options.threads, "Host threads, default all");
  app.add_option("--repeats", options.repeats, "Repeats of each measurement")->check(CLI::PositiveNumber);
  app.add_option("--tolerance", options.tolerance, "Tolerance of the solves")->capture_default_str();
  app.add_flag("!--no-jacobi", options.jacobi, "Skip the solves with Jacobi");
  app.add_option("--report", options.report, "Write the figures as JSON");
  CLI11_PARSE(app, argc, argv);
  const Json report = report_head("newel_bench_multigrid", typed_command(argc, argv));
  measure_at(options.place, options.threads, [&](const auto& ctx) { run_at(ctx, report, options); });
  return 0;
}

}  // namespace

int main(int argc, char* argv[]) { return newel::bench::run_program(argc, argv, &run); }

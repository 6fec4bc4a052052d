// SPDX-License-Identifier: Apache-2.0
// newel_bench_host: our product and our CG iteration against Eigen's, in one process, alternating, same threads.
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/solver/linear_system.hpp>

#include "apps/fem/problem.hpp"
#include "eigen_side.hpp"
#include "measure.hpp"
#include "program.hpp"
#include "residual_oracle.hpp"

namespace {

using namespace newel;
using namespace newel::bench;
constexpr Space host = Space::host;

struct Options {
  std::vector<std::string> systems = {"generate:diffusion:80", "generate:elasticity:40"};
  int threads = 0;
  int repeats = 15;
  int products = 10;
  int iterations = 60;
  std::string format = "csr";
  std::string report;
};

// Our side of one system.
struct OwnSide {
  OwnSide(const Context<host>& ctx_, const CsrView<double, host>& a, const std::string& format)
      : ctx(ctx_),
        system(ctx, a, options(format)),
        x(static_cast<std::size_t>(a.rows)),
        y(x.size()),
        ordered_x(ctx, a.rows),
        ordered_y(ctx, a.rows) {}

  static SystemOptions options(const std::string& format) {
    SystemOptions options;
    options.spmv.format = format;
    options.solver.name = "cg";
    options.precond.name = "jacobi";
    return options;
  }

  SolveReport solve(const std::vector<double>& b, int iterations) {
    StopCriterion stop;
    stop.max_iterations = iterations;
    stop.rel_tol = 0;
    system.set_stop_criterion(stop);
    std::fill(x.begin(), x.end(), 0.0);
    return system.solve(view(b), {x.data(), size()});
  }

  // In the format's own order of rows, as a solve multiplies.
  void take_x(const std::vector<double>& from) { system.to_solver_order(view(from), ordered_x.span()); }
  void multiply() { system.ordered_matrix().apply(ctx, 1.0, ordered_x.cspan(), 0.0, ordered_y.span()); }
  const std::vector<double>& product() {
    system.to_user_order(ordered_y.cspan(), {y.data(), size()});
    return y;
  }

  std::int64_t size() const { return static_cast<std::int64_t>(x.size()); }
  Span<const double, host> view(const std::vector<double>& v) const { return {v.data(), size()}; }

  const Context<host>& ctx;
  LinearSystem<double, host> system;
  std::vector<double> x, y;
  Array<double, host> ordered_x, ordered_y;
};

double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(difference / size);
}

void print_row(const char* what, const Samples& own, const Samples& eigen) {
  std::printf("  %-12s %-26s %-26s %s\n", what, spread(own, 1e3).c_str(), spread(eigen, 1e3).c_str(),
              spread(ratios(eigen, own)).c_str());
}

Json compare_products(const fem::HostCsr& a, OwnSide& own, EigenSide& eigen, const Options& options) {
  const std::vector<double> x = random_vector(a.rows);
  eigen.set_x(x);
  own.take_x(x);
  const auto repeat = [&](const std::function<void()>& work) {
    return [&options, work] {
      return seconds_of([&] {
               for (int k = 0; k < options.products; ++k) work();
             }) /
             options.products;
    };
  };
  const auto seconds =
      alternate({repeat([&] { own.multiply(); }), repeat([&] { eigen.multiply(); })}, options.repeats);
  print_row("product", seconds[0], seconds[1]);
  const double bytes = 12.0 * static_cast<double>(a.nnz()) + 20.0 * a.rows;  // values, columns; row pointers, x, y
  return {{"milliseconds", {{"newel", summary(seconds[0], 1e3)}, {"eigen", summary(seconds[1], 1e3)}}},
          {"eigen_over_newel", summary(ratios(seconds[1], seconds[0]))},
          {"least_bytes", bytes},
          {"newel_gigabytes_per_second", bytes / median(seconds[0]) * 1e-9},
          {"relative_difference", relative_difference(own.product(), eigen.y())}};
}

// Seconds of one iteration: what 2n iterations take longer than n, over n. So the start, the closing true residual
// that only we form, and allocations drop out. Both run the same recurrence from x = 0: after equally many iterations
// they hold the same x up to rounding.
Json compare_cg(const fem::HostCsr& a, OwnSide& own, EigenSide& eigen, const Options& options) {
  const std::vector<double> b = product(a, random_vector(a.rows));
  const int n = options.iterations;
  int own_iterations = 0, eigen_iterations = 0;
  const auto difference = [&](const std::function<void(int)>& iterate) {
    const double once = seconds_of([&] { iterate(n); });
    const double twice = seconds_of([&] { iterate(2 * n); });
    return (twice - once) / n;
  };
  const auto seconds =
      alternate({[&] { return difference([&](int count) { own_iterations = own.solve(b, count).iterations; }); },
                 [&] { return difference([&](int count) { eigen_iterations = eigen.solve(b, count); }); }},
                options.repeats);
  print_row("cg iteration", seconds[0], seconds[1]);
  if (own_iterations != 2 * n || eigen_iterations != 2 * n) {
    throw InputError("of " + std::to_string(2 * n) + " iterations Newel did " + std::to_string(own_iterations) +
                     " and Eigen " + std::to_string(eigen_iterations) + ": take fewer");
  }
  return {{"iterations", 2 * n},
          {"milliseconds", {{"newel", summary(seconds[0], 1e3)}, {"eigen", summary(seconds[1], 1e3)}}},
          {"eigen_over_newel", summary(ratios(seconds[1], seconds[0]))},
          {"true_residual",
           {{"newel", true_residual<double>(own.ctx, a, b, own.x).relative},
            {"eigen", true_residual<double>(own.ctx, a, b, eigen.x()).relative}}},
          {"relative_difference", relative_difference(own.x, eigen.x())}};
}

Json run_system(const std::string& spec, const Context<host>& ctx, const Options& options) {
  const fem::HostCsr a = fem::generate_matrix(ctx, spec);
  const double megabytes = (12.0 * static_cast<double>(a.nnz()) + 4.0 * a.rows) * 1e-6;
  std::printf("%s: %d rows, %lld entries, %.0f MB\n", spec.c_str(), a.rows, static_cast<long long>(a.nnz()),
              megabytes);
  std::printf("  %-12s %-26s %-26s %s\n", "ms", "newel", "Eigen", "Eigen / newel");
  OwnSide own(ctx, a, options.format);
  EigenSide eigen(a, ctx.threads());
  Json result{{"system", spec}, {"format", own.system.info().matrix.name}, {"rows", a.rows}, {"nonzeros", a.nnz()}};
  result["product"] = compare_products(a, own, eigen, options);
  result["cg_jacobi"] = compare_cg(a, own, eigen, options);
  return result;
}

int run(int argc, char* argv[]) {
  Options options;
  CLI::App app("Our product and CG + Jacobi iteration against Eigen's: medians (min .. max) of alternating runs");
  app.add_option("systems", options.systems, "Generated systems, larger than the caches")->capture_default_str();
  app.add_option("--threads", options.threads, "Threads of both sides, default all");
  app.add_option("--repeats", options.repeats, "Rounds")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--products", options.products, "Products per round")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--iterations", options.iterations, "CG iterations: the difference of N and 2 N is timed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--format", options.format, "Format of our matrix, as in `newel solve`")->capture_default_str();
  app.add_option("--report", options.report, "Write the figures as JSON");
  CLI11_PARSE(app, argc, argv);

  const Context<host> ctx(options.threads);
  Json report = report_head("newel_bench_host", typed_command(argc, argv));
  report["threads"] = ctx.threads();
  report["eigen"] = EigenSide::version() + ", compiled for " + EigenSide::instructions();
  std::printf("%s, %d threads; Eigen %s\n", report["processor"].get<std::string>().c_str(), ctx.threads(),
              report["eigen"].get<std::string>().c_str());
  report["systems"] = Json::array();
  for (const std::string& spec : options.systems) {
    report["systems"].push_back(run_system(spec, ctx, options));
  }
  if (!options.report.empty()) write_report(options.report, report);
  return 0;
}

}  // namespace

int main(int argc, char* argv[]) { return newel::bench::run_program(argc, argv, run); }

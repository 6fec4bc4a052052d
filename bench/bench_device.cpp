// SPDX-License-Identifier: Apache-2.0
// newel_bench_device: our product and our iterations on the device against cuSPARSE's call and the usual cuBLAS
// loop.
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/precond/registry.hpp>
#include <newel/solver/gmres.hpp>
#include <newel/solver/registry.hpp>
#include <newel/spmv/registry.hpp>

#include "apps/fem/problem.hpp"
#include "cg_loops_device.hpp"
#include "cusparse_product_device.hpp"
#include "machine_facts.hpp"
#include "measure.hpp"
#include "memory_traffic.hpp"
#include "program.hpp"
#include "residual_oracle.hpp"
#include "timer.hpp"
#include "usual_solve_device.hpp"

namespace {

using namespace newel;
using namespace newel::bench;
constexpr Space host = Space::host;
constexpr Space device = Space::device;

struct Options {
  std::vector<std::string> systems = {"generate:elasticity:68", "generate:diffusion:68"};
  int device = 0;
  int threads = 0;
  int repeats = 11;
  int products = 20;
  int iterations = 200;
  int restart = 30;
  double tolerance = 1e-8;
  std::string report;
};

// One system, our side and cuSPARSE's.
struct Sides {
  Sides(const Context<device>& ctx_, const fem::HostCsr& a)
      : ctx(ctx_),
        uploaded(make_csr(ctx, CsrView<double, host>(a))),
        alg1(make_spmv(ctx, view(), RowOrder<device>{}, {"csr:alg1"})),
        alg2(make_spmv(ctx, view(), RowOrder<device>{}, {"csr:alg2"})),
        cusparse_alg1(make_cusparse_product(ctx, view(), CusparseFormat::csr_alg1)),
        cusparse_alg2(make_cusparse_product(ctx, view(), CusparseFormat::csr_alg2)),
        precond(make_precond(ctx, view(), RowOrder<device>{}, PrecondOptions{}, SpmvOptions{})),
        usual(make_usual_solve(ctx, view(), "cg", "jacobi", UsualScalars::on_host)),
        b(ctx, a.rows),
        x(ctx, a.rows),
        y(ctx, a.rows) {}

  CsrView<double, device> view() const { return CsrView<double, device>(uploaded); }
  std::unique_ptr<KrylovSolver<double, device>> solver(const std::string& name, int restart) const {
    SolverOptions options;
    options.name = name;
    options.of<GmresOptions>().restart = restart;
    return make_solver<double>(ctx, uploaded.rows, options);
  }
  SolveReport solve(KrylovSolver<double, device>& method, int max_iterations, double tolerance) {
    StopCriterion stop;
    stop.max_iterations = max_iterations;
    stop.rel_tol = tolerance;
    fill(ctx, 0.0, x.span());
    return method.solve(ctx, *alg1, precond.get(), b.cspan(), x.span(), stop);
  }
  SolveEnd solve_usual(int max_iterations, double tolerance) {
    return usual->solve(b.cspan(), x.span(), {tolerance, max_iterations});
  }

  const Context<device>& ctx;
  Csr<double, device> uploaded;
  OperatorPtr<double, device> alg1, alg2, cusparse_alg1, cusparse_alg2, precond;
  std::unique_ptr<BuiltSolve<double, device>> usual;
  Array<double, device> b, x, y;
};

Json compare_products(const fem::HostCsr& a, Sides& sides, const Options& options) {
  const Timer<device> timer(sides.ctx);
  const auto run = [&](const LinearOperator<double, device>& matrix) {
    return [&] {
      return timer.back_to_back(options.products,
                                [&] { matrix.apply(sides.ctx, 1.0, sides.b.cspan(), 0.0, sides.y.span()); });
    };
  };
  const auto seconds = alternate(
      {run(*sides.alg1), run(*sides.cusparse_alg1), run(*sides.alg2), run(*sides.cusparse_alg2)}, options.repeats);
  const double bytes = 12.0 * static_cast<double>(a.nnz()) + 20.0 * a.rows;  // values, columns; row pointers, x, y
  Json result{{"least_bytes", bytes}};
  const char* const names[] = {"newel_alg1", "cusparse_alg1", "newel_alg2", "cusparse_alg2"};
  for (int k = 0; k < 4; ++k) {
    const double rate = 1e-9 * bytes / median(seconds[k]);
    std::printf("  product, %-16s %-30s us  %.0f GB/s\n", names[k], spread(seconds[k], 1e6).c_str(), rate);
    result[names[k]] = {{"microseconds", summary(seconds[k], 1e6)}, {"gigabytes_per_second", rate}};
  }
  return result;
}

// A fixed number of iterations by the host's clock, the start and, on our side, the closing true residual included.
Json compare_cg(Sides& own, const Options& options) {
  const int n = options.iterations;
  const auto cg = own.solver("cg", options.restart);
  int own_iterations = 0, usual_iterations = 0;
  const auto seconds =
      alternate({[&] { return seconds_of([&] { own_iterations = own.solve(*cg, n, 0).iterations; }) / n; },
                 [&] { return seconds_of([&] { usual_iterations = own.solve_usual(n, 0).iterations; }) / n; }},
                options.repeats);
  if (own_iterations != n || usual_iterations != n) {
    throw InputError("of " + std::to_string(n) + " iterations Newel did " + std::to_string(own_iterations) +
                     " and the usual loop " + std::to_string(usual_iterations) + ": take fewer");
  }
  const Samples ratio = ratios(seconds[1], seconds[0]);
  std::printf("  cg iteration: newel %s us, usual %s us, usual / newel %s\n", spread(seconds[0], 1e6).c_str(),
              spread(seconds[1], 1e6).c_str(), spread(ratio).c_str());
  return {{"iterations", n},
          {"microseconds", {{"newel", summary(seconds[0], 1e6)}, {"usual", summary(seconds[1], 1e6)}}},
          {"usual_over_newel", summary(ratio)}};
}

// Both to the tolerance, once: as many iterations, and solutions that are solutions.
Json solve_to_tolerance(const fem::HostCsr& a, const std::vector<double>& b, Sides& own, const Options& options) {
  constexpr int most = 100000;
  const auto cg = own.solver("cg", options.restart);
  SolveReport report;
  SolveEnd outcome;
  const auto residual = [&] {
    return true_residual<double>(Context<host>(options.threads), a, b, to_vector(own.ctx, own.x.cspan())).relative;
  };
  const double own_seconds = seconds_of([&] { report = own.solve(*cg, most, options.tolerance); });
  const double own_residual = residual();
  const double usual_seconds = seconds_of([&] { outcome = own.solve_usual(most, options.tolerance); });
  const double usual_residual = residual();
  std::printf("  cg to %.0e: newel %d iterations, %.3f s, %.2e; usual %d iterations, %.3f s, %.2e\n",
              options.tolerance, report.iterations, own_seconds, own_residual, outcome.iterations, usual_seconds,
              usual_residual);
  if (std::abs(report.iterations - outcome.iterations) > 2 + outcome.iterations / 50) {
    throw InputError("the two loops need different numbers of iterations: they do not do the same work");
  }
  return {
      {"tolerance", options.tolerance},
      {"newel",
       {{"status", std::string(name_of(report.status))},
        {"iterations", report.iterations},
        {"seconds", own_seconds},
        {"true_residual", own_residual}}},
      {"usual", {{"iterations", outcome.iterations}, {"seconds", usual_seconds}, {"true_residual", usual_residual}}}};
}

Json measure_others(Sides& own, const Options& options) {
  Json result;
  for (const char* name : {"bicgstab", "gmres"}) {
    const auto method = own.solver(name, options.restart);
    int iterations = 0;
    const auto run = [&] {
      const double seconds = seconds_of([&] { iterations = own.solve(*method, options.iterations, 0).iterations; });
      return seconds / std::max(1, iterations);
    };
    const Samples seconds = alternate({run}, std::max(1, options.repeats / 2)).front();
    std::printf("  %s iteration: %s us (of %d)\n", name, spread(seconds, 1e6).c_str(), iterations);
    result[name] = {{"iterations", iterations}, {"microseconds", summary(seconds, 1e6)}};
  }
  result["gmres"]["restart"] = options.restart;
  return result;
}

// How the fused iteration is repeated: pieces of a graph that the host launches, or a while node. The product is
// ELL-WARP's, which is one kernel and needs no order.
Json compare_loops(Sides& own, const Options& options) {
  const OperatorPtr<double, device> matrix = make_spmv(own.ctx, own.view(), RowOrder<device>{}, {"ellwarp"});
  const int n = (options.iterations + CgLoops::piece - 1) / CgLoops::piece * CgLoops::piece;
  double by_pieces = 0, by_while = 0;
  std::unique_ptr<CgLoops> loops;
  try {
    loops = std::make_unique<CgLoops>(own.ctx, *matrix, *own.precond, own.b.cspan());
  } catch (const DeviceError& error) {
    std::printf("  cg repeated by a while node: left out, %s\n", error.what());
    return {{"left_out", error.what()}};
  }
  const auto seconds = alternate({[&] { return seconds_of([&] { by_pieces = loops->run_pieces(n); }) / n; },
                                  [&] { return seconds_of([&] { by_while = loops->run_while(n); }) / n; }},
                                 options.repeats);
  if (by_pieces != by_while) throw InputError("the two ways to repeat an iteration end with different residuals");
  const Samples ratio = ratios(seconds[1], seconds[0]);
  std::printf("  cg repeated: in pieces of %d %s us, by a while node %s us, while / pieces %s\n", CgLoops::piece,
              spread(seconds[0], 1e6).c_str(), spread(seconds[1], 1e6).c_str(), spread(ratio).c_str());
  return {{"iterations", n},
          {"piece", CgLoops::piece},
          {"microseconds", {{"pieces", summary(seconds[0], 1e6)}, {"while_node", summary(seconds[1], 1e6)}}},
          {"while_over_pieces", summary(ratio)}};
}

Json run_system(const std::string& spec, const Context<device>& ctx, const Options& options) {
  fem::HostCsr a;
  const double assembly = seconds_of([&] { a = fem::generate_matrix(Context<host>(options.threads), spec); });
  std::printf("%s: %d rows, %lld entries, assembled in %.1f s\n", spec.c_str(), a.rows,
              static_cast<long long>(a.nnz()), assembly);
  Sides sides(ctx, a);
  const std::vector<double> b = product(a, random_vector(a.rows));
  copy(ctx, Span<const double, host>(b.data(), a.rows), sides.b.span());
  Json result{{"system", spec}, {"rows", a.rows}, {"nonzeros", a.nnz()}};
  result["product"] = compare_products(a, sides, options);
  result["cg_jacobi"] = compare_cg(sides, options);
  result["cg_jacobi_to_tolerance"] = solve_to_tolerance(a, b, sides, options);
  result["cg_repeated"] = compare_loops(sides, options);
  result["other_solvers"] = measure_others(sides, options);
  return result;
}

Json report_copy(const Context<device>& ctx, int repeats) {
  const CopyBandwidth copied = measure_copy(ctx, repeats);
  std::printf("copy of %.1f GiB on the device: %s GB/s, read and written\n",
              static_cast<double>(copied.bytes) / (1 << 30), spread(copied.gigabytes_per_second).c_str());
  return {{"bytes", copied.bytes}, {"gigabytes_per_second", summary(copied.gigabytes_per_second)}};
}

int run(int argc, char* argv[]) {
  Options options;
  CLI::App app(
      "Our product and iterations on a CUDA device against cuSPARSE's call and the usual cuBLAS loop: "
      "medians (min .. max) of alternating runs");
  app.add_option("systems", options.systems, "Generated systems, larger than the caches")->capture_default_str();
  app.add_option("--device", options.device, "Number of the device")->capture_default_str();
  app.add_option("--threads", options.threads, "Host threads of the assembly, default all");
  app.add_option("--repeats", options.repeats, "Rounds")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--products", options.products, "Products per round")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--iterations", options.iterations, "Iterations per round")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--restart", options.restart, "Length of GMRES's cycles")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--tolerance", options.tolerance, "Tolerance of the complete solves")->capture_default_str();
  app.add_option("--report", options.report, "Write the figures as JSON");
  CLI11_PARSE(app, argc, argv);

  const Context<device> ctx(options.device);
  ctx.make_current();
  Json report = report_head("newel_bench_device", typed_command(argc, argv));
  report.update(machine_facts(ctx));
  std::printf("%s, CUDA %s, driver for %s\n", ctx.device_name().c_str(), NEWEL_CUDA_TOOLKIT,
              report["driver_supports_cuda"].get<std::string>().c_str());
  report["copy"] = report_copy(ctx, options.repeats);
  report["systems"] = Json::array();
  for (const std::string& spec : options.systems) report["systems"].push_back(run_system(spec, ctx, options));
  if (!options.report.empty()) write_report(options.report, report);
  return 0;
}

}  // namespace

int main(int argc, char* argv[]) { return newel::bench::run_program(argc, argv, run); }

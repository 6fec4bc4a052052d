// SPDX-License-Identifier: Apache-2.0
// newel_bench_batch: many small systems of one pattern, solved together, beside ordinary solves one after another
// and, on a device, beside what the bandwidth of shared memory allows.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <newel/config.hpp>
#include <newel/solver/batched_system.hpp>
#include <newel/solver/linear_system.hpp>

#include "comparison.hpp"
#include "machine_facts.hpp"
#include "memory_traffic.hpp"

#if NEWEL_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace {

using namespace newel;
using namespace newel::bench;
constexpr Space host = Space::host;

struct Options {
  std::string place = NEWEL_HAS_CUDA == 1 ? "cuda" : "host";
  Index systems = 10000, width = 25, height = 20;
  int iterations = 30, threads = 0, repeats = 7;
  Index one_by_one = 200;  ///< systems of the ordinary solves
  std::vector<std::string> solvers = {"cg", "bicgstab", "gmres"};
  std::string precond = "jacobi", precision = "double", report;
};

/// Five entries in every row: the neighbours on a torus. Values of system s: symmetric positive definite, and other
/// ones in every system.
template <class T>
struct Batch {
  Index rows;
  std::vector<Offset> row_ptr = {0};
  std::vector<Index> col;
  std::vector<T> values, b;

  explicit Batch(const Options& options) : rows(options.width * options.height) {
    const Index w = options.width, h = options.height;
    for (Index y = 0; y < h; ++y) {
      for (Index x = 0; x < w; ++x) {
        std::vector<Index> of_row = {y * w + x, y * w + (x + 1) % w, y * w + (x + w - 1) % w, (y + 1) % h * w + x,
                                     (y + h - 1) % h * w + x};
        std::sort(of_row.begin(), of_row.end());
        col.insert(col.end(), of_row.begin(), of_row.end());
        row_ptr.push_back(static_cast<Offset>(col.size()));
      }
    }
    values.resize(static_cast<std::size_t>(options.systems) * col.size());
    b.resize(static_cast<std::size_t>(options.systems) * static_cast<std::size_t>(rows));
    const std::vector<double> random = random_vector(static_cast<std::int64_t>(b.size()));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(random[i]);
    for (Index s = 0; s < options.systems; ++s) fill_system(s, w);
  }

 private:
  void fill_system(Index s, Index w) {
    const double across = 1 + 0.5 * std::sin(s), surplus = 0.01 + 0.1 * std::fabs(std::cos(3.0 * s));
    std::size_t at = static_cast<std::size_t>(s) * col.size();
    for (Index i = 0; i < rows; ++i) {
      for (Offset e = row_ptr[i]; e < row_ptr[i + 1]; ++e) {
        const bool same_line = col[e] / w == i / w;
        values[at++] = static_cast<T>(col[e] == i ? 2 * across + 2 + surplus : same_line ? -across : -1.0);
      }
    }
  }
};

/// A model of what an iteration of CG with Jacobi moves through the shared memory and first-level cache of a
/// multiprocessor, in bytes for each system: values, columns of two bytes and the gathered p, and four passes over p
/// and one over the diagonal. Entries that are in registers are not moved, so a solve may be faster.
template <class T>
double on_chip_bytes(const Batch<T>& batch) {
  const auto entries = static_cast<double>(batch.col.size());
  return entries * (2 * sizeof(T) + 2) + 5.0 * batch.rows * sizeof(T);
}

/// Bytes per second of the shared memory of all multiprocessors: 128 a cycle each.
double on_chip_bandwidth([[maybe_unused]] Space space) {
#if NEWEL_HAS_CUDA
  int kilohertz = 0, multiprocessors = 0;
  if (space == Space::device && cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0) == cudaSuccess &&
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess)
    return 128.0 * multiprocessors * kilohertz * 1e3;
#endif
  return 0;
}

template <class T, Space S>
class Bench {
 public:
  Bench(const Context<S>& ctx, const Options& options)
      : ctx_(ctx),
        options_(options),
        batch_(options),
        row_ptr_(make_array(ctx, batch_.row_ptr)),
        col_(make_array(ctx, batch_.col)),
        values_(make_array(ctx, batch_.values)),
        b_(make_array(ctx, batch_.b)),
        x_(ctx, b_.size()) {}

  Json measure() {
    Json result{{"systems", options_.systems},        {"rows", batch_.rows},
                {"nonzeros", batch_.col.size()},      {"iterations", options_.iterations},
                {"preconditioner", options_.precond}, {"precision", options_.precision}};
    const double model = modelled(result);
    for (const std::string& solver : options_.solvers) result[solver] = of_solver(solver, solver == "cg" ? model : 0);
    return result;
  }

 private:
  /// Seconds of CG by bandwidth alone; 0 on the host.
  double modelled(Json& result) const {
    const double bandwidth = on_chip_bandwidth(S);
    if (bandwidth == 0) return 0;
    const double chip = on_chip_bytes(batch_) * options_.iterations * options_.systems / bandwidth;
    result["on_chip_bytes_per_second"] = bandwidth;
    result["cg_model_milliseconds"] = 1e3 * chip;
    std::printf("CG by the bandwidth on the chip, %.3g TB/s: %.3f ms\n", bandwidth / 1e12, 1e3 * chip);
    return chip;
  }

  CsrView<T, S> view(Index s) const {
    const auto nonzeros = static_cast<std::int64_t>(batch_.col.size());
    return {batch_.rows, batch_.rows, row_ptr_.cspan(), col_.cspan(),
            values_.cspan().subspan(s * nonzeros, nonzeros)};
  }

  Json of_solver(const std::string& solver, double model) {
    BatchedOptions fixed;
    fixed.solver = solver;
    fixed.precond = options_.precond;
    fixed.rel_tol = 0;
    fixed.max_iterations = options_.iterations;
    BatchedSystem<T, S> together(ctx_, Pattern<S>(view(0)), fixed);
    const Index few = std::min(options_.one_by_one, options_.systems);
    SystemOptions plain;
    plain.spmv.format = "csr";
    plain.solver.name = solver;
    plain.precond.name = options_.precond;
    plain.stop.rel_tol = 0;
    plain.stop.max_iterations = options_.iterations;
    LinearSystem<T, S> ordinary(ctx_, view(0), plain);
    const std::vector<Samples> seconds = alternate(
        {[&] { return together.solve(options_.systems, values_, b_, x_).seconds; },
         [&] {
           return seconds_of([&] {
             for (Index s = 0; s < few; ++s) {
               const std::int64_t at = std::int64_t{s} * batch_.rows;
               ordinary.refresh(view(s).val);
               static_cast<void>(ordinary.solve(b_.cspan().subspan(at, batch_.rows),
                                                x_.span().subspan(at, batch_.rows), {}, InitialGuess::zero));
             }
           });
         }},
        options_.repeats);
    const double one = median(seconds[1]) / few * options_.systems;
    std::printf("%-9s together %s ms, one after another %.1f ms (%d measured)", solver.c_str(),
                spread(seconds[0], 1e3).c_str(), 1e3 * one, few);
    if (model > 0) std::printf(", %.2f of the model", median(seconds[0]) / model);
    std::printf("\n");
    std::fflush(stdout);
    Json result{{"together_milliseconds", summary(seconds[0], 1e3)},
                {"ordinary_milliseconds_per_system", summary(seconds[1], 1e3 / few)},
                {"ordinary_over_together", one / median(seconds[0])}};
    if (model > 0) result["over_model"] = median(seconds[0]) / model;
    return result;
  }

  Context<S> ctx_;
  const Options& options_;
  Batch<T> batch_;
  Array<Offset, S> row_ptr_;
  Array<Index, S> col_;
  Array<T, S> values_, b_, x_;
};

template <Space S>
Json measured(const Context<S>& ctx, const Options& options) {
  Json report = machine_facts(ctx);
  if (options.precision == "single") {
    report["batch"] = Bench<float, S>(ctx, options).measure();
  } else {
    report["batch"] = Bench<double, S>(ctx, options).measure();
  }
  return report;
}

int run(int argc, char* argv[]) {
  Options options;
  CLI::App app(
      "Systems of one pattern, five entries a row, solved together with a fixed number of iterations, beside "
      "ordinary "
      "solves one after another: milliseconds of all systems, median (min .. max)");
  app.add_option("--device", options.place, "host or cuda")->capture_default_str();
  app.add_option("--systems", options.systems, "Number of systems")->capture_default_str();
  app.add_option("--width", options.width, "Rows of a system: width times height")->capture_default_str();
  app.add_option("--height", options.height, "Rows of a system: width times height")->capture_default_str();
  app.add_option("--iterations", options.iterations, "Iterations of each system")->capture_default_str();
  app.add_option("--solvers", options.solvers, "cg, bicgstab, gmres")->delimiter(',')->capture_default_str();
  app.add_option("--precond", options.precond, "none, jacobi, block-jacobi, fsai or ilu")->capture_default_str();
  app.add_option("--precision", options.precision, "double or single")->capture_default_str();
  app.add_option("--threads", options.threads, "Threads of the host; 0: all")->capture_default_str();
  app.add_option("--repeats", options.repeats, "Repeats of each measurement")->check(CLI::PositiveNumber);
  app.add_option("--report", options.report, "Write the figures as JSON");
  CLI11_PARSE(app, argc, argv);
  Json report = report_head("newel_bench_batch", typed_command(argc, argv));
  measure_at(options.place, options.threads, [&](const auto& ctx) { report.update(measured(ctx, options)); });
  if (!options.report.empty()) write_report(options.report, report);
  return 0;
}

}  // namespace

int main(int argc, char* argv[]) { return newel::bench::run_program(argc, argv, &run); }

// SPDX-License-Identifier: Apache-2.0
// What the table of solvers says of GMRES, and how long its cycles are.
#include <algorithm>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/solver/gmres.hpp>
#include <newel/solver/recycle.hpp>
#include <newel/spmv/registry.hpp>
#include "solver/krylov/gmres_cycles.hpp"
#include "solver/krylov/mixed/mixed_solvers.hpp"

namespace newel {

int gmres_cycle_length(const SolverOptions& options, Index n, std::size_t value_bytes) {
  constexpr std::int64_t usual = 50, basis_bytes = std::int64_t{16} << 20;
  const int restart = options.of<GmresOptions>().restart;
  if (restart < 0) throw InputError("the restart of GMRES must be 0 (automatic) or more");
  const std::int64_t most = std::max<Index>(n, 1);
  std::int64_t length = restart > 0 ? restart : usual;
  if (restart == 0 && canonical_name(options.name) == "auto") {
    length = std::max(usual, basis_bytes / (most * static_cast<std::int64_t>(value_bytes)));
  }
  return static_cast<int>(std::min(length, most));
}

std::size_t basis_value_bytes(const SolverOptions& options, std::size_t value_bytes) {
  return options.of<GmresOptions>().single_basis ? sizeof(float) : value_bytes;
}

MethodOption detail::restart_option() {
  MethodOption restart = value_option(
      "--restart", "M", "Length of a GMRES cycle, default 50; with --solver auto longer for small systems", "restart",
      &GmresOptions::restart);
  restart.most = std::numeric_limits<int>::max();
  return restart;
}

namespace {

template <class T, Space S>
std::unique_ptr<KrylovSolver<T, S>> with_cycles(const Context<S>& ctx, Index n, int length,
                                                const GmresOptions& options, int recycled) {
  if (options.single_basis) return std::make_unique<Gmres<T, S, float>>(ctx, n, length, options.left, recycled);
  return std::make_unique<Gmres<T, S>>(ctx, n, length, options.left, recycled);
}

int recycled_vectors(const SolverOptions& options) {
  return recycle_rule(options.of<RecycleOptions>().recycle).vectors;
}

struct MakeGmres {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<T, S>> make(const Context<S>& ctx, Index n, const SolverOptions& options) {
    const int length = detail::gmres_cycle_length_on(ctx, options, n, basis_value_bytes(options, sizeof(T)));
    return with_cycles<T, S>(ctx, n, length, options.of<GmresOptions>(), recycled_vectors(options));
  }
};

// With cycles as long as in double.
struct MakeMixedGmres {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<double, S>> make(const Context<S>& ctx, const LowSystem<S>& low,
                                                       const SolverOptions& options) {
    const Index n = low.A.rows();
    const int length = detail::gmres_cycle_length_on(ctx, options, n, basis_value_bytes(options, sizeof(double)));
    return std::make_unique<detail::MixedRefinement<S>>(
        ctx, low, with_cycles<float, S>(ctx, n, length, options.of<GmresOptions>(), 0), length);
  }
};

std::vector<MethodOption> gmres_options() {
  MethodOption left = value_option("--left", "", "Precondition GMRES from the left", "left", &GmresOptions::left);
  left.needs = OptionNeeds::preconditioner;
  MethodOption basis =
      choice_option("--basis",
                    "Precision of GMRES's basis, default full: that of the vectors. single needs half the\n"
                    "memory, and usually a second Gram-Schmidt pass; the true residual decides in either case",
                    "basis", {"full", "single"}, &GmresOptions::single_basis);
  basis.needs = OptionNeeds::double_precision;
  return {detail::restart_option(), left, basis, recycle_option()};
}

double gmres_bytes_per_unknown(const SolverOptions& options, Index n, std::size_t value_bytes) {
  const std::size_t kept = basis_value_bytes(options, value_bytes);
  const int cycle = gmres_cycle_length(options, n, kept);
  const double own = (cycle + 1.0) * static_cast<double>(kept) + (kept == value_bytes ? 4.0 : 5.0) * value_bytes;
  // Columns of the basis for recycled vectors, as many vectors to replace these, and a work vector.
  const int vectors = recycled_vectors(options);
  if (vectors == 0) return own;
  return own + std::min(vectors, (cycle + 1) / 2) * static_cast<double>(kept) + vectors * sizeof(float) + value_bytes;
}

double gmres_vector_passes(const SolverOptions& options, Index n, std::size_t value_bytes) {
  return gmres_cycle_length(options, n, value_bytes) + 5;
}

}  // namespace

SolverMethod gmres_method() {
  SolverMethod gmres;
  gmres.name = "gmres";
  gmres.title = "GMRES";
  gmres.summary = "restarted generalised minimal residuals, for any matrix";
  gmres.options = gmres_options();
  gmres.minimises = true;
  gmres.restarts = true;
  gmres.vector_kernels = 5;
  gmres.rank = {3, 2, 2};
  gmres.bytes_per_unknown = &gmres_bytes_per_unknown;
  gmres.vector_passes = &gmres_vector_passes;
  gmres.floor = {7, 9, 7, 1};
  fill_columns<MakeGmres>(gmres.make);
  fill_columns<MakeMixedGmres>(gmres.make_mixed);
  gmres.mixed_iterations = 1.1;  // docs/results/solve_h200.json
  return gmres;
}

}  // namespace newel

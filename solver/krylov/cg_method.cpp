// SPDX-License-Identifier: Apache-2.0
// What the table of solvers says of CG.
#include <newel/solver/cg.hpp>
#include <newel/solver/recycle.hpp>
#include "solver/krylov/batch/batch_cg.hpp"
#include "solver/krylov/mixed/mixed_solvers.hpp"
#include "solver/krylov/resident/resident_option.hpp"
#include "solver/krylov/steps/cg_spectrum.hpp"
#include "solver/recycle/lanczos_window.hpp"

namespace newel {
namespace {

struct MakeCg {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<T, S>> make(const Context<S>& ctx, Index n, const SolverOptions& options) {
    return std::make_unique<Cg<T, S>>(ctx, n, options.of<CgOptions>().resident);
  }
};

struct MakeMixedCg {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<double, S>> make(const Context<S>& ctx, const LowSystem<S>& low,
                                                       const SolverOptions&) {
    return std::make_unique<detail::MixedCg<S>>(ctx, low);
  }
};

struct MakeBatchCg {
  template <class T, Space S>
  static std::unique_ptr<BatchSolver<T, S>> make(const Context<S>& ctx, Index n) {
    return std::make_unique<detail::BatchCg<T, S>>(ctx, n);
  }
};

// To recycle vectors: the window that they come from, twice, and three work vectors.
double harvest_bytes(const SolverOptions& options, std::size_t value_bytes) {
  if (!recycle_rule(options.of<RecycleOptions>().recycle).keeps()) return 0;
  constexpr int window = detail::LanczosWindow<double, Space::host>::columns;
  return 2.0 * window * sizeof(float) + 3.0 * value_bytes;
}

}  // namespace

SolverMethod cg_method() {
  SolverMethod cg;
  cg.name = "cg";
  cg.title = "CG";
  cg.summary = "conjugate gradients, for symmetric positive definite matrices";
  cg.options = {detail::resident_option(&CgOptions::resident), recycle_option()};
  cg.demands = Demand::definite;
  cg.short_recurrence = true;
  cg.resident = true;
  cg.resident_shape = {4, 1, 2, 1, 2};
  cg.rank.definite = 1;
  cg.bytes_per_unknown = [](const SolverOptions& options, Index, std::size_t value_bytes) {
    return 5.0 * value_bytes + harvest_bytes(options, value_bytes);
  };
  cg.fixed_bytes = detail::most_coefficients * sizeof(detail::CgCoefficients);
  cg.vector_passes = [](const SolverOptions&, Index, std::size_t) { return 12.0; };
  cg.floor = {8, 10, 8};
  cg.batch_vectors = 5;
  cg.batch_vectors_once = 2;
  fill_columns<MakeCg>(cg.make);
  fill_columns<MakeMixedCg>(cg.make_mixed);
  cg.mixed_iterations = 1.3;  // of 35 real matrices and meshes; 1.2 in docs/results/solve_h200.json
  fill_columns<MakeBatchCg>(cg.make_batch);
  return cg;
}

}  // namespace newel

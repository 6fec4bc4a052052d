// SPDX-License-Identifier: Apache-2.0
// What the table of solvers says of BiCGStab.
#include <newel/solver/bicgstab.hpp>
#include "solver/krylov/mixed/mixed_solvers.hpp"
#include "solver/krylov/resident/resident_option.hpp"

namespace newel {
namespace {

struct MakeBicgstab {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<T, S>> make(const Context<S>& ctx, Index n, const SolverOptions& options) {
    return std::make_unique<Bicgstab<T, S>>(ctx, n, options.of<BicgstabOptions>().resident);
  }
};

struct MakeMixedBicgstab {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<double, S>> make(const Context<S>& ctx, const LowSystem<S>& low,
                                                       const SolverOptions& options) {
    return std::make_unique<detail::MixedRefinement<S>>(ctx, low,
                                                        MakeBicgstab::make<float, S>(ctx, low.A.rows(), options), 0);
  }
};

}  // namespace

SolverMethod bicgstab_method() {
  SolverMethod bicgstab;
  bicgstab.name = "bicgstab";
  bicgstab.title = "BiCGStab";
  bicgstab.summary = "stabilised biconjugate gradients, for any matrix";
  bicgstab.options = {detail::resident_option(&BicgstabOptions::resident)};
  bicgstab.products = bicgstab.precond_products = 2;
  bicgstab.short_recurrence = true;
  bicgstab.resident = bicgstab.resident_in_mixed = true;
  bicgstab.resident_shape = {4, 2, 2, 2, 1};
  bicgstab.vector_kernels = 4;
  bicgstab.rank = {4, 3, 1};
  bicgstab.bytes_per_unknown = [](const SolverOptions&, Index, std::size_t value_bytes) { return 8.0 * value_bytes; };
  bicgstab.vector_passes = [](const SolverOptions&, Index, std::size_t) { return 20.0; };
  bicgstab.floor = {15, 21, 17};
  fill_columns<MakeBicgstab>(bicgstab.make);
  fill_columns<MakeMixedBicgstab>(bicgstab.make_mixed);
  bicgstab.mixed_iterations = 1.7;  // docs/results/solve_h200.json: it begins anew after each correction
  return bicgstab;
}

}  // namespace newel

// SPDX-License-Identifier: Apache-2.0
// What the table of solvers says of flexible GMRES.
#include <newel/solver/fgmres.hpp>
#include "solver/krylov/gmres_cycles.hpp"
#include "solver/krylov/mixed/mixed_solvers.hpp"

namespace newel {
namespace {

struct MakeFgmres {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<T, S>> make(const Context<S>& ctx, Index n, const SolverOptions& options) {
    return std::make_unique<Fgmres<T, S>>(ctx, n, detail::gmres_cycle_length_on(ctx, options, n, sizeof(T)));
  }
};

// With cycles as long as in double.
struct MakeMixedFgmres {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<double, S>> make(const Context<S>& ctx, const LowSystem<S>& low,
                                                       const SolverOptions& options) {
    const Index n = low.A.rows();
    const int length = detail::gmres_cycle_length_on(ctx, options, n, sizeof(double));
    return std::make_unique<detail::MixedRefinement<S>>(ctx, low, std::make_unique<Fgmres<float, S>>(ctx, n, length),
                                                        length);
  }
};

}  // namespace

SolverMethod fgmres_method() {
  SolverMethod fgmres;
  fgmres.name = "fgmres";
  fgmres.title = "flexible GMRES";
  fgmres.summary = "GMRES with a preconditioner that may change in every iteration";
  fgmres.options = {detail::restart_option()};
  fgmres.minimises = true;
  fgmres.restarts = true;
  fgmres.flexible = true;
  fgmres.vector_kernels = 5;
  fgmres.bytes_per_unknown = [](const SolverOptions& options, Index n, std::size_t value_bytes) {
    return (2.0 * gmres_cycle_length(options, n, value_bytes) + 5) * static_cast<double>(value_bytes);
  };
  fgmres.vector_passes = [](const SolverOptions& options, Index n, std::size_t value_bytes) {
    return gmres_cycle_length(options, n, value_bytes) + 6.0;
  };
  fgmres.floor = {7, 9, 7, 1};
  fill_columns<MakeFgmres>(fgmres.make);
  fill_columns<MakeMixedFgmres>(fgmres.make_mixed);
  fgmres.mixed_iterations = 1.1;  // as GMRES
  return fgmres;
}

}  // namespace newel

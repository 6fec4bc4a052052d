// SPDX-License-Identifier: Apache-2.0
// What the table of solvers says of MINRES.
#include <newel/solver/minres.hpp>
#include "solver/krylov/mixed/mixed_solvers.hpp"

namespace newel {
namespace {

struct MakeMinres {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<T, S>> make(const Context<S>& ctx, Index n, const SolverOptions&) {
    return std::make_unique<Minres<T, S>>(ctx, n);
  }
};

struct MakeMixedMinres {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<double, S>> make(const Context<S>& ctx, const LowSystem<S>& low,
                                                       const SolverOptions& options) {
    return std::make_unique<detail::MixedRefinement<S>>(ctx, low,
                                                        MakeMinres::make<float, S>(ctx, low.A.rows(), options), 0);
  }
};

}  // namespace

SolverMethod minres_method() {
  SolverMethod minres;
  minres.name = "minres";
  minres.title = "MINRES";
  minres.summary = "minimal residuals, for symmetric matrices, also indefinite or singular ones";
  minres.demands = Demand::symmetric;
  minres.short_recurrence = true;
  minres.rank = {2, 1, 0};
  minres.bytes_per_unknown = [](const SolverOptions&, Index, std::size_t value_bytes) { return 9.0 * value_bytes; };
  minres.vector_passes = [](const SolverOptions&, Index, std::size_t) { return 20.0; };
  minres.floor = {16, 18, 17};
  fill_columns<MakeMinres>(minres.make);
  fill_columns<MakeMixedMinres>(minres.make_mixed);
  minres.mixed_iterations =
      1.7;  // of nine real matrices and grids; like BiCGStab it begins anew after each correction
  return minres;
}

}  // namespace newel

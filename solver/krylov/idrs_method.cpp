// SPDX-License-Identifier: Apache-2.0
// What the table of solvers says of IDR(s).
#include <newel/solver/idrs.hpp>
#include "solver/krylov/mixed/mixed_solvers.hpp"
#include "solver/krylov/steps/idrs_steps.hpp"

namespace newel {
namespace {

struct MakeIdrs {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<T, S>> make(const Context<S>& ctx, Index n, const SolverOptions& options) {
    return std::make_unique<Idrs<T, S>>(ctx, n, options.of<IdrsOptions>().s);
  }
};

struct MakeMixedIdrs {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<double, S>> make(const Context<S>& ctx, const LowSystem<S>& low,
                                                       const SolverOptions& options) {
    return std::make_unique<detail::MixedRefinement<S>>(ctx, low,
                                                        MakeIdrs::make<float, S>(ctx, low.A.rows(), options), 0);
  }
};

// A cycle of s + 1 iterations: s times r, u, g, x and the vectors of G, U and P, then the stabilising step.
double idrs_vector_passes(const SolverOptions& options, Index, std::size_t) {
  return 3.0 * (options.of<IdrsOptions>().s + 3);
}

}  // namespace

SolverMethod idrs_method() {
  SolverMethod idrs;
  idrs.name = "idrs";
  idrs.title = "IDR(s)";
  idrs.summary = "induced dimension reduction, for any matrix";
  idrs.options = {
      in_range(value_option("--idr-s", "S", "Shadow vectors of IDR(s), default 4", "idr_s", &IdrsOptions::s), 1,
               detail::IdrsState::most)};
  idrs.short_recurrence = true;
  idrs.vector_kernels = 4;
  idrs.bytes_per_unknown = [](const SolverOptions& options, Index, std::size_t value_bytes) {
    return (3.0 * options.of<IdrsOptions>().s + 4) * static_cast<double>(value_bytes);
  };
  idrs.vector_passes = &idrs_vector_passes;
  idrs.floor = {19, 20, 21};
  fill_columns<MakeIdrs>(idrs.make);
  fill_columns<MakeMixedIdrs>(idrs.make_mixed);
  return idrs;
}

}  // namespace newel

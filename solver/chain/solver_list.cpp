// SPDX-License-Identifier: Apache-2.0
// Making solvers by their names.
#include "solver/chain/solver_list.hpp"

#include <newel/core/error.hpp>
#include <newel/solver/registry.hpp>
#include "core/vectors/alone.hpp"
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/mixed/mixed_solvers.hpp"

namespace newel::detail {

template <class T, Space S>
std::vector<ChainStep<T, S>> chain_steps(const Context<S>& ctx, Index n, const std::vector<std::string>& names,
                                         const SolverOptions& options) {
  std::vector<ChainStep<T, S>> steps;
  for (const std::string& name : names) {
    const SolverMethod& method = find_solver(name);
    const auto make = maker_of<T, S>(method, options);
    steps.push_back({method.name, &method, false, [=] { return make(ctx, n, options); }});
  }
  return steps;
}

template <Space S>
std::vector<ChainStep<double, S>> with_mixed_step(const Context<S>& ctx, std::vector<ChainStep<double, S>> steps,
                                                  const LowSystem<S>& low, const SolverOptions& options) {
  const SolverMethod* const first = steps.front().method;
  if (const auto make = first->make_mixed.template get<double, S>()) {
    const auto make_mixed = [=] { return make(ctx, low, options); };
    steps.insert(steps.begin(), {mixed_name(first->name), first, true, make_mixed});
  }
  return steps;
}

template <class T, Space S>
KrylovSolver<T, S>& SolverList<T, S>::at(std::size_t step) {
  auto& made = made_[step];
  if (made == nullptr) made = steps_[step].make();
  return *made;
}

template <class T, Space S>
bool SolverList<T, S>::can_make(const Context<S>& ctx, std::size_t step, SolveReport& report) {
  try {
    at(step);
    return true;
  } catch (const OutOfMemory& e) {
    require_alone(ctx);
    report.failure.untried.push_back({steps_[step].name, e.what()});
    return false;
  }
}

template <class T, Space S>
void SolverList<T, S>::drop_first() {
  if (!several()) return;
  steps_.erase(steps_.begin());
  made_.erase(made_.begin());
  batch_.reset();
}

template <class T, Space S>
bool SolverList<T, S>::batched() {
  const ChainStep<T, S>& first = steps_.front();
  if (first.method == nullptr || first.mixed) return false;
  return first.method->make_batch.template get<T, S>() != nullptr || own_batch() != nullptr;
}

template <class T, Space S>
BatchSolver<T, S>& SolverList<T, S>::batch(const Context<S>& ctx, Index n) {
  if (BatchSolver<T, S>* const own = own_batch()) return *own;
  if (batch_ == nullptr) batch_ = steps_.front().method->make_batch.template get<T, S>()(ctx, n);
  return *batch_;
}

// A solver made from the matrix that takes columns itself: what it has made serves both.
template <class T, Space S>
BatchSolver<T, S>* SolverList<T, S>::own_batch() {
  return steps_.front().method->from_matrix() ? at(0).as_batch() : nullptr;
}

#define X(T, S)                                                                                                \
  template class SolverList<T, S>;                                                                             \
  template std::vector<ChainStep<T, S>> chain_steps(const Context<S>&, Index, const std::vector<std::string>&, \
                                                    const SolverOptions&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

#define X(S)                                                                                                       \
  template std::vector<ChainStep<double, S>> with_mixed_step(const Context<S>&, std::vector<ChainStep<double, S>>, \
                                                             const LowSystem<S>&, const SolverOptions&);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail

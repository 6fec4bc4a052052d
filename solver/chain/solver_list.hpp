// SPDX-License-Identifier: Apache-2.0
/// The solvers that a choice names, made when they are first needed. Internal.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <newel/solver/method.hpp>

namespace newel::detail {

/// One solver of a chain.
template <class T, Space S>
struct ChainStep {
  std::string name;                                           ///< for messages
  const SolverMethod* method;                                 ///< null: none of the table's
  bool mixed;                                                 ///< iterates in single precision for a system in double
  std::function<std::shared_ptr<KrylovSolver<T, S>>()> make;  ///< or gives one that others refresh
};

/// The methods that a choice names, made by the table for n unknowns. Throws InputError for unknown names.
template <class T, Space S>
std::vector<ChainStep<T, S>> chain_steps(const Context<S>& ctx, Index n, const std::vector<std::string>& names,
                                         const SolverOptions& options);

/// The steps of a system that iterates in single precision first: the first of them in mixed precision in front,
/// where its method has that.
template <Space S>
std::vector<ChainStep<double, S>> with_mixed_step(const Context<S>& ctx, std::vector<ChainStep<double, S>> steps,
                                                  const LowSystem<S>& low, const SolverOptions& options);

template <class T, Space S>
class SolverList {
 public:
  /// Of one step at the least.
  explicit SolverList(std::vector<ChainStep<T, S>> steps) : steps_(std::move(steps)), made_(steps_.size()) {}

  std::size_t size() const { return steps_.size(); }
  bool several() const { return steps_.size() > 1; }
  const std::vector<ChainStep<T, S>>& steps() const { return steps_; }
  /// Made when it is first asked for.
  KrylovSolver<T, S>& at(std::size_t step);
  /// The same. Where memory does not suffice the report says so.
  bool can_make(const Context<S>& ctx, std::size_t step, SolveReport& report);
  /// The first solver is not tried any more, where there is another.
  void drop_first();
  /// Whether the first one takes several columns side by side, and what does that for n unknowns.
  bool batched();
  BatchSolver<T, S>& batch(const Context<S>& ctx, Index n);

 private:
  BatchSolver<T, S>* own_batch();

  std::vector<ChainStep<T, S>> steps_;
  std::vector<std::shared_ptr<KrylovSolver<T, S>>> made_;  // of each step; null: not yet
  std::unique_ptr<BatchSolver<T, S>> batch_;               // likewise
};

}  // namespace newel::detail

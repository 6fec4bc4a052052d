// SPDX-License-Identifier: Apache-2.0
/// OrdinarySolves: the systems of a batch that do not fit, one after another by a LinearSystem. Internal.
#pragma once

#include <optional>

#include <newel/solver/batched_system.hpp>
#include <newel/solver/linear_system.hpp>

namespace newel::detail {

template <class T, Space S>
class OrdinarySolves {
 public:
  /// The pattern must outlive this object.
  OrdinarySolves(const Context<S>& ctx, const Pattern<S>& pattern, const BatchedOptions& options);

  /// Takes the tolerances and the limit of iterations from `options`.
  void set_limits(const BatchedOptions& options);

  /// One system. A setup that its values forbid is repeated without a preconditioner.
  BatchedResult solve(Span<const T, S> values, Span<const T, S> b, Span<T, S> x, InitialGuess guess);

 private:
  void set_up(Span<const T, S> values);
  SolveReport solve_plain(Span<const T, S> values, Span<const T, S> b, Span<T, S> x, InitialGuess guess);

  Context<S> ctx_;
  Pattern<S> pattern_;
  SystemOptions options_;
  std::optional<LinearSystem<T, S>> system_;
};

}  // namespace newel::detail

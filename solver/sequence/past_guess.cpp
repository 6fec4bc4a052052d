// SPDX-License-Identifier: Apache-2.0
// Past solutions without a system around them.
#include <newel/solver/past_guess.hpp>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/sequence/past_solutions.hpp"

namespace newel {
namespace {

GuessRule rule_of_past(const std::string& text) {
  const GuessRule rule = guess_rule(text);
  if (rule.kind == GuessRule::Kind::extrapolate || rule.kind == GuessRule::Kind::project) return rule;
  throw InputError("guess: expected extrapolate, project or project:M, found \"" + text + "\"");
}

}  // namespace

template <class T, Space S>
PastGuess<T, S>::PastGuess(const std::string& rule)
    : past_(std::make_unique<detail::PastSolutions<T, S>>(rule_of_past(rule))) {}
template <class T, Space S>
PastGuess<T, S>::PastGuess(PastGuess&&) noexcept = default;
template <class T, Space S>
PastGuess<T, S>& PastGuess<T, S>::operator=(PastGuess&&) noexcept = default;
template <class T, Space S>
PastGuess<T, S>::~PastGuess() = default;

template <class T, Space S>
GuessReport PastGuess<T, S>::prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, bool definite,
                                     Span<const T, S> b, Span<T, S> x, InitialGuess from) {
  GuessReport report;
  if (past_->prepare(ctx, {A, definite, b, x, from}, report) == InitialGuess::zero) fill<T, S>(ctx, T(0), x);
  return report;
}

template <class T, Space S>
void PastGuess<T, S>::keep(const Context<S>& ctx, const LinearOperator<T, S>& A, bool definite, Span<const T, S> x) {
  past_->keep(ctx, A, definite, x);
}

template <class T, Space S>
void PastGuess<T, S>::values_changed() {
  past_->values_changed();
}

template <class T, Space S>
int PastGuess<T, S>::vectors() const {
  return past_->state().held;
}

#define X(T, S) template class PastGuess<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel

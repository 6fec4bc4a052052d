// SPDX-License-Identifier: Apache-2.0
// What a solve asks on its way, and how its vectors move with it.
#include "solver/system/session_exchange.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/operators/host_measurement.hpp"

namespace newel::detail {

template <class T, Space S>
bool SessionExchange<T, S>::due(const SolveStanding& now) {
  constexpr bool asking_is_dear = S == Space::device;
  next_.reset();
  if (!at_.may_move) return false;
  next_ = moves_.next(now);
  const bool to_stronger = next_ && next_->kind == Move::Kind::stronger_preconditioner;
  if (to_stronger && watch_ && watch_->faster_than_move()) next_.reset();
  if (!next_) s_.advisor.ask_less_often(asking_is_dear);
  return next_.has_value();
}

template <class T, Space S>
void SessionExchange<T, S>::prepare() {
  if (at_.may_move) s_.alternatives->weigh();
}

template <class T, Space S>
int SessionExchange<T, S>::not_before() {
  constexpr bool asking_is_dear = S == Space::device;
  if (!at_.may_move) return no_exchange;
  return std::min(s_.advisor.not_before(asking_is_dear, s_.history, s_.alternatives->forecasts()),
                  measurement_due(*s_.operators, s_.history));
}

template <class T, Space S>
double SessionExchange<T, S>::sure_of_solve() const {
  return std::max(SureConstants::of_any_solve, s_.alternatives->forecasts().sure_iterations(false));
}

template <class T, Space S>
GiveUpFn SessionExchange<T, S>::overdue() {
  if (!at_.factors_follow || at_.factors_failed || s_.entries == 0 || !LastResort<T, S>::exists_for(*s_.operators))
    return {};
  if (!watch_) watch_.emplace(s_);
  return [this](const Progress& now) { return (*watch_)(now); };
}

template <class T, Space S>
bool SessionExchange<T, S>::others_come_later() {
  if (!at_.factors_follow || at_.factors_failed) return false;
  if (!factors_are_there_) {
    factors_are_there_ = s_.last_resort.is_structurally_singular(*s_.operators) &&
                         s_.last_resort.ready_within(*s_.operators, factor_limits.most_seconds_of_last_resort);
  }
  return *factors_are_there_;
}

template <class T, Space S>
std::string SessionExchange<T, S>::preconditioner() const {
  const std::string& name = s_.operators->options.precond.name;
  return name == "none" ? std::string() : name;
}

template <class T, Space S>
void SessionExchange<T, S>::follow(Span<const T, S>& b, Span<T, S>& x) const {
  if (!at_.exchanged) return;
  b = at_.b;
  x = at_.x;
}

// Formats are left in the caller's numbering only.
template <class T, Space S>
std::optional<ExchangedSystem<T, S>> SessionExchange<T, S>::exchange(const std::vector<Span<T, S>>& vectors) {
  const bool other_format = next_->kind == Move::Kind::format;
  Array<T, S> scratch;
  try {
    if (other_format) scratch = Array<T, S>(s_.ctx, s_.rows);
  } catch (const OutOfMemory&) {
    s_.history.change_failed = true;
    return std::nullopt;
  }
  if (!moves_.make(*next_)) return std::nullopt;
  if (other_format && !s_.natural()) renumber(vectors, scratch);
  s_.ctx.synchronize();
  const Operators<T, S>& now = *s_.operators;
  return ExchangedSystem<T, S>{now.matrix(), now.applied_preconditioner(), at_.b, at_.x,
                               other_format && now.same_preconditioner};
}

// From the caller's numbering to that of the new format.
template <class T, Space S>
void SessionExchange<T, S>::renumber(std::vector<Span<T, S>> vectors, Span<T, S> scratch) {
  vectors.push_back(s_.chain->kept_x());
  vectors.push_back(s_.vectors.guess.span());
  for (const Span<T, S> vector : vectors) {
    if (vector.size == 0) continue;
    s_.gather_to_solver_order(vector, scratch);
    copy<T>(s_.ctx, Span<const T, S>(scratch), vector);
  }
  s_.gather_to_solver_order(at_.b, s_.vectors.b);
  s_.gather_to_solver_order(at_.x, s_.vectors.x);
  at_.b = s_.vectors.b;
  at_.x = s_.vectors.x;
  at_.exchanged = true;
}

#define X(T, S) template class SessionExchange<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

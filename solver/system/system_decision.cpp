// SPDX-License-Identifier: Apache-2.0
// What a system has decided and learnt as a value.
#include "core/vectors/instantiate.hpp"
#include "solver/operators/single_copy.hpp"
#include "solver/operators/system_estimates.hpp"
#include "solver/system/system_state.hpp"

namespace newel::detail {
namespace {

std::optional<PrecondRanking> ranking(const std::optional<PrecondOutlooks>& from) {
  if (!from) return std::nullopt;
  return PrecondRanking{from->present, {from->stronger.begin(), from->stronger.end()}};
}

void write(const History& history, SystemDecision& to) {
  to.solves = history.solves;
  to.last_iterations = history.last_iterations;
  to.simple_iterations = history.simple_seen;
  to.simple_measured = history.simple_measured;
  to.change_failed = history.change_failed;
  to.format_iterations = history.format.iterations();
  to.format_refreshes = history.format.refreshes();
  to.preconditioner_iterations = history.preconditioner.iterations();
  to.preconditioner_refreshes = history.preconditioner.refreshes();
  to.weaker_iterations = history.whole.weaker_iterations;
  to.weaker_seconds = history.whole.weaker_seconds;
  to.iterations_since = history.whole.iterations;
  to.slower_solves = history.whole.slower;
  to.refreshes_since = history.whole.refreshes;
  to.weaker_is_estimated = history.whole.estimated;
}

}  // namespace

History history_of(const SystemDecision& d, bool chooses_format, bool same_preconditioner) {
  History history;
  history.solves = d.solves;
  history.simple_seen = d.simple_iterations;
  history.simple_measured = d.simple_measured;
  history.change_failed = chooses_format && d.change_failed;
  history.format.restore(d.format_iterations, d.format_refreshes);
  if (!same_preconditioner) return history;
  history.last_iterations = d.last_iterations;
  history.preconditioner.restore(d.preconditioner_iterations, d.preconditioner_refreshes);
  history.whole = {d.weaker_iterations, d.weaker_seconds,  d.iterations_since,
                   d.slower_solves,     d.refreshes_since, d.weaker_is_estimated};
  return history;
}

template <class T, Space S>
void write_decision(Operators<T, S>& s, SystemDecision& decision) {
  if (s.single != nullptr && s.single->system() != nullptr) return write_decision(*s.single->system(), decision);
  decision.preconditioner = s.options.precond.name;
  decision.solvers = s.chosen.solvers.order;
  if (s.A == nullptr) return;
  SystemEstimates<T, S>(s).weigh();
  const SystemChoices& chosen = s.chosen;
  decision.format = s.options.spmv.format;
  decision.format_reason = chosen.format.reason;
  decision.preconditioner_reason = chosen.precond_reason.text();
  decision.solver_reason = chosen.solvers.reason;
  decision.preconditioner_first = s.M != nullptr && s.M->serial() == s.renumbered_serial;
  decision.expected_format = chosen.expected_format;
  decision.expected_iterations = chosen.expected_iterations;
  decision.formats_estimated_for = chosen.formats_estimated_for;
  decision.provisional = chosen.provisional;
  decision.untried = chosen.untried;
  decision.ranked = ranking(chosen.outlooks);
  decision.builds_estimated = chosen.builds != BuildEstimates::none;
  decision.builds_by_values = chosen.builds == BuildEstimates::values;
  decision.weaker = ranking(chosen.weaker_outlooks);
  decision.traits = chosen.traits;
  decision.traits_older = chosen.traits_older;
}

template <class T, Space S>
SystemDecision decision_so_far(const SystemState<T, S>& state) {
  if (state.equivalent.answers()) return state.equivalent.made().decision();
  SystemDecision found;
  write_decision(*state.operators, found);
  found.rows = state.rows;
  found.entries = state.entries;
  write(state.history, found);
  return found;
}

// After the first solve and whenever their number has doubled, for a process may be ended at any time.
template <class T, Space S>
void keep_decision(SystemState<T, S>& state, bool at_the_end) noexcept {
  const int solves = state.history.solves;
  const bool doubled = solves > 0 && (solves & (solves - 1)) == 0;
  if (!state.kept_decisions || !state.last_converged || state.equivalent.answers() || !(at_the_end || doubled))
    return;
  try {
    state.kept_decisions->keep(decision_so_far(state));
  } catch (...) {  // the solves do not need it
  }
}

#define X(T, S)                                                      \
  template void write_decision(Operators<T, S>&, SystemDecision&);   \
  template SystemDecision decision_so_far(const SystemState<T, S>&); \
  template void keep_decision(SystemState<T, S>&, bool) noexcept;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// What a system has decided and learnt as a value.
#include "core/vectors/instantiate.hpp"
#include "solver/operators/single_copy.hpp"
#include "solver/operators/system_estimates.hpp"
#include "solver/policy/decided_factors.hpp"
#include "solver/system/system_state.hpp"

namespace newel::detail {
namespace {

std::optional<PrecondRanking> ranking(const std::optional<PrecondOutlooks>& from) {
  if (!from) return std::nullopt;
  return PrecondRanking{from->present, {from->stronger.begin(), from->stronger.end()}};
}

}  // namespace

History history_of(const SystemDecision& d, bool chooses_format, bool same_preconditioner) {
  History history{d.history};
  history.change_failed = chooses_format && d.history.change_failed;
  if (same_preconditioner) return history;
  history.last_iterations = 0;
  history.preconditioner = {};
  history.whole = {};
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
  decision.reasons.format = chosen.format.reason;
  decision.reasons.preconditioner = chosen.precond_reason.text();
  decision.reasons.solver = chosen.solvers.reason;
  decision.preconditioner_first = s.M != nullptr && s.M->serial() == s.renumbered_serial;
  decision.expected.format = chosen.expected_format;
  decision.expected.iterations = chosen.expected_iterations;
  decision.expected.preconditioner = chosen.formats_estimated_for;
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
  if (state.last_resort.answers()) set_begins_with_factors(found);
  found.rows = state.rows;
  found.entries = state.entries;
  found.history = state.history;
  return found;
}

// After the first solve and whenever their number has doubled, for a process may be ended at any time.
template <class T, Space S>
void keep_decision(SystemState<T, S>& state, bool at_the_end) noexcept {
  const int solves = state.history.solves;
  const bool doubled = solves > 0 && (solves & (solves - 1)) == 0;
  if (!state.shared.kept || !state.shared.last_converged || state.equivalent.answers() || !(at_the_end || doubled))
    return;
  try {
    state.shared.kept->keep(decision_so_far(state));
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

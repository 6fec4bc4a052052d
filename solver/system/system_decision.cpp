// SPDX-License-Identifier: Apache-2.0
// What a system has decided and learnt as a value, and a system that begins with such a value.
#include "solver/system/system_state.hpp"

#include <algorithm>

#include "core/vectors/instantiate.hpp"
#include "core/text/number_text.hpp"

namespace newel::detail {
namespace {

std::optional<PrecondRanking> ranking(const std::optional<PrecondOutlooks>& from) {
  if (!from) return std::nullopt;
  return PrecondRanking{from->present, {from->stronger.begin(), from->stronger.end()}};
}

// `complete` adds to an outlook what goes with its name.
template <class Complete>
std::optional<PrecondOutlooks> outlooks(const std::optional<PrecondRanking>& from, const MatrixTraits& traits,
                                        const Complete& complete) {
  if (!from) return std::nullopt;
  const std::vector<const PrecondMethod*> in_order = newel::stronger_preconditioners(traits);
  const auto place = [&](const std::string& name) {
    return std::find_if(in_order.begin(), in_order.end(), [&](const PrecondMethod* m) { return m->name == name; });
  };
  // The simple one, which is not in the table's order, is before all of them.
  const auto is_before = [&](const std::string& name, const std::string& present) {
    return place(present) != in_order.end() && place(name) < place(present);
  };
  const auto outlook = [&](const WeighedPrecond& weighed) {
    PrecondOutlook made{weighed};
    complete(made);
    return made;
  };
  PrecondOutlooks made{outlook(from->present), {}};
  for (const WeighedPrecond& stronger : from->stronger) {
    made.stronger.push_back(outlook(stronger));
    made.stronger.back().passed_over = is_before(stronger.name, from->present.name);
  }
  return made;
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

// What a preconditioner has shown is not known of another.
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

}  // namespace

template <class T, Space S>
void PlainOperators<T, S>::write_decision(SystemDecision& decision) {
  weigh_alternatives();
  decision.format = options_.spmv.format;
  decision.preconditioner = options_.precond.name;
  decision.solvers = chosen_.solvers.order;
  decision.format_reason = chosen_.format.reason;
  decision.preconditioner_reason = chosen_.precond_reason.text();
  decision.solver_reason = chosen_.solvers.reason;
  decision.preconditioner_first = M_ != nullptr && M_->serial() == renumbered_serial_;
  decision.expected_format = chosen_.expected_format;
  decision.expected_iterations = chosen_.expected_iterations;
  decision.formats_estimated_for = chosen_.formats_estimated_for;
  decision.provisional = chosen_.provisional;
  decision.untried = chosen_.untried;
  decision.ranked = ranking(chosen_.outlooks);
  decision.builds_estimated = chosen_.builds_estimated;
  decision.builds_by_values = chosen_.builds_by_values;
  decision.weaker = ranking(chosen_.weaker_outlooks);
  decision.traits = chosen_.traits;
  decision.traits_older = chosen_.traits_older;
}

// The formats are compared all the same, for what may follow and for those who ask. A preconditioner that was
// renumbered when the format came is made in CSR again, since that of the renumbered matrix differs by rounding.
template <class T, Space S>
void PlainOperators<T, S>::take_decided_format(const CsrView<T, S>& a, bool measured) {
  const SystemDecision& d = *decided();
  if (!measured) {
    const std::string asked = options_.precond.name;
    if (!d.formats_estimated_for.empty()) options_.precond.name = d.formats_estimated_for;
    chosen_.format = format_by_cost(a);
    options_.precond.name = asked;
  }
  order_follows_ = d.preconditioner_first;
  chosen_.format.format = d.preconditioner_first ? "csr" : d.format;
  chosen_.format.reason = d.format_reason;
  chosen_.format.measured = measured;
  chosen_.expected_format = d.expected_format;
  if (d.expected_iterations > 0) chosen_.expected_iterations = d.expected_iterations;
}

template <class T, Space S>
void PlainOperators<T, S>::take_decided_preconditioner(const CsrView<T, S>& a, bool may_follow) {
  const SystemDecision& d = *decided();
  facts(a);
  options_.precond.name = d.preconditioner;
  M_ = make_precond(ctx_, a, order_, options_.precond, options_.spmv);
  if (d.expected_iterations > 0) chosen_.expected_iterations = d.expected_iterations;
  chosen_.precond_reason = d.preconditioner_reason;
  chosen_.precond_chosen = true;
  chosen_.provisional = d.provisional && may_follow;
  chosen_.untried = d.untried;
  const auto complete = [this, &d](PrecondOutlook& outlook) {
    outlook.iterations = iterations_of(outlook.name);
    outlook.margin = margin_of(outlook.name);
    outlook.by_values = d.builds_by_values;
  };
  chosen_.outlooks = outlooks(d.ranked, *chosen_.traits, complete);
  chosen_.builds_estimated = d.builds_estimated;
  chosen_.builds_by_values = d.builds_by_values;
  chosen_.weaker_outlooks = outlooks(d.weaker, *chosen_.traits, complete);
}

template <class T, Space S>
SystemDecision SystemState<T, S>::decision() const {
  SystemDecision found;
  operators->write_decision(found);
  found.rows = rows;
  found.entries = entries;
  write(history, found);
  return found;
}

template <class T, Space S>
void SystemState<T, S>::require_size_of(const SystemDecision& decided) const {
  const bool rows_differ = decided.rows != 0 && decided.rows != rows;
  const bool entries_differ = decided.entries != 0 && decided.entries != entries;
  if (!rows_differ && !entries_differ) return;
  throw InputError("SystemOptions::decision is for a matrix of " + std::to_string(decided.rows) + " rows and " +
                   std::to_string(decided.entries) + " entries, not " + std::to_string(rows) + " and " +
                   std::to_string(entries));
}

// Where the format came after the preconditioner, it does so again.
template <class T, Space S>
void SystemState<T, S>::follow_decided_format(const SystemOptions& options) {
  const SystemDecision& decided = *options.decision;
  if (!decided.preconditioner_first || decided.format.empty() || !is_format_choice(options.spmv.format)) return;
  timed(ctx, setup_seconds, "format after preconditioner", [&] {
    if (auto moved = operators->in_format(decided.format)) operators = std::move(moved);
  });
}

template <class T, Space S>
void SystemState<T, S>::take_learnt(const SystemDecision& decided, const SystemOptions& options) {
  const bool other_precond = operators->preconditioner_name() != decided.preconditioner;
  const bool chooses_format = is_format_choice(options.spmv.format);
  history = history_of(decided, chooses_format, !other_precond);
}

// A system that has nothing to set up yet, or other things than the systems before it, is made again where that pays.
template <class T, Space S>
void SystemState<T, S>::begin_as_others_ended(const CsrView<T, S>& a, SystemOptions& options,
                                              const SystemParts<T, S>& parts) {
  timed(ctx, setup_seconds, "plan cache", [&] {
    kept_decisions.emplace(ctx, Pattern<S>(a), options, sizeof(T));
    learnt = kept_decisions->remark();
    if (!kept_decisions->kept()) return;
    const KeptDecision& kept = *kept_decisions->kept();
    SystemDecision now;
    operators->write_decision(now);
    if (now.traits && kept.decision.traits && !same_kind(*now.traits, *kept.decision.traits)) return;
    SystemDecision begin = decision_to_begin_with(kept, now);
    const std::string source = "as learnt from " + plain_number(kept.decision.solves) +
                               (kept.decision.solves == 1 ? " solve before" : " solves before");
    const double expected = simple_iterations_for(operators->present_iterations(), operators->expected_iterations());
    const double simple = kept.decision.simple_iterations > 0 ? kept.decision.simple_iterations : expected;
    if (kept_decision_pays(kept, now, operators->candidates(simple))) {
      SystemOptions as_kept = options;
      as_kept.decision = begin;
      try {
        operators = make_operators(a, as_kept, parts);
        options.decision = std::move(begin);
        learnt = source;
        return;
      } catch (const InputError&) {  // the matrix does not support the preconditioner
      } catch (const OutOfMemory&) {
      } catch (const WorkInterrupted&) {
      }
    }
    history.last_iterations = now.preconditioner == kept.decision.preconditioner ? kept.decision.last_iterations : 0;
    history.simple_seen = kept.decision.simple_iterations;
    learnt = "its iterations " + source;
  });
}

// After the first solve and whenever their number has doubled, for a process may be ended at any time.
template <class T, Space S>
void SystemState<T, S>::keep_decision(bool at_the_end) noexcept {
  const bool doubled = history.solves > 0 && (history.solves & (history.solves - 1)) == 0;
  if (!kept_decisions || !last_converged || !(at_the_end || doubled)) return;
  try {
    kept_decisions->keep(decision());
  } catch (...) {  // the solves do not need it
  }
}

// Where it was the format that was to be chosen, with the reason of that.
template <class T, Space S>
void SystemState<T, S>::add_learnt(SystemInfo& info) const {
  if (learnt.empty()) return;
  if (!info.format.reason.empty()) {
    info.format.reason += "; " + learnt;
  } else if (info.preconditioner_reason.empty()) {
    info.format.reason = learnt;
  } else {
    info.preconditioner_reason.add("; " + learnt);
  }
}

#define X(T, S)                                                                                \
  template void PlainOperators<T, S>::write_decision(SystemDecision&);                         \
  template void PlainOperators<T, S>::take_decided_format(const CsrView<T, S>&, bool);         \
  template void PlainOperators<T, S>::take_decided_preconditioner(const CsrView<T, S>&, bool); \
  template SystemDecision SystemState<T, S>::decision() const;                                 \
  template void SystemState<T, S>::require_size_of(const SystemDecision&) const;               \
  template void SystemState<T, S>::follow_decided_format(const SystemOptions&);                \
  template void SystemState<T, S>::take_learnt(const SystemDecision&, const SystemOptions&);   \
  template void SystemState<T, S>::begin_as_others_ended(const CsrView<T, S>&, SystemOptions&, \
                                                         const SystemParts<T, S>&);            \
  template void SystemState<T, S>::keep_decision(bool) noexcept;                               \
  template void SystemState<T, S>::add_learnt(SystemInfo&) const;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

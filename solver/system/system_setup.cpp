// SPDX-License-Identifier: Apache-2.0
// The setup of a system, phase by phase.
#include "solver/system/system_setup.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <newel/precond/pattern_options.hpp>
#include <newel/solver/memory_estimate.hpp>
#include "core/memory/available_memory.hpp"
#include "core/text/number_text.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "precond/mirrored_constraints.hpp"
#include "solver/cost/profiles/factor_constants.hpp"
#include "solver/krylov/monitor/limits_left.hpp"
#include "solver/krylov/monitor/solve_limits.hpp"
#include "solver/operators/operator_builder.hpp"
#include "solver/operators/single_copy.hpp"
#include "solver/operators/system_alternatives.hpp"
#include "solver/operators/system_estimates.hpp"
#include "solver/policy/decided_factors.hpp"
#include "solver/equivalent/condensed_system.hpp"
#include "solver/equivalent/negated_system.hpp"

namespace newel::detail {
namespace {

double total(const PhaseSeconds& phases) {
  double sum = 0;
  for (const auto& [phase, seconds] : phases) sum += seconds;
  return sum;
}

// Where nothing was named that single precision is to be used for.
bool chooses_precision(const SystemOptions& options) {
  return same_name(options.spmv.format, "auto") && same_name(options.precond.name, "auto");
}

// Plates in mixed form, say, for which no preconditioner serves.
template <class T, Space S>
bool is_without_preconditioner(Operators<T, S>& made, const CsrView<T, S>& a) {
  if constexpr (S == Space::host) {
    if (!LastResort<T, S>::exists_for(made)) return false;
    ValueTraits& traits = *made.chosen.traits;
    return traits.symmetric() && is_saddle_point(traits) && traits.constraints_of(a) == ConstraintKind::fourth_order;
  }
  return false;
}

// Of a solve of a large system whose operator is only perhaps of fourth order, with the simple preconditioner.
// Infinity: nothing is expected.
template <class T, Space S>
double seconds_without_factors(Operators<T, S>& made, const CsrView<T, S>& a) {
  SystemEstimates<T, S> estimates(made);
  const PrecondMethod* const simple = simple_preconditioner(*made.chosen.traits);
  if (!estimates.kind().saddle || simple == nullptr) return std::numeric_limits<double>::infinity();
  estimates.facts(a);
  estimates.expect_iterations(a);
  const IterationModel model = estimates.model();
  const std::optional<CostEstimate> product = model.product("csr");
  if (!product) return std::numeric_limits<double>::infinity();
  return factor_limits.times_without_factors * made.chosen.expected_iterations *
         model.iteration(simple->name, *product).seconds;
}

// Of a system that only judges what another one has solved.
SystemOptions bare(SystemOptions options) {
  options.spmv.format = "csr";
  options.precond.name = "none";
  options.mixed = false;
  options.columns = 1;
  options.decision.reset();
  options.old_of_new.clear();
  options.part_begin.clear();
  const bool factors = options.solver.name != "auto" && find_solver(options.solver.name).from_matrix();
  if (factors) options.solver.name = "auto";
  return options;
}

// Whether the system may be solved without the rows that fix unknowns, or with other signs.
bool may_replace(const SystemOptions& options) {
  const ScalingOptions& scaling = options.solver.of<ScalingOptions>();
  const bool own_order = !options.old_of_new.empty() || !options.part_begin.empty();
  return options.solver.name == "auto" && options.null_space == NullSpace::none && !own_order &&
         scaling.scale != Use::on && scaling.match != Use::on &&
         options.precond.of<PatternOptions>().pattern == nullptr;
}

void require_size_of(const SystemDecision& decided, Index rows, Offset entries) {
  const bool rows_differ = decided.rows != 0 && decided.rows != rows;
  const bool entries_differ = decided.entries != 0 && decided.entries != entries;
  if (!rows_differ && !entries_differ) return;
  throw InputError("SystemOptions::decision is for a matrix of " + std::to_string(decided.rows) + " rows and " +
                   std::to_string(decided.entries) + " entries, not " + std::to_string(rows) + " and " +
                   std::to_string(entries));
}

// Whatever they take, since they have solved such a system. False: they are not there.
template <class T, Space S>
bool begin_with_decided_factors(SystemState<T, S>& s) {
  bool begins = false;
  timed(s.ctx, s.setup.seconds, "factors",
        [&] { begins = s.last_resort.begins_within(*s.operators, factor_limits.most_seconds_of_last_resort); });
  return begins;
}

template <class T, Space S>
void require_memory(const SystemState<T, S>& s, const SystemOptions& options, Offset nonzeros) {
  SystemSize size{s.rows, nonzeros, sizeof(T), false, options.mixed && !chooses_precision(options)};
  size.columns = options.columns;
  size.null_space = options.null_space == NullSpace::constant;
  const SystemEstimate wanted = estimate_system(options.spmv, options.precond, options.solver, size);
  require_available(s.ctx, "this system (an estimate)", wanted.total());
}

template <class T, Space S>
double time_left(const SystemState<T, S>& s) {
  if (!(s.stop.time_limit_seconds > 0)) return 0;
  return limits_left(s.stop, 0, total(s.setup.seconds)).time_limit_seconds;
}

// Instead of a matching and incomplete factors, which take about as long. Once they were refused, no order is sought
// again.
template <class T, Space S>
bool begins_with_factors(SystemState<T, S>& s, const Operators<T, S>& made, double most_seconds) {
  if (S == Space::device || s.last_resort.seconds_to_be_ready() > most_seconds) return false;
  bool begins = false;
  timed(s.ctx, s.setup.seconds, "factors", [&] { begins = s.last_resort.begins_within(made, most_seconds); });
  return begins;
}

// Where the format came after the preconditioner, it does so again.
template <class T, Space S>
void follow_decided_format(SystemState<T, S>& s, const SystemOptions& options) {
  const SystemDecision& decided = *options.decision;
  if (!decided.preconditioner_first || decided.format.empty() || !is_format_choice(options.spmv.format)) return;
  timed(s.ctx, s.setup.seconds, "format after preconditioner", [&] { s.alternatives->take_format(decided.format); });
}

template <class T, Space S>
void finish(SystemState<T, S>& s) {
  PhaseSeconds& seconds = s.setup.seconds;
  const PhaseSeconds& phases = s.operators->setup_seconds;
  seconds.insert(seconds.end(), phases.begin(), phases.end());
  timed(s.ctx, seconds, "vectors", [&] { s.make_vectors(); });
}

}  // namespace

template <class T, Space S>
void SystemSetup<T, S>::from_matrix(const MatrixInput<T, S>& a, SystemOptions options, SystemParts<T, S> parts) {
  CsrView<T, S> view;
  options.solver.name = canonical_name(options.solver.name);
  a.check_lengths();
  s_.rows = static_cast<Index>(a.rows());
  if (parts.has_preconditioner()) options.precond.name = "none";
  require_memory(s_, options, a.most_entries());
  timed(s_.ctx, s_.setup.seconds, "check", [&] { view = checked(a, options.canonicalise); });
  s_.entries = view.nnz();
  require_scalable(options, ranks_of(s_.ctx) == nullptr, parts.has_preconditioner());
  const ScalingWish demanded = demanded_scaling(options);
  s_.equivalent.set_options(options);
  try {
    const SolveLimits<S> limits(s_.ctx, time_left(s_), {});
    if (!make_condensed_or_negated(view, options, parts)) {
      if (options.decision) require_size_of(*options.decision, s_.rows, s_.entries);
      demanded.any() ? make_scaled(view, demanded, options) : make_as_given(view, options, parts);
    }
    if (options.decision) follow_decided_format(s_, options);
    if (options.decision && detail::begins_with_factors(*options.decision)) begin_with_decided_factors(s_);
  } catch (const WorkInterrupted& e) {
    do_without(e.why(), view, options, parts);
  }
  finish(s_);
  if (options.decision) {
    const bool same = s_.operators->options.precond.name == options.decision->preconditioner;
    s_.history = history_of(*options.decision, is_format_choice(options.spmv.format), same);
  }
  if (s_.assembled) s_.assembled->drop_pattern();
  // A limit that is set later is for solves alone.
  if (s_.stop.time_limit_seconds > 0) s_.setup.before_first_solve = total(s_.setup.seconds);
}

template <class T, Space S>
void SystemSetup<T, S>::from_operator(std::shared_ptr<const LinearOperator<T, S>> a, SystemOptions options,
                                      SystemParts<T, S> parts) {
  if (a == nullptr) throw InputError("a linear system needs an operator, not a null pointer");
  options.solver.name = canonical_name(options.solver.name);
  require_scalable(options, false, false);
  s_.rows = a->rows();
  SystemOptions bare = options;
  bare.spmv.format = "csr";
  bare.precond.name = "none";
  require_memory(s_, bare, 0);
  s_.operators = build_given(s_.ctx, std::move(a), std::move(options), std::move(parts));
  s_.alternatives = std::make_unique<Alternatives>();
  finish(s_);
}

template <class T, Space S>
CsrView<T, S> SystemSetup<T, S>::checked(const MatrixInput<T, S>& a, bool canonicalise) {
  if (a.rows() != a.cols()) {
    throw InputError("a linear system needs a square matrix, not " + std::to_string(a.rows()) + " x " +
                     std::to_string(a.cols()));
  }
  if (const auto csr = as_csr(a); csr && !canonicalise) {
    check_csr(s_.ctx, *csr);
    return *csr;
  }
  s_.assembled.emplace(s_.ctx, a);
  return s_.assembled->view();
}

template <class T, Space S>
void SystemSetup<T, S>::make_as_given(const CsrView<T, S>& a, SystemOptions& options,
                                      const SystemParts<T, S>& parts) {
  make_operators(a, options, parts, [&](Operators<T, S>& made) { return is_for_factors(made, a); });
  plan_scaling();
  if (!s_.equivalent.answers() && takes_kept_decision(options, parts)) begin_as_others_ended(a, options, parts);
}

// False: no rows fix unknowns, or nothing would be gained, or what remains does not allow what the options ask for;
// and A is not symmetric with a negative diagonal.
template <class T, Space S>
bool SystemSetup<T, S>::make_condensed_or_negated(const CsrView<T, S>& a, SystemOptions& options,
                                                  const SystemParts<T, S>& parts) {
  if (!may_replace(options) || ranks_of(s_.ctx) != nullptr || parts.has_preconditioner()) return false;
  std::unique_ptr<EquivalentSystem<T, S>> made;
  PhaseSeconds seconds;
  const auto make = [&](const char* phase, const auto& work) {
    if (made != nullptr) return;
    timed(s_.ctx, seconds, phase, [&] {
      try {
        made = work();
      } catch (const InputError&) {  // which may name rows in another numbering
      } catch (const OutOfMemory&) {
      }
    });
  };
  make("condensed system", [&] { return CondensedSystem<T, S>::made_if_symmetric(s_.ctx, a, options); });
  make("negated system", [&] { return NegatedSystem<T, S>::made_if_negative(s_.ctx, a, options); });
  if (made == nullptr) return false;
  s_.setup.seconds.insert(s_.setup.seconds.end(), seconds.begin(), seconds.end());
  make_operators(a, bare(options), {});
  s_.equivalent.begin(std::move(made));
  options.decision.reset();
  return true;
}

// The matrix as it was given judges; everything else is of the scaled one.
template <class T, Space S>
void SystemSetup<T, S>::make_scaled(const CsrView<T, S>& a, const ScalingWish& wish, SystemOptions& options) {
  make_operators(a, bare(options), {});
  timed(s_.ctx, s_.setup.seconds, "scaled system",
        [&] { s_.equivalent.begin(std::make_unique<ScaledSystem<T, S>>(s_.ctx, a, wish, options)); });
  options.decision.reset();
}

// What "auto" scales or matches before the first solve.
template <class T, Space S>
void SystemSetup<T, S>::plan_scaling() {
  if (s_.last_resort.answers()) return;
  const ScalingWish wish = s_.equivalent.automatic(*s_.operators);
  if (!wish.any()) return;
  const double most_seconds = factor_limits.seconds_at_first(static_cast<double>(s_.entries));
  if (wish.match && begins_with_factors(s_, *s_.operators, most_seconds)) return;
  timed(s_.ctx, s_.setup.seconds, "scaled system", [&] { s_.equivalent.plan(*s_.operators, wish); });
}

// Before a preconditioner is set up and tried, which takes about as long. If that is for saddle points, factors have
// to be cheaper, and an order is sought only if it is next to nothing or the rows are as short as those of networks.
template <class T, Space S>
bool SystemSetup<T, S>::is_for_factors(Operators<T, S>& made, const CsrView<T, S>& a) {
  if constexpr (S == Space::device) return false;  // where iterations are faster, and factors slower
  if (is_without_preconditioner(made, a)) {
    const double most = factor_limits.seconds_at_first(static_cast<double>(s_.entries));
    return begins_with_factors(s_, made, std::min(most, seconds_without_factors(made, a)));
  }
  if (!s_.equivalent.automatic(made).match) return false;
  const auto entries = static_cast<double>(s_.entries);
  if (!may_be_saddle_point(s_.ctx, a, *made.chosen.traits)) {
    return begins_with_factors(s_, made, factor_limits.seconds_at_first(entries));
  }
  return factor_limits.ordered_before_saddle(s_.rows, entries) &&
         begins_with_factors(s_, made, factor_limits.seconds_before_saddle(entries));
}

template <class T, Space S>
void SystemSetup<T, S>::make_operators(const CsrView<T, S>& a, SystemOptions options, const SystemParts<T, S>& parts,
                                       const BeginsWithout<T, S>& begins_without) {
  const bool chooses = options.mixed && chooses_precision(options);
  if (options.mixed && !std::is_same_v<T, double>)
    throw InputError("mixed precision needs a system in double precision");
  if (options.mixed && !chooses && make_mixed(a, options, parts)) return;
  options.mixed = false;
  s_.operators = build(s_.ctx, a, std::move(options), parts, true, chooses ? BeginsWithout<T, S>{} : begins_without);
  s_.alternatives = std::make_unique<SystemAlternatives<T, S>>(*s_.operators);
  if (chooses) make_in_single_if_faster(a, parts);
}

// False: single precision does not support the solver or the preconditioner. Of the latter double says whether that
// is so.
template <class T, Space S>
bool SystemSetup<T, S>::make_mixed(const CsrView<T, S>& a, const SystemOptions& options,
                                   const SystemParts<T, S>& parts) {
  if constexpr (std::is_same_v<T, double>) {
    if (!same_name(options.solver.name, "auto") && find_solver(options.solver.name).from_matrix()) {
      s_.setup.why_double = "in double, since the solver is set up from the matrix";
      return false;
    }
    try {
      s_.operators = build_mixed(s_.ctx, a, options, parts);
      s_.alternatives = std::make_unique<Alternatives>();
      return true;
    } catch (const ZeroDiagonal&) {
    } catch (const NotPositiveDefinite&) {
    }
    s_.setup.why_double = "in double, since single precision does not support the preconditioner";
  }
  return false;
}

// With the solvers that were chosen in double, and all else named.
template <class T, Space S>
void SystemSetup<T, S>::make_in_single_if_faster(const CsrView<T, S>& a, const SystemParts<T, S>& parts) {
  if constexpr (std::is_same_v<T, double>) {
    s_.setup.why_double = "in double, which is expected to be as fast";
    const std::string format = parts.has_preconditioner() ? std::string() : format_in_single(*s_.operators);
    if (format.empty()) return;
    const SystemChoices& chosen = s_.operators->chosen;
    SystemOptions named = s_.operators->options;
    named.spmv.format = format;
    named.solver.name = "auto";
    named.decision.emplace();
    named.decision->solvers = chosen.solvers.order;
    named.decision->reasons.solver = chosen.solvers.reason;
    named.decision->traits = chosen.traits;
    named.decision->traits_older = chosen.traits_older;
    try {
      s_.operators = build_mixed(s_.ctx, a, std::move(named), {});
      s_.alternatives = std::make_unique<Alternatives>();
      s_.setup.why_double.clear();
      s_.setup.single_by_choice = true;
    } catch (const InputError&) {
      s_.setup.why_double = "in double, since single precision does not support the values";
    }
  }
}

// The system without the preconditioner whose setup was ended: its solves return at once, and say why.
template <class T, Space S>
void SystemSetup<T, S>::do_without(WorkEnd why, const CsrView<T, S>& a, SystemOptions& options,
                                   const SystemParts<T, S>& parts) {
  s_.setup.ended = why;
  const std::string what = same_name(options.precond.name, "auto") ? "the preconditioner" : options.precond.name;
  s_.changes.note("no preconditioner, since the time limit ended the setup of " + what);
  options.precond.name = "none";
  options.decision.reset();
  s_.shared.kept.reset();
  make_operators(a, options, parts);
}

// A system that has nothing to set up yet, or other things than the systems before it, is made again where that pays.
template <class T, Space S>
void SystemSetup<T, S>::begin_as_others_ended(const CsrView<T, S>& a, SystemOptions& options,
                                              const SystemParts<T, S>& parts) {
  timed(s_.ctx, s_.setup.seconds, "plan cache", [&] {
    s_.shared.kept.emplace(s_.ctx, Pattern<S>(a), options, sizeof(T));
    s_.shared.learnt = s_.shared.kept->remark();
    if (s_.shared.kept->kept()) learn_from(*s_.shared.kept->kept(), a, options, parts);
  });
}

template <class T, Space S>
void SystemSetup<T, S>::learn_from(const KeptDecision& kept, const CsrView<T, S>& a, SystemOptions& options,
                                   const SystemParts<T, S>& parts) {
  SystemDecision now;
  write_decision(*s_.operators, now);
  if (now.traits && kept.decision.traits && !same_kind(*now.traits, *kept.decision.traits)) return;
  SystemDecision begin = decision_to_begin_with(kept, now);
  const std::string source = "learnt from " + plain_number(kept.decision.history.solves) +
                             (kept.decision.history.solves == 1 ? " earlier solve" : " earlier solves");
  // They have cost less than iterations did.
  if (detail::begins_with_factors(kept.decision) && begin_with_decided_factors(s_)) {
    s_.shared.learnt = source;
    return;
  }
  s_.history.simple_iterations = kept.decision.history.simple_iterations;  // for the candidates
  if (kept_decision_pays(kept, now, candidates(s_))) {
    SystemOptions as_kept = options;
    as_kept.decision = begin;
    try {
      make_operators(a, as_kept, parts);
      options.decision = std::move(begin);
      s_.shared.learnt = source;
      return;
    } catch (const InputError&) {  // the matrix does not support the preconditioner
    } catch (const OutOfMemory&) {
    } catch (const WorkInterrupted&) {
    }
  }
  s_.history.last_iterations =
      now.preconditioner == kept.decision.preconditioner ? kept.decision.history.last_iterations : 0;
  s_.shared.learnt = "its iterations were " + source;
}

#define X(T, S) template class SystemSetup<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

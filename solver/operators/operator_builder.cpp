// SPDX-License-Identifier: Apache-2.0
// Building A and M of a system.
#include "solver/operators/operator_builder.hpp"

#include <algorithm>
#include <utility>

#include <newel/precond/pattern_options.hpp>
#include <newel/solver/choice.hpp>
#include <newel/solver/memory_estimate.hpp>
#include "core/csr/empty_columns.hpp"
#include "core/memory/available_memory.hpp"
#include "core/memory/host_profile.hpp"
#include "core/vectors/instantiate.hpp"
#include "solver/cost/host_speed.hpp"
#include "solver/cost/profiles/profiles.hpp"
#include "solver/operators/first_choices.hpp"
#include "solver/operators/host_measurement.hpp"
#include "solver/operators/precond_chooser.hpp"
#include "spmv/cost/machine_speed.hpp"

namespace newel::detail {
namespace {

// What the clock decides, and cuSPARSE's algorithm that may add in another order, when bits are to be the same.
void require_same_bits(const SystemOptions& options) {
  const auto refuse = [](const std::string& what, const std::string& instead) {
    throw InputError("deterministic results were requested: " + what + "; " + instead);
  };
  if (canonical_name(options.spmv.format) == "measure") {
    refuse("the format \"measure\" depends on measured times", "\"auto\" does not");
  }
  for (const std::string& format : {options.spmv.format, options.precond.format}) {
    if (canonical_name(format) == "csr:alg1") refuse("csr:alg1 is not deterministic", "csr is");
  }
}

// The machine of the cost model. Where bits are to be the same, or ranks have to decide alike, what a clock says has
// no part in it; where nothing is chosen, it is not asked. A device is measured now, which takes a few milliseconds;
// a host that is not known yet has no profile until a system has taken longer than that would.
template <Space S>
Machine machine_for(const Context<S>& ctx, const SystemOptions& options) {
  const bool chooses = is_format_choice(options.spmv.format) || chooses_precond(options);
  const bool may_measure = chooses && !options.deterministic && ctx.ranks() == nullptr;
  const bool as_unknown = options.estimate_scale.device_unknown;
  if constexpr (S == Space::device) {
    return may_measure ? measured_machine(ctx, options.spmv.plan_cache, as_unknown) : machine_of(ctx);
  } else {
    Machine machine = machine_of(ctx);
    if (!may_measure && machine.host_profile == nullptr) set_profile(machine, &epyc);
    if (may_measure && (as_unknown || machine.host_profile == nullptr)) {
      set_profile(machine, known_profile(ctx, options.spmv.plan_cache, as_unknown));
    }
    return machine;
  }
}

// Whether a method made from the matrix may follow when all others have failed.
template <class T, Space S>
bool may_come_to_last_resort(const Operators<T, S>& s) {
  const SolverMethod* const method = solver_of_last_resort();
  return s.options.solver.name == "auto" && method != nullptr &&
         method->make_from_matrix.template get<T, S>() != nullptr;
}

template <Space S>
RowOrder<S> callers_order(const Context<S>& ctx, const SystemOptions& options, Index rows) {
  check_part_bounds(options.part_begin, rows);
  if (!options.old_of_new.empty()) return make_row_order(ctx, options.old_of_new, options.part_begin);
  RowOrder<S> natural;
  natural.part_begin = options.part_begin;
  return natural;
}

}  // namespace

template <class T, Space S>
std::unique_ptr<Operators<T, S>> build(const Context<S>& ctx, const CsrView<T, S>& a, SystemOptions options,
                                       SystemParts<T, S> parts, bool exchangeable,
                                       const BeginsWithout<T, S>& begins_without) {
  auto made = std::make_unique<Operators<T, S>>(ctx, std::move(options), std::move(parts));
  Operators<T, S>& s = *made;
  OperatorBuilder<T, S> builder(s);
  s.machine = machine_for(ctx, s.options);
  builder.take_parts(a.rows);
  if (s.options.deterministic) require_same_bits(s.options);
  FirstChoices<T, S> choices(s);
  timed(ctx, s.setup_seconds, "solver choice", [&] { choices.choose_solvers(a); });
  timed(ctx, s.setup_seconds, "format choice", [&] { choices.choose_format(a, exchangeable); });
  timed(ctx, s.setup_seconds, "order", [&] { s.order = builder.order_for(a); });
  builder.require_memory(a, s.order);
  PermutedCsr<T, S> permuted;
  CsrView<T, S> view = a;
  if (!s.order.natural()) {
    timed(ctx, s.setup_seconds, "permute", [&] { view = builder.in_order(a, s.order, permuted); });
  }
  timed(ctx, s.setup_seconds, "format",
        [&] { s.A = make_spmv(ctx, view, s.order, s.options.spmv, s.chosen.facts ? &*s.chosen.facts : nullptr); });
  s.source.emplace(ctx, *s.A, s.order);
  const bool chooses = chooses_precond(s.options);
  const bool without = chooses && !s.options.decision && begins_without && begins_without(s);
  timed(ctx, s.setup_seconds, "preconditioner", [&] {
    if (without) return PrecondChooser<T, S>(s).put_off();
    if (chooses && !s.chosen.to_weigh && !s.chosen.diagonal) measure_host_for_expected(s, view);
    PrecondChooser<T, S>(s).make(view, exchangeable);
  });
  if (!exchangeable) s.chosen.untried.clear();
  builder.make_from_matrix(view);
  const std::vector<Index> free = builder.free_unknowns(a);
  if (!free.empty()) s.free_unknowns = {static_cast<Index>(free.size()), free.front()};
  s.fixed = builder.fixed(free, s.order);
  builder.keep_source(a);
  if (s.options.decision && s.chosen.provisional) s.source->keep_values(a);
  s.options.decision.reset();
  s.options.precond.template of<PatternOptions>().pattern = nullptr;  // read, and no longer needed
  return made;
}

template <class T, Space S>
void OperatorBuilder<T, S>::take_parts(Index rows) {
  SystemParts<T, S>& parts = s_.parts;
  if (!parts.has_preconditioner()) return;
  s_.options.precond.name = "none";
  s_.chosen.precond_reason = "given by the caller";
  const LinearOperator<T, S>* const own = parts.preconditioner.get();
  if (own == nullptr) return;
  if (parts.make_preconditioner != nullptr) {
    throw InputError("SystemParts: set a preconditioner or a factory of preconditioners, not both");
  }
  require_size(own, rows, "the preconditioner");
  if (!s_.options.old_of_new.empty()) {
    throw InputError(
        "SystemParts::preconditioner is in the caller's numbering and cannot be combined with old_of_new");
  }
}

template <class T, Space S>
RowOrder<S> OperatorBuilder<T, S>::order_for(const CsrView<T, S>& a) const {
  return s_.given_order() ? callers_order(s_.ctx, s_.options, a.rows)
                          : plan_order<T>(s_.ctx, Pattern<S>(a), s_.options.spmv);
}

// The least that may be chosen was there before anything was allocated; now the choice is known.
template <class T, Space S>
void OperatorBuilder<T, S>::require_memory(const CsrView<T, S>& a, const RowOrder<S>& order) const {
  const SystemOptions& options = s_.options;
  SolverOptions first = options.solver;
  first.name = s_.chosen.solvers.order.front();
  SystemSize size{a.rows, a.nnz(), sizeof(T), !order.natural()};
  size.columns = options.columns;
  size.null_space = options.null_space == NullSpace::constant;
  size.several_solvers = s_.chosen.solvers.order.size() > 1;
  const SystemEstimate wanted = estimate_system(options.spmv, options.precond, first, size);
  require_available(s_.ctx, "this system (an estimate)", wanted.total());
}

template <class T, Space S>
CsrView<T, S> OperatorBuilder<T, S>::in_order(const CsrView<T, S>& a, const RowOrder<S>& order,
                                              PermutedCsr<T, S>& permuted) const {
  if (order.natural()) return a;
  permuted = permute(s_.ctx, a, order);
  return permuted.view();
}

// Of a symmetric pattern the rows tell.
template <class T, Space S>
std::vector<Index> OperatorBuilder<T, S>::free_unknowns(const CsrView<T, S>& a) const {
  const std::optional<ValueTraits>& traits = s_.chosen.traits;
  if (traits && traits->pattern_symmetric && traits->empty_rows.count == 0) return {};
  return empty_columns(s_.ctx, Pattern<S>(a));
}

template <class T, Space S>
std::unique_ptr<FixedUnknowns<T, S>> OperatorBuilder<T, S>::fixed(std::vector<Index> free,
                                                                  const RowOrder<S>& order) const {
  if (free.empty()) return nullptr;
  const std::vector<Index> new_of_old =
      order.natural() ? std::vector<Index>() : to_vector(s_.ctx, order.new_of_old.cspan());
  if (!order.natural()) {
    for (Index& j : free) j = new_of_old[static_cast<std::size_t>(j)];
  }
  return std::make_unique<FixedUnknowns<T, S>>(s_.ctx, s_.A->rows(), free);
}

template <class T, Space S>
void OperatorBuilder<T, S>::make_from_matrix(const CsrView<T, S>& a) {
  const SolverMatrix<T, S> matrix{a, s_.order, s_.chosen.traits ? &*s_.chosen.traits : nullptr};
  const SolverOptions& options = s_.options.solver;
  const auto add = [&](const SolverMethod& method) {
    if (method.check != nullptr) method.check(options);
    const auto make = method.make_from_matrix.template get<T, S>();
    if (make == nullptr) {
      throw InputError("solver '" + method.name + "' is not available on the " + std::string(name_of(S)) +
                       (std::is_same_v<T, float> ? " in single precision" : ""));
    }
    if (method.precond_products == 0 && s_.preconditioner() != nullptr) {
      throw InputError("solver '" + method.name + "' uses no preconditioner: it needs auto or none");
    }
    timed(s_.ctx, s_.setup_seconds, "solver", [&] { s_.made.emplace_back(&method, make(s_.ctx, matrix, options)); });
  };
  if (s_.chosen.diagonal && options.name == "auto") add(*solver_of_diagonal());
  for (const std::string& name : s_.chosen.solvers.order) {
    const SolverMethod& method = find_solver(name);
    if (!method.from_matrix()) continue;
    if (s_.options.null_space != NullSpace::none && method.demands != Demand::diagonal) {
      throw InputError("solver '" + method.name + "' needs a regular matrix, and so no null space");
    }
    add(method);
    const bool inverse = s_.preconditioner() != nullptr && !s_.preconditioner()->traits().diagonal.empty() &&
                         (!s_.chosen.precond_chosen || divides(s_));
    if (method.demands != Demand::diagonal || (inverse && s_.options.null_space == NullSpace::none)) continue;
    throw InputError("solver '" + method.name +
                     "' needs the preconditioner auto or jacobi, a diagonal without zeros, and no "
                     "null space");
  }
}

// Where the memory for it is not there, no other preconditioner than none can follow.
template <class T, Space S>
void OperatorBuilder<T, S>::keep_source(const CsrView<T, S>& a) const {
  const bool may_be_needed = !s_.chosen.untried.empty() || may_come_to_last_resort(s_);
  if (may_be_needed && !s_.source->keep_pattern(a) && !s_.chosen.untried.empty()) s_.chosen.untried = {"none"};
}

#define X(T, S)                                                                                           \
  template class OperatorBuilder<T, S>;                                                                   \
  template std::unique_ptr<Operators<T, S>> build(const Context<S>&, const CsrView<T, S>&, SystemOptions, \
                                                  SystemParts<T, S>, bool, const BeginsWithout<T, S>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

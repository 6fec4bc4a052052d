// SPDX-License-Identifier: Apache-2.0
// Choosing and building A and M of a system.
#include "solver/operators/operator_builder.hpp"

#include <algorithm>
#include <utility>

#include <newel/precond/pattern_options.hpp>
#include <newel/solver/memory_estimate.hpp>
#include "core/csr/empty_columns.hpp"
#include "core/memory/available_memory.hpp"
#include "core/memory/host_profile.hpp"
#include "core/vectors/instantiate.hpp"
#include "solver/cost/host_speed.hpp"
#include "solver/cost/profiles/profiles.hpp"
#include "solver/krylov/division.hpp"
#include "solver/operators/host_measurement.hpp"
#include "solver/operators/precond_chooser.hpp"
#include "solver/operators/system_estimates.hpp"
#include "solver/policy/decided_factors.hpp"
#include "spmv/cost/machine_speed.hpp"
#include "spmv/cost/matrix_facts.hpp"

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
  const bool chooses = is_format_choice(options.spmv.format) || canonical_name(options.precond.name) == "auto";
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

bool chooses_precond(const SystemOptions& options) { return canonical_name(options.precond.name) == "auto"; }

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
  timed(ctx, s.setup_seconds, "solver choice", [&] { builder.choose_solver_for(a); });
  timed(ctx, s.setup_seconds, "format choice", [&] { builder.choose_format(a, exchangeable); });
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

// A device gives the facts of the pattern with the traits, where both are wanted, in hardly more time.
template <class T, Space S>
void OperatorBuilder<T, S>::find_traits(const CsrView<T, S>& a) {
  SystemChoices& chosen = s_.chosen;
  if constexpr (S == Space::device) {
    if (!chosen.facts && (chooses_precond(s_.options) || is_format_choice(s_.options.spmv.format))) {
      MatrixFacts found = matrix_facts(s_.ctx, a);
      chosen.traits = found.traits;
      chosen.facts = std::move(found.pattern);
      return;
    }
  }
  chosen.traits = matrix_traits(s_.ctx, a);
}

template <class T, Space S>
void OperatorBuilder<T, S>::choose_solver_for(const CsrView<T, S>& a) {
  SystemOptions& options = s_.options;
  SystemChoices& chosen = s_.chosen;
  const std::optional<SystemDecision>& decided = options.decision;
  const bool choose_precond = chooses_precond(options), choose = options.solver.name == "auto";
  if (decided && decided->traits) {
    chosen.traits = decided->traits;
    chosen.traits_older = decided->traits_older;
  } else if (choose || choose_precond) {
    find_traits(a);
  }
  if (choose && decided && !decided->solvers.empty()) {
    chosen.solvers = {solvers_besides_factors(*decided), decided->reasons.solver};
  } else if (choose) {
    chosen.solvers = choose_solver(*chosen.traits);
  } else {
    chosen.solvers = {{find_solver(options.solver.name).name}, "requested"};
  }
  if (s_.first_method().demands != Demand::nothing) options.precond.symmetric = true;
  const bool may_divide = choose ? solver_of_diagonal() != nullptr : s_.first_method().demands == Demand::diagonal;
  chosen.diagonal = choose_precond && may_divide && options.null_space == NullSpace::none &&
                    is_diagonal(*chosen.traits, a.rows, a.nnz());
}

template <class T, Space S>
void OperatorBuilder<T, S>::choose_format(const CsrView<T, S>& a, bool exchangeable) {
  SystemOptions& options = s_.options;
  SystemChoices& chosen = s_.chosen;
  const std::string asked = canonical_name(options.spmv.format);
  chosen.format.format = options.spmv.format;
  if (!is_format_choice(asked)) return;
  if (asked == "auto" && s_.first_method().from_matrix() && !chosen.diagonal) {
    chosen.format.format = options.spmv.format = "csr";
    chosen.format.reason = "the solver is set up from the matrix";
    return;
  }
  if (chosen.diagonal && asked == "auto" && !options.decision) {
    chosen.format.format = options.spmv.format = "csr";
    chosen.format.reason = "a diagonal matrix";
    return;
  }
  SystemEstimates<T, S> estimates(s_);
  const bool is_decided = options.decision && !options.decision->format.empty();
  chosen.to_weigh = asked == "auto" && exchangeable && s_.may_move() && !is_decided;
  // A device usually has the facts with the traits.
  if (S == Space::device || !chosen.to_weigh) estimates.expect_iterations(a);
  if (is_decided) {
    take_decided_format(a, asked == "measure");
  } else if (chosen.to_weigh) {
    chosen.format.format = "csr";
  } else if (asked == "auto") {
    measure_host_for_expected(s_, a);
    chosen.format = estimates.compare_formats(a);
  } else {
    const double products = options.expected_products > 0 ? options.expected_products
                                                          : s_.first_method().products * chosen.expected_iterations;
    chosen.format = measure_formats(s_.ctx, a, options.spmv, products, !s_.given_order());
  }
  options.spmv.format = chosen.format.format;
}

// The formats are compared all the same, for what may follow and for those who ask. A preconditioner that was
// renumbered when the format came is made in CSR again, since that of the renumbered matrix differs by rounding.
template <class T, Space S>
void OperatorBuilder<T, S>::take_decided_format(const CsrView<T, S>& a, bool measured) {
  const SystemDecision& d = *s_.options.decision;
  SystemChoices& chosen = s_.chosen;
  if (!measured) {
    const std::string asked = s_.options.precond.name;
    if (!d.expected.preconditioner.empty()) s_.options.precond.name = d.expected.preconditioner;
    chosen.format = SystemEstimates<T, S>(s_).compare_formats(a);
    s_.options.precond.name = asked;
  }
  chosen.order_follows = d.preconditioner_first;
  chosen.format.format = d.preconditioner_first ? "csr" : d.format;
  chosen.format.reason = d.reasons.format;
  chosen.format.measured = measured;
  chosen.expected_format = d.expected.format;
  if (d.expected.iterations > 0) chosen.expected_iterations = d.expected.iterations;
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

namespace {

// The seconds of iterations, which were those of another format, or of the one that was expected.
template <class T, Space S>
void expect_present_format(Operators<T, S>& s, std::optional<PrecondOutlooks>& outlooks) {
  const IterationModel model = SystemEstimates<T, S>(s).model();
  const std::optional<CostEstimate> product = outlooks ? model.product(s.options.spmv.format) : std::nullopt;
  if (!product) return;
  const auto expect = [&](PrecondOutlook& outlook) {
    outlook.iteration_seconds = outlook.now_seconds = model.iteration(outlook.name, *product).seconds;
  };
  expect(outlooks->present);
  for (PrecondOutlook& outlook : outlooks->stronger) expect(outlook);
}

// What takes the place of A, M and their order.
template <class T, Space S>
struct Rebuilt {
  RowOrder<S> order;
  OperatorPtr<T, S> A, M;
  std::unique_ptr<FixedUnknowns<T, S>> fixed;
  bool renumbered = false, same_preconditioner = false;
};

// M comes last: to renumber it may take it apart.
template <class T, Space S>
Rebuilt<T, S> rebuilt(const Operators<T, S>& s, const OperatorBuilder<T, S>& builder, const CsrView<T, S>& a,
                      RowOrder<S> order) {
  Rebuilt<T, S> next;
  next.order = std::move(order);
  builder.require_memory(a, next.order);
  PermutedCsr<T, S> permuted;
  const CsrView<T, S> view = builder.in_order(a, next.order, permuted);
  next.A = make_spmv(s.ctx, view, next.order, s.options.spmv);
  next.fixed = builder.fixed(builder.free_unknowns(a), next.order);
  const bool has_precond = s.M != nullptr;
  if (has_precond) next.M = s.M->renumbered(s.ctx, next.order, precond_spmv(s.options.precond, s.options.spmv));
  next.renumbered = next.M != nullptr;
  next.same_preconditioner = !has_precond || next.renumbered || !s.M->traits().diagonal.empty();
  if (!has_precond || next.renumbered) return next;
  if (s.chosen.precond_older)
    throw InputError("the preconditioner is older than the matrix and cannot be set up again");
  next.M = s.parts.make_preconditioner != nullptr
               ? s.parts.make_preconditioner(s.ctx, view, next.order)
               : make_precond(s.ctx, view, next.order, s.options.precond, s.options.spmv);
  return next;
}

// The choices of a system in that format.
template <class T, Space S>
void choose_other_format(Operators<T, S>& s, const std::string& format) {
  s.chosen.order_follows = false;
  s.chosen.format.reason = "replaced " + s.chosen.format.format;
  s.chosen.expected_format = s.chosen.format.format = s.options.spmv.format = format;
  expect_present_format(s, s.chosen.outlooks);
  expect_present_format(s, s.chosen.weaker_outlooks);
}

}  // namespace

template <class T, Space S>
bool rebuild_in_format(Operators<T, S>& s, const std::string& format) {
  SystemEstimates<T, S>(s).weigh();
  const std::optional<CsrView<T, S>> csr = s.A->as_csr();
  if (!csr || !s.order.natural() || s.given_order() || !s.sound() || !s.made.empty()) return false;
  const OperatorBuilder<T, S> builder(s);
  const SystemChoices before = s.chosen;
  const std::string former = s.options.spmv.format;
  const bool callers = before.order_follows && !(s.options.old_of_new.empty() && s.options.part_begin.empty());
  Rebuilt<T, S> next;
  try {
    choose_other_format(s, format);
    next = rebuilt(s, builder, *csr,
                   callers ? callers_order(s.ctx, s.options, csr->rows)
                           : plan_order<T>(s.ctx, Pattern<S>(*csr), s.options.spmv));
  } catch (...) {
    s.chosen = before;
    s.options.spmv.format = former;
    throw;
  }
  const OperatorPtr<T, S> of_csr = std::exchange(s.A, std::move(next.A));
  s.M = std::move(next.M);
  s.weaker.reset();
  s.order = std::move(next.order);
  s.fixed = std::move(next.fixed);
  s.renumbered_serial = next.renumbered ? s.M->serial() : 0;
  s.same_preconditioner = next.same_preconditioner;
  s.source.emplace(s.ctx, *s.A, s.order);
  builder.keep_source(*csr);
  s.source->keep_values(*csr);
  return true;
}

#define X(T, S)                                                                                           \
  template class OperatorBuilder<T, S>;                                                                   \
  template std::unique_ptr<Operators<T, S>> build(const Context<S>&, const CsrView<T, S>&, SystemOptions, \
                                                  SystemParts<T, S>, bool, const BeginsWithout<T, S>&);   \
  template bool rebuild_in_format(Operators<T, S>&, const std::string&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

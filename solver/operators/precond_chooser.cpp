// SPDX-License-Identifier: Apache-2.0
// The preconditioner that a system begins with.
#include "solver/operators/precond_chooser.hpp"

#include <algorithm>

#include <newel/core/vector_ops.hpp>
#include <newel/precond/registry.hpp>
#include "core/memory/work_limit.hpp"
#include "core/text/number_text.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/random.hpp"
#include "precond/build_cost.hpp"
#include "precond/mirrored_constraints.hpp"
#include "solver/cost/profiles/decision_constants.hpp"
#include "solver/operators/block_method.hpp"
#include "solver/operators/system_estimates.hpp"

namespace newel::detail {
namespace {

constexpr int trial_iterations = 32;
constexpr double enough_of_blocks = 1e-2;  // of the residual, for a trial of the preconditioner for saddle points

}  // namespace

double trial_entry(std::int64_t i) { return random_uniform(0, static_cast<std::uint64_t>(i)); }

template <class T, Space S>
PrecondTrial try_precond(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                         const std::vector<T>& b, const std::string& solver, const SystemOptions& options) {
  const Index n = A.rows();
  StopCriterion stop = options.stop;
  stop.max_iterations = std::min(trial_iterations, stop.max_iterations);
  stop.rel_tol = tolerance_for_estimates(stop.rel_tol);
  stop.abs_tol = 0;             // it is for the caller's right-hand side
  stop.time_limit_seconds = 0;  // no clock decides
  SolverChain<T, S> first(ctx, chain_steps<T, S>(ctx, n, {solver}, options.solver), A, M,
                          options.null_space == NullSpace::constant);
  const Array<T, S> rhs = make_array(ctx, b);
  Array<T, S> x(ctx, n);
  fill<T, S>(ctx, T(0), x.span());
  const SolveReport report = first.solve(rhs.cspan(), x.span(), stop, {}, InitialGuess::zero);
  PrecondTrial trial;
  trial.iterations = report.iterations;
  trial.failed = report.status == Status::breakdown || report.status == Status::not_positive_definite ||
                 report.status == Status::not_finite || report.status == Status::diverged;
  for (const double residual : report.history) {
    if (report.history.front() > 0) trial.reduction = std::min(trial.reduction, residual / report.history.front());
  }
  return trial;
}

template <class T, Space S>
void PrecondChooser<T, S>::make(const CsrView<T, S>& a, bool may_follow) {
  const SystemOptions& options = s_.options;
  if (s_.parts.make_preconditioner != nullptr) {
    s_.M = s_.parts.make_preconditioner(s_.ctx, a, s_.order);
    require_size<LinearOperator<T, S>>(s_.M.get(), a.rows, "the preconditioner that was made");
    return;
  }
  if (canonical_name(options.precond.name) != "auto") {
    s_.M = make_precond(s_.ctx, a, s_.order, options.precond, options.spmv);
    return;
  }
  if (options.decision && !options.decision->preconditioner.empty()) return take_decided(a, may_follow);
  choose(a, may_follow && s_.may_move() && s_.A->as_csr() && s_.order.natural());
  if (!s_.first_method().from_matrix()) list_candidates();
  if (is_needless(s_)) SystemEstimates<T, S>(s_).compare_formats_again();
}

template <class T, Space S>
void PrecondChooser<T, S>::put_off() {
  s_.options.precond.name = "none";
  s_.chosen.precond_reason = "factors of the matrix come first";
  s_.chosen.precond_chosen = true;
  list_candidates();
}

// Where a solve may change it on its way, it begins with the simple one, and what else pays is weighed later.
template <class T, Space S>
void PrecondChooser<T, S>::choose(const CsrView<T, S>& a, bool may_follow) {
  SystemOptions& options = s_.options;
  SystemChoices& chosen = s_.chosen;
  chosen.precond_chosen = true;
  if (chosen.diagonal && invert_diagonal(a)) return;
  if (s_.first_method().from_matrix()) {
    options.precond.name = "none";
    chosen.precond_reason = "the solver is set up from the matrix";
    return;
  }
  if (may_follow && begin_with_blocks(a)) return;
  SystemEstimates<T, S> estimates(s_);
  const bool put_off = chosen.to_weigh && may_follow && simple_preconditioner(*chosen.traits) != nullptr &&
                       !stronger_preconditioners(*chosen.traits).empty();
  if (!put_off) estimates.expect_iterations(a);
  PrecondUse use = put_off ? PrecondUse{*chosen.traits} : estimates.precond_use();
  use.later = may_follow;
  const TryPrecond<T, S> attempt = [&](const LinearOperator<T, S>* candidate) { return tried(candidate); };
  ChosenPrecond<T, S> found = choose_precond<T, S>(s_.ctx, a, s_.order, options.precond, options.spmv, use, attempt);
  s_.M = std::move(found.M);
  options.precond.name = found.choice.name;
  chosen.precond_reason = found.choice.reason;
  chosen.provisional = found.choice.provisional;
}

// False where it has zeros, or entries without an inverse, on which the usual choice has the say.
template <class T, Space S>
bool PrecondChooser<T, S>::invert_diagonal(const CsrView<T, S>& a) {
  const PrecondMethod* const simple = automatic_preconditioner(AutoPrecond::simple);
  if (simple == nullptr || (simple->divides_by_diagonal && !s_.chosen.traits->full_diagonal())) return false;
  PrecondOptions named = s_.options.precond;
  named.name = simple->name;
  try {
    s_.M = make_precond(s_.ctx, a, s_.order, named, s_.options.spmv);
  } catch (const InputError&) {
    return false;
  }
  s_.options.precond.name = named.name;
  s_.chosen.precond_reason = "the inverse of a diagonal matrix";
  return true;
}

// A symmetric saddle point whose solve with the simple preconditioner is estimated to take longer. It begins with the
// block-triangular form and a method for that: the diagonal form, which MINRES could move to, takes twice the
// iterations.
template <class T, Space S>
bool PrecondChooser<T, S>::begin_with_blocks(const CsrView<T, S>& a) {
  if constexpr (S == Space::host) {
    SystemChoices& chosen = s_.chosen;
    const PrecondMethod* const simple = simple_preconditioner(*chosen.traits);
    const PrecondMethod* const blocks = automatic_preconditioner(AutoPrecond::saddle);
    if (!may_choose_blocks(s_.options) || simple == nullptr || blocks == nullptr) return false;
    SystemEstimates<T, S> estimates(s_);
    if (!estimates.kind().saddle || chosen.traits->constraints_of(a) != ConstraintKind::usual) return false;
    estimates.facts(a);
    estimates.expect_iterations(a);
    const IterationModel model = estimates.model();
    const std::optional<CostEstimate> product = model.product(s_.options.spmv.format);
    if (!product) return false;
    const auto seconds = [&](double iterations, const PrecondMethod& method) {
      return iterations * model.iteration(method.name, *product).seconds;
    };
    KnownValues values;
    values.matrix = a;
    const PrecondSeconds setup =
        build_seconds(s_.ctx, Pattern<S>(a), *blocks, s_.options.precond, &s_.machine, &values);
    const double expected = chosen.expected_iterations;
    const double of_blocks = ReachIterations::of_triangular_saddle * iterations_with(*blocks)(expected);
    const double by_simple = seconds(expected, *simple);
    const double by_blocks = setup.build + setup.iteration_share * seconds(of_blocks, *blocks);
    if (!(by_blocks < by_simple) || setup.build > work_limit(s_.ctx).seconds_left()) return false;
    PrecondOptions named = s_.options.precond;
    named.name = blocks->name;
    named.symmetric = false;
    try {
      s_.M = make_precond(s_.ctx, a, s_.order, named, s_.options.spmv);
    } catch (const InputError&) {
      return false;
    } catch (const OutOfMemory&) {
      return false;
    }
    s_.options.precond = std::move(named);
    chosen.precond_reason = "a saddle point, for which " + plain_number(expected, 2) + " iterations with " +
                            simple->name + " are expected";
    choose_solver_of_blocks(chosen);
    return true;
  }
  return false;
}

// What may follow a chosen preconditioner that fails: for saddle points that are not symmetric theirs, the simple
// one, the stronger ones, none. For matrices that are not symmetric the strongest comes first, since the table has
// them by their price.
template <class T, Space S>
void PrecondChooser<T, S>::list_candidates() {
  std::vector<std::string>& untried = s_.chosen.untried;
  const std::string& present = s_.options.precond.name;
  const bool symmetric = s_.chosen.traits->symmetric();
  const bool definite = symmetric && s_.chosen.traits->positive_diagonal();
  for (const AutoPrecond use : {AutoPrecond::saddle, AutoPrecond::simple, AutoPrecond::symmetric,
                                AutoPrecond::definite, AutoPrecond::elliptic, AutoPrecond::general}) {
    if (use == AutoPrecond::saddle && (symmetric || !is_saddle_point(*s_.chosen.traits))) continue;
    if (use == AutoPrecond::symmetric && (!symmetric || definite)) continue;
    if (use == AutoPrecond::definite && !definite) continue;
    if (use == AutoPrecond::elliptic && (symmetric || !s_.chosen.traits->elliptic())) continue;
    std::vector<const PrecondMethod*> methods = automatic_preconditioners(use);
    if (use == AutoPrecond::general && !symmetric) std::reverse(methods.begin(), methods.end());
    for (const PrecondMethod* const method : methods) {
      if (method->name != present) untried.push_back(method->name);
    }
  }
  if (present != "none") untried.push_back("none");
}

// With an M for a saddle point b is in the range of A: many have a null vector, the constant pressure, and a residual
// that is not in the range would stay whatever M is.
template <class T, Space S>
PrecondTrial PrecondChooser<T, S>::tried(const LinearOperator<T, S>* candidate) const {
  std::vector<T> b(static_cast<std::size_t>(s_.A->rows()));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(trial_entry(static_cast<std::int64_t>(i)));
  if (candidate != nullptr && is_saddle_point(*s_.chosen.traits)) {
    const Array<T, S> x = make_array(s_.ctx, b);
    Array<T, S> product(s_.ctx, x.size());
    s_.A->apply(s_.ctx, T(1), x.cspan(), T(0), product.span());
    b = to_vector(s_.ctx, product.cspan());
  }
  const std::string& solver = s_.chosen.solvers.order.front();
  const PrecondMethod* const blocks = automatic_preconditioner(AutoPrecond::saddle);
  if (candidate == nullptr || blocks == nullptr || candidate->info().name != blocks->name) {
    return try_precond<T, S>(s_.ctx, *s_.A, candidate, b, solver, s_.options);
  }
  SystemOptions options = s_.options;  // whether it serves is asked, and no count to compare
  options.stop.rel_tol = std::max(options.stop.rel_tol, enough_of_blocks);
  return try_precond<T, S>(s_.ctx, *s_.A, candidate, b, solver, options);
}

namespace {

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

}  // namespace

template <class T, Space S>
void PrecondChooser<T, S>::take_decided(const CsrView<T, S>& a, bool may_follow) {
  const SystemDecision& d = *s_.options.decision;
  SystemChoices& chosen = s_.chosen;
  SystemEstimates<T, S> estimates(s_);
  estimates.facts(a);
  estimates.inspect_values(a);
  s_.options.precond.name = d.preconditioner;
  s_.M = make_precond(s_.ctx, a, s_.order, s_.options.precond, s_.options.spmv);
  if (d.expected.iterations > 0) chosen.expected_iterations = d.expected.iterations;
  chosen.precond_reason = d.reasons.preconditioner;
  const bool is_for_blocks = s_.options.solver.name == "auto" && s_.first_method().name == solver_of_blocks()->name;
  if (is_for_blocks) chosen.usual_solvers = choose_solver(*chosen.traits);
  chosen.precond_chosen = true;
  chosen.provisional = d.provisional && may_follow;
  chosen.untried = d.untried;
  const auto complete = [&](PrecondOutlook& outlook) {
    detail::complete(s_, outlook);
    outlook.by_values = d.builds_by_values;
  };
  chosen.outlooks = outlooks(d.ranked, *chosen.traits, complete);
  chosen.builds = d.builds_by_values   ? BuildEstimates::values
                  : d.builds_estimated ? BuildEstimates::pattern
                                       : BuildEstimates::none;
  chosen.weaker_outlooks = outlooks(d.weaker, *chosen.traits, complete);
}

#define X(T, S)                                                                                                  \
  template PrecondTrial try_precond(const Context<S>&, const LinearOperator<T, S>&, const LinearOperator<T, S>*, \
                                    const std::vector<T>&, const std::string&, const SystemOptions&);            \
  template class PrecondChooser<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

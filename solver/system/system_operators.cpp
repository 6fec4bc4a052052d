// SPDX-License-Identifier: Apache-2.0
// Choosing and building A and M of a system.
#include "solver/system/system_operators.hpp"

#include <algorithm>

#include <newel/core/vector_ops.hpp>
#include <newel/precond/pattern_options.hpp>
#include "core/csr/empty_columns.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/random.hpp"
#include "solver/cost/iteration_cost.hpp"
#include "solver/krylov/division.hpp"
#include "spmv/cost/machine_speed.hpp"
#include "spmv/cost/matrix_facts.hpp"

namespace newel::detail {
namespace {

constexpr int trial_iterations = 32;

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

// The machine of the cost model. Where bits are to be the same, what a clock says has no part in it; where nothing is
// chosen, it is not asked.
template <Space S>
Machine machine_for(const Context<S>& ctx, const SystemOptions& options) {
  if constexpr (S == Space::device) {
    const bool chooses = is_format_choice(options.spmv.format) || canonical_name(options.precond.name) == "auto";
    if (chooses && !options.deterministic) {
      return measured_machine(ctx, options.spmv.plan_cache, options.estimate_scale.device_unknown);
    }
  }
  return machine_of(ctx);
}

// A right-hand side without structure that a preconditioner could like or dislike; the same on every machine.
template <class T>
std::vector<T> trial_rhs(Index n) {
  std::vector<T> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(random_uniform(0, i));
  return b;
}

}  // namespace

template <class T, Space S>
PlainOperators<T, S>::PlainOperators(const Context<S>& ctx, const CsrView<T, S>& a, SystemOptions options,
                                     SystemParts<T, S> parts, bool exchangeable)
    : ctx_(ctx), machine_(machine_for(ctx, options)), options_(std::move(options)), parts_(std::move(parts)) {
  take_parts(a.rows);
  if (options_.deterministic) require_same_bits(options_);
  timed(ctx_, setup_seconds_, "solver choice", [&] { choose_solver_for(a); });
  timed(ctx_, setup_seconds_, "format choice", [&] { choose_format(a, exchangeable); });
  timed(ctx_, setup_seconds_, "order",
        [&] { order_ = given_order() ? callers_order(a.rows) : plan_order<T>(ctx_, Pattern<S>(a), options_.spmv); });
  require_memory_of_choice(a);
  CsrView<T, S> view = a;
  PermutedCsr<T, S> permuted;
  if (!order_.natural()) {
    timed(ctx_, setup_seconds_, "permute", [&] { permuted = permute(ctx_, a, order_); });
    view = permuted.view();
  }
  timed(ctx_, setup_seconds_, "format",
        [&] { A_ = make_spmv(ctx_, view, order_, options_.spmv, chosen_.facts ? &*chosen_.facts : nullptr); });
  source_.emplace(ctx_, *A_, order_);
  timed(ctx_, setup_seconds_, "preconditioner", [&] { make_preconditioner(view, exchangeable); });
  if (!exchangeable) chosen_.untried.clear();
  make_from_matrix(view);
  fix_free_unknowns(a);
  keep_source(a);
  if (decided() != nullptr && chosen_.provisional) source_->keep_values(a);
  options_.decision.reset();
  options_.precond.of<PatternOptions>().pattern = nullptr;  // read, and no longer needed
}

// Where the memory for it is not there, no other preconditioner than none can follow.
template <class T, Space S>
void PlainOperators<T, S>::keep_source(const CsrView<T, S>& a) {
  if (!chosen_.untried.empty() && !source_->keep_pattern(a)) chosen_.untried = {"none"};
}

// Unknowns without entries, which no residual shows, keep the guess. Of a symmetric pattern the rows tell.
template <class T, Space S>
void PlainOperators<T, S>::fix_free_unknowns(const CsrView<T, S>& a) {
  if (chosen_.traits && chosen_.traits->pattern_symmetric && chosen_.traits->empty_rows.count == 0) return;
  std::vector<Index> free = empty_columns(ctx_, Pattern<S>(a));
  if (free.empty()) return;
  free_unknowns_ = {static_cast<Index>(free.size()), free.front()};
  if (!order_.natural()) {
    const std::vector<Index> new_of_old = to_vector(ctx_, order_.new_of_old.cspan());
    for (Index& j : free) j = new_of_old[static_cast<std::size_t>(j)];
  }
  fixed_unknowns_.emplace(ctx_, a.rows, free);
}

// An M of the caller's takes the place of the options'.
template <class T, Space S>
void PlainOperators<T, S>::take_parts(Index rows) {
  if (!parts_.has_preconditioner()) return;
  options_.precond.name = "none";
  chosen_.precond_reason = "the caller's";
  const LinearOperator<T, S>* const own = parts_.preconditioner.get();
  if (own == nullptr) return;
  if (parts_.make_preconditioner != nullptr) {
    throw InputError("SystemParts: a preconditioner or a factory of one, not both");
  }
  require_size(own, rows, "the preconditioner");
  if (!options_.old_of_new.empty()) {
    throw InputError("SystemParts::preconditioner is in the caller's numbering, beside which there is no old_of_new");
  }
}

// The least that may be chosen was there before anything was allocated; now the choice is known.
template <class T, Space S>
void PlainOperators<T, S>::require_memory_of_choice(const CsrView<T, S>& a) const {
  SolverOptions first = options_.solver;
  first.name = chosen_.solvers.order.front();
  SystemSize size{a.rows, a.nnz(), sizeof(T), !order_.natural()};
  size.columns = options_.columns;
  size.null_space = options_.null_space == NullSpace::constant;
  size.several_solvers = chosen_.solvers.order.size() > 1;
  require_memory(ctx_, estimate_system(options_.spmv, options_.precond, first, size));
}

template <class T, Space S>
RowOrder<S> PlainOperators<T, S>::callers_order(Index rows) const {
  check_part_bounds(options_.part_begin, rows);
  if (!options_.old_of_new.empty()) return make_row_order(ctx_, options_.old_of_new, options_.part_begin);
  RowOrder<S> natural;
  natural.part_begin = options_.part_begin;
  return natural;
}

// A device gives the facts of the pattern with the traits, where both are wanted, in hardly more time.
template <class T, Space S>
void PlainOperators<T, S>::find_traits(const CsrView<T, S>& a) {
  if constexpr (S == Space::device) {
    const bool choose_precond = canonical_name(options_.precond.name) == "auto";
    if (!chosen_.facts && (choose_precond || is_format_choice(options_.spmv.format))) {
      MatrixFacts found = matrix_facts(ctx_, a);
      chosen_.traits = found.traits;
      chosen_.facts = std::move(found.pattern);
      return;
    }
  }
  chosen_.traits = matrix_traits(ctx_, a);
}

template <class T, Space S>
void PlainOperators<T, S>::choose_solver_for(const CsrView<T, S>& a) {
  const bool choose_precond = canonical_name(options_.precond.name) == "auto";
  if (decided() != nullptr && decided()->traits) {
    chosen_.traits = decided()->traits;
    chosen_.traits_older = decided()->traits_older;
  } else if (options_.solver.name == "auto" || choose_precond) {
    find_traits(a);
  }
  if (options_.solver.name == "auto" && decided() != nullptr && !decided()->solvers.empty()) {
    chosen_.solvers = {decided()->solvers, decided()->solver_reason};
  } else if (options_.solver.name == "auto") {
    chosen_.solvers = choose_solver(*chosen_.traits);
  } else {
    chosen_.solvers = {{find_solver(options_.solver.name).name}, "requested"};
  }
  if (first_method().demands != Demand::nothing) options_.precond.symmetric = true;
  const bool may_divide =
      options_.solver.name == "auto" ? solver_of_diagonal() != nullptr : first_method().demands == Demand::diagonal;
  chosen_.diagonal = choose_precond && may_divide && options_.null_space == NullSpace::none &&
                     is_diagonal(*chosen_.traits, a.rows, a.nnz());
}

template <class T, Space S>
void PlainOperators<T, S>::make_preconditioner(const CsrView<T, S>& a, bool may_follow) {
  if (parts_.make_preconditioner != nullptr) {
    M_ = parts_.make_preconditioner(ctx_, a, order_);
    require_size<LinearOperator<T, S>>(M_.get(), a.rows, "the preconditioner that was made");
    return;
  }
  if (canonical_name(options_.precond.name) != "auto") {
    M_ = make_precond(ctx_, a, order_, options_.precond, options_.spmv);
    return;
  }
  if (decided() != nullptr && !decided()->preconditioner.empty()) return take_decided_preconditioner(a, may_follow);
  choose_preconditioner(a, may_follow && changes_on_its_way() && A_->as_csr() && order_.natural());
  if (!first_method().from_matrix()) list_candidates();
  if (needless()) estimate_formats();
}

// What the choice of a preconditioner goes by, once iterations are expected.
template <class T, Space S>
PrecondUse PlainOperators<T, S>::precond_use() const {
  PrecondUse use{*chosen_.traits, tolerance_for_estimates(options_.stop.rel_tol), options_.expected_products};
  use.precond_products = first_method().precond_products;
  use.expected_iterations = chosen_.expected_iterations;
  if (const std::optional<CostEstimate> product = product_estimate(options_.spmv.format)) {
    use.iteration_seconds = [this, product = *product](const std::string& name) {
      return iteration_estimate(name, product).seconds;
    };
  }
  use.iteration_bytes = iteration_bytes();
  return use;
}

// Where a solve may change it on its way, it begins with the simple one, and what else pays is weighed later.
template <class T, Space S>
void PlainOperators<T, S>::choose_preconditioner(const CsrView<T, S>& a, bool may_follow) {
  chosen_.precond_chosen = true;
  if (chosen_.diagonal && invert_diagonal(a)) return;
  if (first_method().from_matrix()) {
    options_.precond.name = "none";
    chosen_.precond_reason = "the solver is made from the matrix";
    return;
  }
  const bool put_off = to_weigh_ && may_follow && simple_preconditioner(*chosen_.traits) != nullptr &&
                       !newel::stronger_preconditioners(*chosen_.traits).empty();
  if (!put_off) expect_iterations(a);
  PrecondUse use = put_off ? PrecondUse{*chosen_.traits} : precond_use();
  use.later = may_follow;
  const TryPrecond<T, S> attempt = [&](const LinearOperator<T, S>* candidate) { return tried(candidate); };
  ChosenPrecond<T, S> chosen = choose_precond<T, S>(ctx_, a, order_, options_.precond, options_.spmv, use, attempt);
  M_ = std::move(chosen.M);
  options_.precond.name = chosen.choice.name;
  chosen_.precond_reason = chosen.choice.reason;
  chosen_.provisional = chosen.choice.provisional;
}

// False where it has zeros, or entries without an inverse, on which the usual choice has the say.
template <class T, Space S>
bool PlainOperators<T, S>::invert_diagonal(const CsrView<T, S>& a) {
  const PrecondMethod* const simple = simple_preconditioner(*chosen_.traits);
  if (simple == nullptr) return false;
  PrecondOptions named = options_.precond;
  named.name = simple->name;
  try {
    M_ = make_precond(ctx_, a, order_, named, options_.spmv);
  } catch (const InputError&) {
    return false;
  }
  options_.precond.name = named.name;
  chosen_.precond_reason = "the inverse of a diagonal matrix";
  return true;
}

// What may follow a chosen preconditioner that fails: the simple one, the stronger ones, none.
template <class T, Space S>
void PlainOperators<T, S>::list_candidates() {
  for (const AutoPrecond use : {AutoPrecond::simple, AutoPrecond::definite, AutoPrecond::general}) {
    const bool definite = chosen_.traits->symmetric() && chosen_.traits->positive_diagonal();
    if (use == AutoPrecond::definite && !definite) continue;
    for (const PrecondMethod* const method : automatic_preconditioners(use)) {
      if (method->name != options_.precond.name) chosen_.untried.push_back(method->name);
    }
  }
  if (options_.precond.name != "none") chosen_.untried.push_back("none");
}

// With the simple preconditioner. Fitted to diffusion and elasticity on 16 meshes, refined up to once: with 1 for all
// the estimates behind 16 to 64 iterations were 1.25 and 0.45 times what came, in the means of logarithms.
template <class T, Space S>
double PlainOperators<T, S>::of_usual_iterations() {
  weigh_alternatives();
  constexpr double of_blocks = 2, of_mesh = 0.65;
  if (present_iterations() != &simple_iterations) return 1;
  if (chosen_.facts && chosen_.facts->block > 1) return of_blocks;
  const NodeCoordinates* const nodes = options_.spmv.coordinates.get();
  const bool scalar =
      nodes != nullptr && static_cast<Offset>(nodes->xyz.size()) == Offset{A_->rows()} * nodes->dimension;
  return scalar ? of_mesh : 1;
}

// Whether nodes have no more neighbours than differences along the lines of a grid give them. Elements give them
// more.
template <class T, Space S>
bool PlainOperators<T, S>::is_stencil() const {
  if (!chosen_.facts || options_.spmv.coordinates == nullptr) return false;
  const int of_node = 2 * options_.spmv.coordinates->dimension + 1;
  const double rows = static_cast<double>(chosen_.facts->rows);
  return static_cast<double>(chosen_.facts->nonzeros) <= of_node * chosen_.facts->block * rows;
}

// On 27 meshes, diffusion and elasticity, b = 1 and b = A times a random x, all solves but those of one long thin
// body took 0.4 to 20 times what their size makes expect, that one 0.2 to 0.4 times; the matrix of a grid with seven
// entries in a row takes 0.27 times. Where most rows are damped, a step in time say, they may take far fewer. All of
// that is CG.
template <class T, Space S>
double PlainOperators<T, S>::sure_iterations(bool before) {
  constexpr double of_mesh = 1.0 / 3, of_any = 0.2;
  if (first_method().demands != Demand::definite || !undamped() || present_iterations() != &simple_iterations)
    return 0;
  if (before && origin() != MatrixOrigin::mesh) return 0;
  weigh_alternatives();
  const bool mesh = origin() == MatrixOrigin::mesh && !is_stencil();
  if (before && !mesh) return 0;
  return (mesh ? of_mesh : of_any) * chosen_.expected_iterations / options_.estimate_scale.iterations;  // no estimate
}

// What an iteration of the first solver moves, without M: its products with A, and vectors as often as they are read
// or written, the basis of GMRES on average.
template <class T, Space S>
double PlainOperators<T, S>::iteration_bytes() const {
  const SolverMethod& method = first_method();
  const double vectors =
      method.vector_passes != nullptr ? method.vector_passes(options_.solver, A_->rows(), sizeof(T)) : 0;
  return method.products * static_cast<double>(A_->info().bytes_per_product) +
         vectors * static_cast<double>(A_->rows()) * sizeof(T);
}

template <class T, Space S>
PrecondTrial PlainOperators<T, S>::tried(const LinearOperator<T, S>* candidate) {
  StopCriterion stop = options_.stop;
  stop.max_iterations = std::min(trial_iterations, stop.max_iterations);
  stop.rel_tol = tolerance_for_estimates(stop.rel_tol);
  stop.abs_tol = 0;             // it is for the caller's right-hand side
  stop.time_limit_seconds = 0;  // no clock decides
  SolverChain<T, S> first(ctx_, chain_steps<T, S>(ctx_, A_->rows(), {chosen_.solvers.order.front()}, options_.solver),
                          *A_, candidate, options_.null_space == NullSpace::constant);
  const Index n = A_->rows();
  const Array<T, S> b = make_array(ctx_, trial_rhs<T>(n));
  Array<T, S> x(ctx_, n);
  fill<T, S>(ctx_, T(0), x.span());
  const SolveReport report = first.solve(b.cspan(), x.span(), stop, {}, InitialGuess::zero);
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
template <class Renew>
void PlainOperators<T, S>::renew_preconditioner(RefreshScope scope, Renew&& renew) {
  chosen_.precond_older = scope == RefreshScope::operator_only;
  if (M_ == nullptr || chosen_.precond_older) return;
  precond_sound_ = false;
  renew();
  precond_sound_ = true;
}

template <class T, Space S>
Slots<T, S> PlainOperators<T, S>::matrix_slots() {
  for (const auto& [method, solver] : made_) {
    if (method->keeps_values) {
      throw InputError("solver '" + method->name + "' keeps values of the matrix: pass new ones to `refresh`");
    }
  }
  return A_->slots(ctx_);
}

template <class T, Space S>
void PlainOperators<T, S>::refresh(Span<const T, S> values, RefreshScope scope) {
  matrix_sound_ = false;
  chosen_.traits_older = true;
  A_->refresh(ctx_, values);
  const bool may_follow = chosen_.provisional && !(chosen_.outlooks && chosen_.outlooks->stronger.empty());
  source_->renew_values(values, may_follow || chosen_.weaker_outlooks);
  for (const auto& [method, solver] : made_) solver->refresh(ctx_, values);
  matrix_sound_ = true;
  renew_preconditioner(scope, [&] { M_->refresh(ctx_, values); });
}

template <class T, Space S>
void PlainOperators<T, S>::move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) {
  const NodeCoordinates* const before = options_.spmv.coordinates.get();
  if (before == nullptr) {
    throw InputError("nodes that move need the coordinates that they had: SpmvOptions::coordinates");
  }
  if (coordinates == nullptr || coordinates->dimension != before->dimension ||
      coordinates->xyz.size() != before->xyz.size()) {
    throw InputError("expected as many coordinates as before, " + std::to_string(before->xyz.size()) + " in " +
                     std::to_string(before->dimension) + " dimensions");
  }
  require_finite(*coordinates);
  options_.spmv.coordinates = std::move(coordinates);
  if (M_ != nullptr) M_->move_nodes(ctx_, *options_.spmv.coordinates);
}

template <class T, Space S>
void PlainOperators<T, S>::slots_written(RefreshScope scope) {
  matrix_sound_ = false;
  chosen_.traits_older = true;
  A_->slots_written(ctx_);
  source_->forget_values();
  matrix_sound_ = true;
  renew_preconditioner(scope, [&] { M_->slots_written(ctx_); });
}

template <class T, Space S>
SystemInfo PlainOperators<T, S>::info() {
  weigh_alternatives();
  SystemInfo info;
  info.matrix = A_->info();
  info.preconditioner = info_of_precond(preconditioner(), A_->rows());
  info.preconditioner_reason = chosen_.precond_reason;
  if (needless()) info.preconditioner_reason.add("; of a constant diagonal it changes nothing, and is left out");
  info.method = chosen_.solvers.order.front();
  const bool divided = divides() && options_.solver.name == "auto";
  info.solver = divided ? solver_of_diagonal()->name : info.method;
  info.solver_reason = divided ? "a diagonal matrix" : chosen_.solvers.reason;
  info.format = chosen_.format;
  info.order = order_.report;
  info.reordered = !order_.natural();
  info.free_unknowns = free_unknowns_;
  info.setup_seconds = setup_seconds_;
  return info;
}

#define X(T, S) template class PlainOperators<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

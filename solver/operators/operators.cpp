// SPDX-License-Identifier: Apache-2.0
// A and M: what solves apply, new values, and what they are.
#include "solver/operators/operators.hpp"

#include <algorithm>

#include "core/vectors/instantiate.hpp"
#include "solver/krylov/mixed/mixed_solvers.hpp"
#include "solver/operators/single_copy.hpp"

namespace newel::detail {

template <class T, Space S>
Operators<T, S>::Operators(const Context<S>& context, SystemOptions decided, SystemParts<T, S> callers)
    : ctx(context), options(std::move(decided)), parts(std::move(callers)) {}
template <class T, Space S>
Operators<T, S>::~Operators() = default;

template <class T, Space S>
const LinearOperator<T, S>* Operators<T, S>::applied_preconditioner() const {
  const LinearOperator<T, S>* const applied = is_needless(*this) ? nullptr : preconditioner();
  if (fixed == nullptr) return applied;
  fixed->set_inner(applied);
  return fixed.get();
}

template <class T, Space S>
const RowOrder<S>& Operators<T, S>::row_order() const {
  return single != nullptr && single->system() != nullptr ? single->system()->order : order;
}

template <class T, Space S>
bool Operators<T, S>::given_order() const {
  const bool in_options = !options.old_of_new.empty() || !options.part_begin.empty();
  return (in_options && !chosen.order_follows) || parts.preconditioner != nullptr;
}

template <class T, Space S>
bool Operators<T, S>::may_move() const {
  return options.expected_products == 0 && options.columns == 1 && options.null_space == NullSpace::none &&
         !given_order() && !first_method().from_matrix();
}

template <class T, Space S>
SolverChain<T, S> make_chain(const Operators<T, S>& s, Recycling<T, S>* recycling) {
  const Index n = s.matrix().rows();
  std::vector<std::string> names = s.chosen.solvers.order;
  if (divides(s) && s.options.solver.name == "auto") names.insert(names.begin(), solver_of_diagonal()->name);
  std::vector<ChainStep<T, S>> steps;
  for (const std::string& name : names) {
    const SolverMethod* const method = &find_solver(name);
    const auto found =
        std::find_if(s.made.begin(), s.made.end(), [&](const auto& one) { return one.first == method; });
    if (found == s.made.end()) {
      steps.push_back(chain_steps<T, S>(s.ctx, n, {name}, s.options.solver).front());
    } else {
      steps.push_back({name, method, false, [solver = found->second] { return solver; }});
    }
  }
  if constexpr (std::is_same_v<T, double>) {
    if (s.single != nullptr) {
      steps = with_mixed_step<S>(s.ctx, std::move(steps), s.single->iterated(), s.options.solver);
    }
  }
  const bool constant = s.options.null_space == NullSpace::constant;
  return {s.ctx, std::move(steps), s.matrix(), s.applied_preconditioner(), constant, recycling};
}

namespace {

[[noreturn]] void refuse_values() {
  throw InputError(
      "this system was given an operator, which has no values to replace: change the operator and call "
      "operator_changed");
}

// New values of A are there; `renew` makes those of M.
template <class T, Space S, class Renew>
void renew_preconditioner(Operators<T, S>& s, RefreshScope scope, Renew&& renew) {
  s.chosen.precond_older = scope == RefreshScope::operator_only;
  if (s.M == nullptr || s.chosen.precond_older) return;
  s.precond_sound = false;
  renew();
  s.precond_sound = true;
}

// In a named format "auto" chooses the preconditioner once, by values that are no longer there: a stronger one may
// follow from now on. On a device a solve that may change takes longer.
template <class T, Space S>
void reconsider_preconditioner(Operators<T, S>& s) {
  SystemChoices& chosen = s.chosen;
  const bool was_chosen = chosen.precond_chosen && !chosen.provisional && chosen.format.trials.empty();
  if (S == Space::device || !was_chosen || chosen.diagonal || !chosen.traits || !s.source || !s.may_move()) return;
  const PrecondMethod* const simple = simple_preconditioner(*chosen.traits);
  chosen.provisional = simple != nullptr && s.options.precond.name == simple->name;
}

}  // namespace

template <class T, Space S>
void Operators<T, S>::refresh(Span<const T, S> values, RefreshScope scope) {
  if (A == nullptr) refuse_values();
  matrix_sound = false;
  chosen.traits_older = true;
  A->refresh(ctx, values);
  if constexpr (std::is_same_v<T, double>) {
    if (single != nullptr) {
      single->refresh(ctx, values, scope);
      matrix_sound = true;
      return;
    }
  }
  reconsider_preconditioner(*this);
  const bool may_follow = chosen.provisional && !(chosen.outlooks && chosen.outlooks->stronger.empty());
  if (source) source->renew_values(values, may_follow || chosen.weaker_outlooks);
  for (const auto& [method, solver] : made) solver->refresh(ctx, values);
  matrix_sound = true;
  renew_preconditioner(*this, scope, [&] { M->refresh(ctx, values); });
}

template <class T, Space S>
void Operators<T, S>::require_slots() const {
  if (A == nullptr) refuse_values();
  if (single != nullptr)
    throw InputError("a system in mixed precision stores its values twice: pass new ones to `refresh`");
  for (const auto& [method, solver] : made) {
    if (!method->keeps_values) continue;
    throw InputError("solver '" + method->name + "' keeps values of the matrix: pass new ones to `refresh`");
  }
}

template <class T, Space S>
void Operators<T, S>::slots_written(RefreshScope scope) {
  require_slots();
  matrix_sound = false;
  chosen.traits_older = true;
  A->slots_written(ctx);
  if (source) source->forget_values();
  matrix_sound = true;
  renew_preconditioner(*this, scope, [&] { M->slots_written(ctx); });
}

template <class T, Space S>
void Operators<T, S>::operator_changed(RefreshScope scope) {
  if (given == nullptr || scope == RefreshScope::operator_only) return;
  precond_sound = false;
  if (M != nullptr) M->refresh(ctx, {});
  if (single != nullptr) single->operator_changed(ctx);
  precond_sound = true;
}

template <class T, Space S>
void Operators<T, S>::move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) {
  if (A == nullptr) throw InputError("this system was given an operator and cannot use coordinates");
  if (single != nullptr) return single->system()->move_nodes(std::move(coordinates));
  const NodeCoordinates* const before = options.spmv.coordinates.get();
  if (before == nullptr) {
    throw InputError("moving nodes needs their coordinates at setup: SpmvOptions::coordinates");
  }
  if (coordinates == nullptr || coordinates->dimension != before->dimension ||
      coordinates->xyz.size() != before->xyz.size()) {
    throw InputError("expected as many coordinates as before, " + std::to_string(before->xyz.size()) + " in " +
                     std::to_string(before->dimension) + " dimensions");
  }
  require_finite(*coordinates);
  options.spmv.coordinates = std::move(coordinates);
  if (M != nullptr) M->move_nodes(ctx, *options.spmv.coordinates);
}

template <class T, Space S>
bool Operators<T, S>::sound() const {
  const bool low_sound = single == nullptr || single->system() == nullptr || single->system()->sound();
  return matrix_sound && precond_sound && low_sound;
}

namespace {

// What `op` says of itself, with `name` if it has none.
template <class T, Space S>
OperatorInfo info_of(const LinearOperator<T, S>& op, const char* name) {
  OperatorInfo info = op.info();
  if (info.name.empty()) info.name = name;
  return info;
}

// The same of M, which may be null, for n unknowns.
template <class T, Space S>
OperatorInfo info_of_precond(const LinearOperator<T, S>* M, Index n) {
  if (M != nullptr) return info_of(*M, "own");
  OperatorInfo none;
  none.name = "none";
  none.rows = none.cols = n;
  return none;
}

template <Space S>
SystemInfo info_of_copy(const SingleCopy<S>& copy, const OperatorInfo& in_double) {
  SystemInfo info = newel::detail::info_of(*copy.system());
  info.residual_matrix = in_double;
  info.residual_matrix.bytes.emplace_back("rounded values", copy.value_bytes());
  return info;
}

}  // namespace

template <class T, Space S>
SystemInfo info_of(const Operators<T, S>& s) {
  const bool copied = s.single != nullptr && s.single->system() != nullptr;
  SystemInfo info = copied ? info_of_copy(*s.single, s.A->info()) : SystemInfo{};
  if (!copied) {
    info.matrix = info_of(s.matrix(), "operator");
    info.preconditioner = info_of_precond(s.preconditioner(), s.matrix().rows());
    info.preconditioner_reason = s.chosen.precond_reason;
    if (is_needless(s)) info.preconditioner_reason.add("; it is omitted, since a constant diagonal changes nothing");
    info.method = s.chosen.solvers.order.front();
    const bool divided = divides(s) && s.options.solver.name == "auto";
    info.solver = divided ? solver_of_diagonal()->name : info.method;
    info.solver_reason = divided ? "a diagonal matrix" : s.chosen.solvers.reason;
    info.format = s.chosen.format;
    info.order = s.order.report;
    info.reordered = !s.order.natural();
    info.free_unknowns = s.free_unknowns;
  }
  info.mixed = s.single != nullptr;
  if (info.mixed) info.solver = mixed_name(info.solver);
  info.setup_seconds = s.setup_seconds;
  return info;
}

#define X(T, S)                                                                    \
  template struct Operators<T, S>;                                                 \
  template SolverChain<T, S> make_chain(const Operators<T, S>&, Recycling<T, S>*); \
  template SystemInfo info_of(const Operators<T, S>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

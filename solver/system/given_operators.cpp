// SPDX-License-Identifier: Apache-2.0
// Systems whose A is an operator.
#include "solver/system/given_operators.hpp"

#include <newel/precond/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/symmetry.hpp"

namespace newel::detail {
namespace {

[[noreturn]] void refuse_values() {
  throw InputError(
      "this system was given an operator, which has no values to replace: change the operator and call "
      "operator_changed");
}

// "auto": what needs the diagonal alone, where the operator tells it.
template <class T, Space S>
OperatorPtr<T, S> precond_of_operator(const Context<S>& ctx, const LinearOperator<T, S>& a,
                                      const PrecondOptions& options, std::string& name) {
  name = "none";
  const std::string asked = canonical_name(options.name);
  if (asked == "none") return nullptr;
  const bool choose = asked == "auto";
  const PrecondMethod* const method =
      choose ? automatic_preconditioner(AutoPrecond::simple) : &find_preconditioner(asked);
  const auto make = method == nullptr ? nullptr : method->make_from_operator.template get<T, S>();
  if (make == nullptr) {
    if (choose) return nullptr;
    throw InputError("preconditioner '" + method->name +
                     "' needs the entries of the matrix, and this system was given an operator: hand over a matrix, "
                     "an M of your own (SystemParts::preconditioner), or ask for \"none\"");
  }
  if (method->check != nullptr) method->check(options);
  OperatorPtr<T, S> made = make(ctx, a, options);
  if (made == nullptr && choose) return nullptr;
  if (made == nullptr) {
    throw InputError("preconditioner '" + method->name +
                     "' needs the diagonal of the matrix, and this operator does not tell it: override "
                     "LinearOperator::matrix_diagonal, hand over an M of your own (SystemParts::preconditioner), or "
                     "ask for \"none\"");
  }
  name = method->name;
  return made;
}

}  // namespace

template <class T, Space S>
GivenOperators<T, S>::GivenOperators(const Context<S>& ctx, std::shared_ptr<const LinearOperator<T, S>> a,
                                     SystemOptions options, SystemParts<T, S> parts)
    : ctx_(ctx), options_(std::move(options)), parts_(std::move(parts)), A_(std::move(a)) {
  if (A_ == nullptr) throw InputError("a linear system needs an operator, not a null pointer");
  require_size(A_.get(), A_->rows(), "the operator");
  require_size(parts_.preconditioner.get(), A_->rows(), "the preconditioner");
  refuse_what_needs_entries();
  timed(ctx_, setup_seconds_, "preconditioner", [&] { make_preconditioner(); });
  if (options_.mixed) timed(ctx_, setup_seconds_, "single precision", [&] { make_low_system(); });
  timed(ctx_, setup_seconds_, "solver choice", [&] { choose_solver_for_operator(); });
}

template <class T, Space S>
void GivenOperators<T, S>::refuse_what_needs_entries() const {
  const auto refuse = [](const char* what) {
    throw InputError(std::string(what) + " needs a CSR matrix, and this system was given an operator");
  };
  if (canonical_name(options_.spmv.format) != "auto") refuse("SystemOptions::spmv.format");
  if (!options_.old_of_new.empty() || !options_.part_begin.empty()) refuse("an order or parts");
  if (parts_.make_preconditioner != nullptr || parts_.make_low_preconditioner != nullptr) {
    refuse("a factory of preconditioners");
  }
}

template <class T, Space S>
void GivenOperators<T, S>::make_preconditioner() {
  if (parts_.preconditioner != nullptr) {
    precond_reason_ = "the caller's";
    return;
  }
  M_ = precond_of_operator<T, S>(ctx_, *A_, options_.precond, precond_name_);
  if (canonical_name(options_.precond.name) == "auto") {
    precond_reason_ = M_ != nullptr ? "what the diagonal of an operator allows" : "no entry of the operator is known";
  }
}

template <class T, Space S>
void GivenOperators<T, S>::make_low_system() {
  if constexpr (!std::is_same_v<T, double>) {
    throw InputError("mixed precision is for systems in double");
  } else {
    const auto refuse = [](const char* what, const char* member) {
      throw InputError(std::string("mixed precision needs ") + what +
                       " in single precision too, and got it in double alone: SystemParts::" + member);
    };
    if (parts_.low_matrix == nullptr) refuse("the operator", "low_matrix");
    if (parts_.preconditioner != nullptr && parts_.low_preconditioner == nullptr) refuse("M", "low_preconditioner");
    require_size(parts_.low_matrix.get(), A_->rows(), "the operator in single precision");
    require_size(parts_.low_preconditioner.get(), A_->rows(), "the preconditioner in single precision");
    std::string name;
    if (parts_.low_preconditioner == nullptr) {
      low_M_ = precond_of_operator<float, S>(ctx_, *parts_.low_matrix, options_.precond, name);
    }
    const LinearOperator<float, S>* low = low_M_ != nullptr ? low_M_.get() : parts_.low_preconditioner.get();
    if (options_.null_space == NullSpace::constant) {
      low_zero_mean_ = std::make_unique<ZeroMeanPrecond<float, S>>(ctx_, A_->rows(), low);
    }
  }
}

// What two products show of the symmetry; a diagonal that is known says more.
template <class T, Space S>
void GivenOperators<T, S>::choose_solver_for_operator() {
  if (canonical_name(options_.solver.name) != "auto") {
    choice_ = {{find_solver(options_.solver.name).name}, "requested"};
    return;
  }
  MatrixTraits traits;
  traits.square = true;
  const Asymmetric fault = symmetry_fault<T, S>(ctx_, *A_, preconditioner());
  const bool symmetric = fault == Asymmetric::none;
  traits.pattern_symmetric = symmetric;
  traits.max_abs = 1;
  traits.max_asymmetry = traits.relative_asymmetry = symmetric ? 0 : 1;
  bool known = false;
  if (symmetric) {
    Array<T, S> diagonal(ctx_, A_->rows());
    known = A_->matrix_diagonal(ctx_, diagonal.span());
    const std::vector<T> values = known ? to_vector(ctx_, diagonal.cspan()) : std::vector<T>();
    for (const T value : values) traits.negative_diagonal.count += value > T(0) ? 0 : 1;
  }
  choice_ = choose_solver(traits);
  if (!symmetric) {
    choice_.reason =
        fault == Asymmetric::matrix ? "the operator is not symmetric" : "the preconditioner is not symmetric";
  }
  if (symmetric && !known) choice_.reason = "products with two vectors show no asymmetry";
}

template <class T, Space S>
const LinearOperator<T, S>* GivenOperators<T, S>::preconditioner() const {
  return M_ != nullptr ? M_.get() : parts_.preconditioner.get();
}

template <class T, Space S>
SolverChain<T, S> GivenOperators<T, S>::make_chain() {
  auto steps = chain_steps<T, S>(ctx_, A_->rows(), choice_.order, options_.solver);
  if constexpr (std::is_same_v<T, double>) {
    if (options_.mixed) {
      const LinearOperator<float, S>* low = low_M_ != nullptr ? low_M_.get() : parts_.low_preconditioner.get();
      if (low_zero_mean_ != nullptr) low = low_zero_mean_.get();
      steps = with_mixed_step<S>(ctx_, std::move(steps), {*parts_.low_matrix, low, 1.0}, options_.solver);
    }
  }
  return {ctx_, std::move(steps), *A_, preconditioner(), options_.null_space == NullSpace::constant};
}

template <class T, Space S>
void GivenOperators<T, S>::refresh(Span<const T, S>, RefreshScope) {
  refuse_values();
}

template <class T, Space S>
Slots<T, S> GivenOperators<T, S>::matrix_slots() {
  refuse_values();
}

template <class T, Space S>
Slots<T, S> GivenOperators<T, S>::preconditioner_slots() {
  refuse_values();
}

template <class T, Space S>
void GivenOperators<T, S>::slots_written(RefreshScope) {
  refuse_values();
}

template <class T, Space S>
void GivenOperators<T, S>::move_nodes(std::shared_ptr<const NodeCoordinates>) {
  throw InputError("a system that was given an operator has no use for coordinates");
}

template <class T, Space S>
void GivenOperators<T, S>::operator_changed(RefreshScope scope) {
  if (scope == RefreshScope::operator_only) return;
  sound_ = false;
  if (M_ != nullptr) M_->refresh(ctx_, {});
  if (low_M_ != nullptr) low_M_->refresh(ctx_, {});
  sound_ = true;
}

template <class T, Space S>
SystemInfo GivenOperators<T, S>::info() {
  SystemInfo info;
  info.matrix = info_of(*A_, "operator");
  info.preconditioner = info_of_precond(preconditioner(), A_->rows());
  info.preconditioner_reason = precond_reason_;
  info.mixed = options_.mixed;
  info.method = choice_.order.front();
  info.solver = options_.mixed ? mixed_name(info.method) : info.method;
  info.solver_reason = choice_.reason;
  info.setup_seconds = setup_seconds_;
  return info;
}

#define X(T, S) template class GivenOperators<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// Systems whose A is an operator.
#include <newel/precond/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "solver/krylov/monitor/symmetry.hpp"
#include "solver/operators/operators.hpp"
#include "solver/operators/single_copy.hpp"

namespace newel::detail {
namespace {

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
                     "' needs the entries of the matrix, and this system was given an operator: pass a matrix, your "
                     "own preconditioner (SystemParts::preconditioner; in Python M=), or \"none\"");
  }
  if (method->check != nullptr) method->check(options);
  OperatorPtr<T, S> made = make(ctx, a, options);
  if (made == nullptr && choose) return nullptr;
  if (made == nullptr) {
    throw InputError("preconditioner '" + method->name +
                     "' needs the diagonal of the matrix, and this operator does not provide it: override "
                     "LinearOperator::matrix_diagonal, pass your own preconditioner (SystemParts::preconditioner; in "
                     "Python M=), or \"none\"");
  }
  name = method->name;
  return made;
}

template <class T, Space S>
void refuse_what_needs_entries(const Operators<T, S>& s) {
  const auto refuse = [](const char* what) {
    throw InputError(std::string(what) + " needs a CSR matrix, and this system was given an operator");
  };
  if (canonical_name(s.options.spmv.format) != "auto") refuse("SystemOptions::spmv.format");
  if (!s.options.old_of_new.empty() || !s.options.part_begin.empty()) refuse("an order or parts");
  if (s.parts.make_preconditioner != nullptr || s.parts.make_low_preconditioner != nullptr) {
    refuse("a factory of preconditioners");
  }
}

template <class T, Space S>
void make_preconditioner(Operators<T, S>& s) {
  const PrecondOptions asked = s.options.precond;
  s.options.precond.name = "none";
  if (s.parts.preconditioner != nullptr) {
    s.chosen.precond_reason = "given by the caller";
    return;
  }
  s.M = precond_of_operator<T, S>(s.ctx, *s.given, asked, s.options.precond.name);
  if (canonical_name(asked.name) != "auto") return;
  s.chosen.precond_reason =
      s.M != nullptr ? "only the diagonal of the operator is known" : "no entries of the operator are known";
}

template <class T, Space S>
void make_single(Operators<T, S>& s, const PrecondOptions& asked) {
  if constexpr (!std::is_same_v<T, double>) {
    throw InputError("mixed precision needs a system in double precision");
  } else {
    const SystemParts<T, S>& parts = s.parts;
    const auto refuse = [](const char* what, const char* member) {
      throw InputError(std::string("mixed precision needs ") + what +
                       " in single precision too, but has it in double only: set SystemParts::" + member);
    };
    if (parts.low_matrix == nullptr) refuse("the operator", "low_matrix");
    if (parts.preconditioner != nullptr && parts.low_preconditioner == nullptr) refuse("M", "low_preconditioner");
    require_size(parts.low_matrix.get(), s.given->rows(), "the operator in single precision");
    require_size(parts.low_preconditioner.get(), s.given->rows(), "the preconditioner in single precision");
    std::string name;
    OperatorPtr<float, S> low;
    if (parts.low_preconditioner == nullptr) {
      low = precond_of_operator<float, S>(s.ctx, *parts.low_matrix, asked, name);
    }
    s.single = std::make_unique<SingleCopy<S>>(parts.low_matrix, std::move(low), parts.low_preconditioner);
    if (s.options.null_space == NullSpace::constant) s.single->take_out_mean(s.ctx);
  }
}

// What two products show of the symmetry; a diagonal that is known says more.
template <class T, Space S>
SolverChoice choose_solver_for(const Operators<T, S>& s) {
  if (canonical_name(s.options.solver.name) != "auto")
    return {{find_solver(s.options.solver.name).name}, "requested"};
  const LinearOperator<T, S>& A = *s.given;
  MatrixTraits traits;
  traits.rows = A.rows();
  traits.square = true;
  const Asymmetric fault = symmetry_fault<T, S>(s.ctx, A, s.preconditioner());
  const bool symmetric = fault == Asymmetric::none;
  traits.pattern_symmetric = symmetric;
  traits.max_abs = 1;
  traits.max_asymmetry = traits.relative_asymmetry = symmetric ? 0 : 1;
  bool known = false;
  if (symmetric) {
    Array<T, S> diagonal(s.ctx, A.rows());
    known = A.matrix_diagonal(s.ctx, diagonal.span());
    const std::vector<T> values = known ? to_vector(s.ctx, diagonal.cspan()) : std::vector<T>();
    double negative = 0;
    for (const T value : values) negative += value > T(0) ? 0 : 1;
    sum_over_ranks(s.ctx, &negative, 1);
    traits.negative_diagonal.count = static_cast<Index>(negative);
  }
  SolverChoice choice = choose_solver(traits);
  if (!symmetric) {
    choice.reason =
        fault == Asymmetric::matrix ? "the operator is not symmetric" : "the preconditioner is not symmetric";
  }
  if (symmetric && !known) choice.reason = "two test products showed no asymmetry";
  return choice;
}

// The inverse of a diagonal that is not positive is no M for a method that needs a definite one.
template <class T, Space S>
void drop_indefinite_preconditioner(Operators<T, S>& s, const PrecondOptions& asked) {
  if (s.M == nullptr || !same_name(asked.name, "auto") || s.first_method().demands != Demand::symmetric) return;
  s.M.reset();
  s.options.precond.name = "none";
  s.chosen.precond_reason = s.first_method().title + " needs a positive definite preconditioner";
}

}  // namespace

template <class T, Space S>
std::unique_ptr<Operators<T, S>> build_given(const Context<S>& ctx, std::shared_ptr<const LinearOperator<T, S>> a,
                                             SystemOptions options, SystemParts<T, S> parts) {
  if (a == nullptr) throw InputError("a linear system needs an operator, not a null pointer");
  require_size(a.get(), a->rows(), "the operator");
  require_size(parts.preconditioner.get(), a->rows(), "the preconditioner");
  auto made = std::make_unique<Operators<T, S>>(ctx, std::move(options), std::move(parts));
  made->given = std::move(a);
  refuse_what_needs_entries(*made);
  const PrecondOptions asked = made->options.precond;
  timed(ctx, made->setup_seconds, "preconditioner", [&] { make_preconditioner(*made); });
  if (made->options.mixed) timed(ctx, made->setup_seconds, "single precision", [&] { make_single(*made, asked); });
  timed(ctx, made->setup_seconds, "solver choice", [&] { made->chosen.solvers = choose_solver_for(*made); });
  drop_indefinite_preconditioner(*made, asked);
  return made;
}

#define X(T, S)                                          \
  template std::unique_ptr<Operators<T, S>> build_given( \
      const Context<S>&, std::shared_ptr<const LinearOperator<T, S>>, SystemOptions, SystemParts<T, S>);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

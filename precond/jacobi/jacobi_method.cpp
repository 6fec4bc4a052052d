// SPDX-License-Identifier: Apache-2.0
// What the table of preconditioners says of Jacobi.
#include "precond/jacobi/jacobi.hpp"

namespace newel {
namespace {

struct MakeJacobi {
  template <class T, Space S>
  static OperatorPtr<T, S> make(const Context<S>& ctx, const LinearOperator<T, S>& a, const PrecondOptions&) {
    return JacobiOperator<T, S>::of_operator(ctx, a);
  }
};

}  // namespace

PrecondMethod jacobi_method() {
  PrecondMethod jacobi;
  jacobi.name = "jacobi";
  jacobi.summary = "the inverse of the diagonal";
  jacobi.diagonal = jacobi.divides_by_diagonal = true;
  jacobi.automatic = AutoPrecond::simple;
  jacobi.estimate_bytes = &detail::estimate_jacobi_bytes;
  jacobi.make = precond_columns<JacobiOperator>();
  fill_columns<MakeJacobi>(jacobi.make_from_operator);
  return jacobi;
}

}  // namespace newel

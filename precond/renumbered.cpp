// SPDX-License-Identifier: Apache-2.0
// Renumbering a preconditioner's own matrix.
#include "precond/renumbered.hpp"

#include <newel/spmv/registry.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {

template <class T, Space S>
OperatorPtr<T, S> renumbered_matrix(const Context<S>& ctx, const MatrixOperator<T, S>& from, const RowOrder<S>& order,
                                    const SpmvOptions& options) {
  const std::optional<CsrView<T, S>> csr = from.as_csr();
  if (!csr) return nullptr;
  if (order.natural()) return make_spmv(ctx, *csr, order, options);
  const PermutedCsr<T, S> permuted = permute(ctx, *csr, order);
  OperatorPtr<T, S> made = make_spmv(ctx, permuted.view(), order, options);
  ctx.synchronize();
  return made;
}

#define X(T, S)                                                                                                    \
  template OperatorPtr<T, S> renumbered_matrix(const Context<S>&, const MatrixOperator<T, S>&, const RowOrder<S>&, \
                                               const SpmvOptions&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

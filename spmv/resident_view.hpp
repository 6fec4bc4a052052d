// SPDX-License-Identifier: Apache-2.0
/// ResidentView: what kernels that do more than a product read of an operator. Internal.
#pragma once

#include <newel/spmv/operator.hpp>

namespace newel::detail {

template <class T>
struct EhybView;
template <class T>
struct EhybAcross;
template <class T>
class PublishedProduct;

/// Valid as long as the operator; nothing is there if such kernels do not know it. All but `published` is for kernels
/// that keep their vectors on the chip.
template <class T, Space S>
struct ResidentView {
  const EhybView<T>* ehyb = nullptr;    ///< a matrix in EHYB
  const CsrView<T, S>* rows = nullptr;  ///< a matrix in CSR, no row of which is long
  /// A preconditioner: the matrix that it is, or the first of its two factors in the order of their products.
  const LinearOperator<T, S>* first = nullptr;
  const LinearOperator<T, S>* second = nullptr;    ///< the other factor; null: there is none
  const EhybAcross<T>* across = nullptr;           ///< a matrix in EHYB whose rows are on several devices
  const PublishedProduct<T>* published = nullptr;  ///< products with vectors that their makers send to other devices
};

}  // namespace newel::detail

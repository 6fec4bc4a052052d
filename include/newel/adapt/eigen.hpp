// SPDX-License-Identifier: Apache-2.0
/// Passes Eigen's sparse matrices and dense vectors to Newel. Header only; the only header that needs Eigen.
///
///     Eigen::SparseMatrix<double> A;  // by columns, as Eigen stores matrices by default
///     Eigen::VectorXd b, x;
///     LinearSystem<double, Space::host> system(ctx, view_of(A));
///     SolveReport report = system.solve(span_of(b), span_of(x));
///     system.refresh(values_of(A));  // new values, same pattern
///
/// Nothing is copied: views borrow the memory of the objects that they are made from, as long as they are used.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <newel/core/error.hpp>
#include <newel/core/matrix_input.hpp>

namespace newel {

/// The values of a compressed matrix in storage order: input for `LinearSystem::refresh` of a system constructed with
/// `view_of` of the same matrix. Throws InputError if the matrix is not compressed.
template <class Derived>
Span<const typename Derived::Scalar, Space::host> values_of(const Eigen::SparseCompressedBase<Derived>& a) {
  if (!a.isCompressed())
    throw InputError("the Eigen matrix has gaps between its entries: call makeCompressed() first");
  return {a.valuePtr(), static_cast<std::int64_t>(a.nonZeros())};
}

/// A view of a sparse matrix, of a map of one, or of the transpose of one: by rows or by columns, with any index
/// type. Throws InputError if the matrix is not compressed.
template <class Derived>
MatrixInput<typename Derived::Scalar, Space::host> view_of(const Eigen::SparseCompressedBase<Derived>& a) {
  using Input = MatrixInput<typename Derived::Scalar, Space::host>;
  static_assert(!Derived::IsVectorAtCompileTime, "expected a sparse matrix, found a sparse vector");
  const auto values = values_of(a);
  const IndexSpan<Space::host> pointers(a.outerIndexPtr(), static_cast<std::int64_t>(a.outerSize()) + 1);
  const IndexSpan<Space::host> indices(a.innerIndexPtr(), values.size);
  if constexpr (Derived::IsRowMajor) {
    return Input::csr(a.rows(), a.cols(), pointers, indices, values);
  } else {
    return Input::csc(a.rows(), a.cols(), pointers, indices, values);
  }
}

/// For `A.selfadjointView<Eigen::Lower>()`: a symmetric matrix of which A stores the lower half (or the upper one).
/// Eigen ignores entries of the other half; Newel refuses them when the view is used. Pass a matrix that stores both
/// halves without selfadjointView.
template <class Matrix, unsigned int Mode>
auto view_of(const Eigen::SparseSelfAdjointView<Matrix, Mode>& a) {
  return view_of(a.matrix()).stored_half((Mode & Eigen::Lower) != 0 ? Triangle::lower : Triangle::upper);
}

namespace detail {

template <class Derived, class Dense>
auto span_of_dense(Dense& x) {
  static_assert(Derived::IsVectorAtCompileTime || !Derived::IsRowMajor,
                "several vectors must be the columns of a matrix stored by columns, such as Eigen::MatrixXd");
  using Value = std::remove_reference_t<decltype(*x.data())>;
  return Span<Value, Space::host>(x.data(), static_cast<std::int64_t>(x.size()));
}

}  // namespace detail

/// The values of a dense vector, or of the columns of a matrix one after another, as `LinearSystem::solve_columns`
/// expects them. A const object gives a read-only span.
template <class Derived>
Span<typename Derived::Scalar, Space::host> span_of(Eigen::PlainObjectBase<Derived>& x) {
  return detail::span_of_dense<Derived>(x);
}
template <class Derived>
Span<const typename Derived::Scalar, Space::host> span_of(const Eigen::PlainObjectBase<Derived>& x) {
  return detail::span_of_dense<Derived>(x);
}
/// The same for memory mapped by Eigen, without strides.
template <class Plain, int Alignment>
auto span_of(const Eigen::Map<Plain, Alignment, Eigen::Stride<0, 0>>& x) {
  auto mapped = x;  // the map of a constant Map may still be of numbers that can be written
  return detail::span_of_dense<Plain>(mapped);
}

}  // namespace newel

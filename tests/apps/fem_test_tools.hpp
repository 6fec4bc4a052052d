// SPDX-License-Identifier: Apache-2.0
/// What the tests of the assembly share: Eigen's view of a matrix, bitwise comparison, a filter for the surface.
#pragma once

#include <Eigen/Sparse>

#include <algorithm>
#include <cstring>
#include <vector>

#include "apps/fem/assembly.hpp"

namespace newel::testing {

using EigenMatrix = Eigen::SparseMatrix<double>;

inline EigenMatrix to_eigen(const fem::HostCsr& a) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(static_cast<std::size_t>(a.nnz()));
  for (Index row = 0; row < a.rows; ++row) {
    for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) entries.emplace_back(row, a.col[k], a.val[k]);
  }
  EigenMatrix matrix(a.rows, a.cols);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

inline Eigen::VectorXd to_eigen(const fem::HostVector& x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), x.size());
}

template <class T>
bool same_bits(const Array<T, Space::host>& a, const Array<T, Space::host>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

inline bool same_bits(const fem::HostCsr& a, const fem::HostCsr& b) {
  return a.rows == b.rows && a.cols == b.cols && same_bits(a.row_ptr, b.row_ptr) && same_bits(a.col, b.col) &&
         same_bits(a.val, b.val);
}

/// Whether every stored entry has its mirror with the same value.
inline bool symmetric_bit_for_bit(const fem::HostCsr& a) {
  for (Index row = 0; row < a.rows; ++row) {
    for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      const Index* first = a.col.data() + a.row_ptr[a.col[k]];
      const Index* last = a.col.data() + a.row_ptr[a.col[k] + 1];
      const Index* mirror = std::lower_bound(first, last, row);
      if (mirror == last || *mirror != row || a.val[mirror - a.col.data()] != a.val[k]) return false;
    }
  }
  return true;
}

/// On the surface of the unit cube.
inline bool on_cube_surface(const fem::Point& at) {
  return std::any_of(at.begin(), at.end(), [](double x) { return x == 0 || x == 1; });
}

inline fem::TetMesh rough_cube(const Context<Space::host>& ctx, Index n) {
  fem::BoxOptions options;
  options.jitter = 0.16;
  options.renumber = true;
  return fem::make_cube(ctx, n, options);
}

}  // namespace newel::testing

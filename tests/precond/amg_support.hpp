// SPDX-License-Identifier: Apache-2.0
/// What the tests of algebraic multigrid share: hierarchies' parts as dense matrices of Eigen's, and small systems.
#pragma once

#include <Eigen/Core>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <purlin/precond/amg/amg.hpp>

#include "tests/support.hpp"

namespace purlin::testing {

using Dense = Eigen::MatrixXd;

inline Dense dense_of(const HostCsr& a) {
  Dense d = Dense::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) d(i, a.col[k]) = a.val[k];
  }
  return d;
}

inline Dense dense_of(const detail::BlockCsr& a) {
  Dense d = Dense::Zero(a.scalar_rows(), a.scalar_cols());
  for (Index i = 0; i < a.pattern.rows; ++i) {
    for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1]; ++k) {
      for (int e = 0; e < a.block_size(); ++e) {
        d(i * a.row_block + e / a.col_block, a.pattern.col[k] * a.col_block + e % a.col_block) = a.block(k)[e];
      }
    }
  }
  return d;
}

/// rows x vectors
inline Dense dense_of(const detail::NearNull& b) {
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      b.values.data(), static_cast<Eigen::Index>(b.values.size()) / b.vectors, b.vectors);
}

inline detail::BlockCsr blocks_of(const Context<Space::host>& ctx, const HostCsr& a, int block,
                                  const std::vector<Index>& old_of_new = {}) {
  const auto uploaded = make_matrix<double>(ctx, a);
  Array<Offset, Space::host> source;
  return detail::make_block_csr(ctx, CsrView<double, Space::host>(uploaded), old_of_new, block, source);
}

/// A system of apps/fem with the coordinates of its nodes.
struct MeshSystem {
  HostCsr a;
  std::shared_ptr<NodeCoordinates> coordinates = std::make_shared<NodeCoordinates>();

  explicit MeshSystem(const std::string& spec) {
    const auto assembled = fem::generate_matrix(Context<Space::host>(1), spec, coordinates.get());
    a.rows = assembled.rows;
    a.cols = assembled.cols;
    a.row_ptr.assign(assembled.row_ptr.begin(), assembled.row_ptr.end());
    a.col.assign(assembled.col.begin(), assembled.col.end());
    for (const double value : assembled.val) a.val.push_back(value);
  }
};

/// Two matrices side by side on the diagonal.
inline HostCsr pieces(const HostCsr& a, const HostCsr& b) {
  HostCsr both = a;
  both.rows = both.cols = a.rows + b.rows;
  for (Index i = 0; i < b.rows; ++i) both.row_ptr.push_back(a.nnz() + b.row_ptr[i + 1]);
  for (const Index j : b.col) both.col.push_back(j + a.rows);
  both.val.insert(both.val.end(), b.val.begin(), b.val.end());
  return both;
}

/// -1 around the number of neighbours on nx x ny points: singular.
inline HostCsr neumann_grid(Index nx, Index ny) {
  Rows rows(nx * ny);
  for (Index i = 0; i < nx * ny; ++i) {
    const auto couple = [&](bool inside, Index j) {
      if (!inside) return;
      rows[i][j] = -1;
      rows[i][i] += 1;
    };
    couple(i % nx > 0, i - 1);
    couple(i % nx + 1 < nx, i + 1);
    couple(i / nx > 0, i - nx);
    couple(i / nx + 1 < ny, i + nx);
  }
  return from_rows(nx * ny, rows);
}

inline PrecondOptions amg_options() {
  PrecondOptions options;
  options.name = "amg";
  return options;
}

}  // namespace purlin::testing

// SPDX-License-Identifier: Apache-2.0
/// What the tests of algebraic multigrid share: hierarchies' parts as dense matrices of Eigen's, and small systems.
#pragma once

#include <Eigen/Core>
#include <Eigen/LU>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "precond/amg/amg.hpp"

#include "tests/precond/applied.hpp"
#include "tests/support.hpp"

namespace newel::testing {

using EigenDense = Eigen::MatrixXd;

inline EigenDense eigen_dense(const HostCsr& a) {
  EigenDense d = EigenDense::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) d(i, a.col[k]) = a.val[k];
  }
  return d;
}

inline EigenDense eigen_dense(const detail::HostBlockCsr& a) {
  EigenDense d = EigenDense::Zero(a.scalar_rows(), a.scalar_cols());
  for (Index i = 0; i < a.pattern.rows; ++i) {
    for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1]; ++k) {
      for (int e = 0; e < a.block_size(); ++e) {
        d(i * a.row_block + e / a.col_block, a.pattern.col[k] * a.col_block + e % a.col_block) = a.block(k)[e];
      }
    }
  }
  return d;
}

/// Blocks of any shape on the pattern of `nodes`, with random values.
template <Space S>
detail::BlockCsr<S> random_blocks(const Context<S>& ctx, const HostCsr& nodes, int row_block, int col_block,
                                  std::uint64_t seed) {
  detail::BlockCsr<S> a;
  a.row_block = row_block;
  a.col_block = col_block;
  a.pattern.rows = nodes.rows;
  a.pattern.cols = nodes.cols;
  a.pattern.row_ptr = make_array(ctx, nodes.row_ptr);
  a.pattern.col = make_array(ctx, nodes.col);
  a.val = make_array(ctx, random_vector<double>(nodes.nnz() * a.block_size(), seed));
  return a;
}

/// A matrix of a hierarchy in either space, where the host can read it.
template <Space S>
detail::HostBlockCsr on_host(const Context<S>& ctx, const detail::BlockCsr<S>& a) {
  const Context<Space::host>& host = host_context(ctx);
  detail::HostBlockCsr copy;
  copy.row_block = a.row_block;
  copy.col_block = a.col_block;
  copy.pattern.rows = a.pattern.rows;
  copy.pattern.cols = a.pattern.cols;
  copy.pattern.row_ptr = make_array(host, to_vector(ctx, a.pattern.row_ptr.cspan()));
  copy.pattern.col = make_array(host, to_vector(ctx, a.pattern.col.cspan()));
  copy.val = make_array(host, to_vector(ctx, a.val.cspan()));
  return copy;
}
template <Space S>
EigenDense eigen_dense(const Context<S>& ctx, const detail::BlockCsr<S>& a) {
  return eigen_dense(on_host(ctx, a));
}

template <class T>
std::vector<T> on_host(const Context<Space::host>&, const std::vector<T>& values) {
  return values;
}
template <class T>
std::vector<T> on_host(const Context<Space::device>& ctx, const Array<T, Space::device>& values) {
  return to_vector(ctx, values.cspan());
}

/// rows x vectors
inline EigenDense eigen_dense(const detail::NearNull<Space::host>& b) {
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      b.values.data(), static_cast<Eigen::Index>(b.values.size()) / b.vectors, b.vectors);
}

inline detail::HostBlockCsr blocks_of(const Context<Space::host>& ctx, const HostCsr& a, int block,
                                      const std::vector<Index>& old_of_new = {}) {
  const auto uploaded = make_matrix<double>(ctx, a);
  Array<Offset, Space::host> source;
  return detail::make_block_csr(ctx, CsrView<double, Space::host>(uploaded), old_of_new, block, source);
}

inline HostCsr host_csr(const fem::HostCsr& assembled) {
  HostCsr a;
  a.rows = assembled.rows;
  a.cols = assembled.cols;
  a.row_ptr.assign(assembled.row_ptr.begin(), assembled.row_ptr.end());
  a.col.assign(assembled.col.begin(), assembled.col.end());
  a.val.assign(assembled.val.begin(), assembled.val.end());
  return a;
}

/// The Kronecker product with the identity: `count` unknowns a node, each coupled as in `a`.
inline HostCsr kron_identity(const HostCsr& a, int count) {
  MapRows rows(a.rows * count);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      for (int c = 0; c < count; ++c) rows[i * count + c][a.col[k] * count + c] = a.val[k];
    }
  }
  return from_rows(a.cols * count, rows);
}

/// A matrix of blocks in the space of a context.
template <Space S>
detail::BlockCsr<S> in_space(const Context<S>& ctx, const detail::HostBlockCsr& a) {
  detail::BlockCsr<S> placed;
  placed.row_block = a.row_block;
  placed.col_block = a.col_block;
  placed.pattern.rows = a.pattern.rows;
  placed.pattern.cols = a.pattern.cols;
  placed.pattern.row_ptr = make_array(ctx, a.pattern.row_ptr.cspan());
  placed.pattern.col = make_array(ctx, a.pattern.col.cspan());
  placed.val = make_array(ctx, a.val.cspan());
  return placed;
}

/// A system of apps/fem with the coordinates of its nodes.
struct MeshSystem {
  std::shared_ptr<NodeCoordinates> coordinates = std::make_shared<NodeCoordinates>();  // before `a`, which fills it
  HostCsr a;

  explicit MeshSystem(const std::string& spec)
      : a(host_csr(fem::generate_matrix(Context<Space::host>(1), spec, coordinates.get()))) {}
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
  MapRows rows(nx * ny);
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
  options.of<AmgOptions>().precision = AmgPrecision::system;
  return options;
}

template <class T, Space S>
AmgOperator<T, S> amg(const Context<S>& ctx, const HostCsr& a, const PrecondOptions& options = amg_options(),
                      std::shared_ptr<const NodeCoordinates> coordinates = nullptr,
                      const std::vector<Index>& old_of_new = {}) {
  SpmvOptions spmv;
  spmv.coordinates = std::move(coordinates);
  const auto there = upload_matrix<T>(ctx, a);
  if (old_of_new.empty()) return AmgOperator<T, S>(ctx, there.wide(), {}, options, spmv);
  const RowOrder<S> order = make_row_order(ctx, old_of_new);
  const PermutedCsr<T, S> permuted = permute(ctx, there.wide(), order);
  return AmgOperator<T, S>(ctx, permuted.view(), order, options, spmv);
}

inline PrecondOptions small_levels(int max_coarse = 12) {
  PrecondOptions options = amg_options();
  options.of<AmgOptions>().max_coarse = max_coarse;
  return options;
}

template <class T, Space S>
EigenDense dense_operator(const Context<S>& ctx, const LinearOperator<T, S>& m) {
  EigenDense result(m.rows(), m.rows());
  for (Index j = 0; j < m.rows(); ++j) {
    std::vector<T> unit(static_cast<std::size_t>(m.rows()), T(0));
    unit[j] = 1;
    const std::vector<T> column = applied(ctx, m, unit);
    for (Index i = 0; i < m.rows(); ++i) result(i, j) = column[i];
  }
  return result;
}

// The largest difference between M x and `expected` x for a few x, over the largest entry of `expected` x.
template <Space S>
double difference_on_vectors(const Context<S>& ctx, const LinearOperator<double, S>& m, const EigenDense& expected) {
  double difference = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto x = random_vector<double>(m.rows(), seed), y = applied(ctx, m, x);
    const Eigen::VectorXd exact = expected * Eigen::Map<const Eigen::VectorXd>(x.data(), m.rows());
    const Eigen::VectorXd found = Eigen::Map<const Eigen::VectorXd>(y.data(), m.rows());
    difference = std::max(difference, (found - exact).cwiseAbs().maxCoeff() / exact.cwiseAbs().maxCoeff());
  }
  return difference;
}

inline double largest(const EigenDense& m) { return m.size() == 0 ? 0.0 : m.cwiseAbs().maxCoeff(); }

// The polynomial smoother from 0 as a matrix B with x = B b: Chebyshev's p_k by its three-term recurrence, the error
// (I - B A) being p_k(S A) with p_k(t) = W_k(1 - 2 t / lambda) / (2 k + 1), W_k the fourth-kind polynomial.
inline EigenDense smoother_oracle(const EigenDense& a, const EigenDense& s, double lambda, AmgSmoother kind,
                                  int degree) {
  const auto n = a.rows();
  const EigenDense identity = EigenDense::Identity(n, n);
  const EigenDense scaled = s * a / lambda;
  EigenDense error;
  if (kind == AmgSmoother::jacobi || kind == AmgSmoother::spai) {
    error = identity;
    for (int i = 0; i < degree; ++i) error = (identity - 4.0 / 3.0 * scaled) * error;
  } else {
    const EigenDense x = identity - 2 * scaled;
    EigenDense before = identity, now = 2 * x + identity;
    for (int i = 1; i < degree; ++i) {
      const EigenDense next = 2 * x * now - before;
      before = now;
      now = next;
    }
    error = now / (2 * degree + 1);
  }
  return (identity - error) * a.inverse();
}

/// One level around a given coarse correction, P M_c P^T.
inline EigenDense level_oracle(const EigenDense& a, const EigenDense& smoother, const EigenDense& correction) {
  const EigenDense identity = EigenDense::Identity(a.rows(), a.rows());
  const EigenDense error = (identity - smoother * a) * (identity - correction * a) * (identity - smoother * a);
  return (identity - error) * a.inverse();
}

/// M twice, the error being Chebyshev's polynomial of degree 2 on [1/4, 1]: T_2((5/4 - 2 t) / (3/4)) over its value
/// at t = 0, of t = M A.
inline EigenDense two_cycles_oracle(const EigenDense& a, const EigenDense& m) {
  const EigenDense identity = EigenDense::Identity(a.rows(), a.rows());
  const EigenDense x = (1.25 * identity - 2 * m * a) / 0.75;
  const double at_zero = 2 * (1.25 / 0.75) * (1.25 / 0.75) - 1;
  return (identity - (2 * x * x - identity) / at_zero) * a.inverse();
}

/// Levels whose smoothers are polynomials of the diagonal. Those in `twice` are solved by two cycles, whose smoothers
/// have the degree of the first level.
template <Space S>
EigenDense cycle_oracle(const Context<S>& ctx, const std::vector<detail::AmgLevel<S>>& levels, std::size_t l,
                        const AmgOptions& options, const std::set<std::size_t>& twice = {}) {
  const EigenDense a = eigen_dense(ctx, levels[l].a);
  if (levels[l].smoother_diagonal.size() == 0) return a.inverse();
  const EigenDense d = a.diagonal().cwiseInverse().asDiagonal();
  const int degree = l == 0 || twice.count(l) != 0 ? options.degree : (3 * options.degree + 1) / 2;
  const EigenDense b = smoother_oracle(a, d, levels[l].lambda, levels[l].smoother, degree);
  if (levels[l].last()) return b;
  const EigenDense p = eigen_dense(ctx, levels[l].p);
  const EigenDense m = level_oracle(a, b, p * cycle_oracle(ctx, levels, l + 1, options, twice) * p.transpose());
  return twice.count(l) != 0 ? two_cycles_oracle(a, m) : m;
}

}  // namespace newel::testing

// SPDX-License-Identifier: Apache-2.0
// The inverse of AMG's coarsest matrix, in both spaces, against Eigen's.
#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "precond/amg/blocks/small_dense.hpp"

#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"

namespace {

// In one dense row of blocks of `block` rows after another.
template <Space S>
detail::BlockCsr<S> dense_blocks(const Context<S>& ctx, const EigenDense& a, int block) {
  const auto nodes = static_cast<Index>(a.rows()) / block;
  detail::BlockCsr<S> blocks;
  blocks.row_block = blocks.col_block = block;
  blocks.pattern.rows = blocks.pattern.cols = nodes;
  std::vector<Offset> row_ptr = {0};
  std::vector<Index> col;
  std::vector<double> val;
  for (Index i = 0; i < nodes; ++i) {
    for (Index j = 0; j < nodes; ++j) {
      col.push_back(j);
      for (int e = 0; e < block * block; ++e) val.push_back(a(i * block + e / block, j * block + e % block));
    }
    row_ptr.push_back(static_cast<Offset>(col.size()));
  }
  blocks.pattern.row_ptr = make_array(ctx, row_ptr);
  blocks.pattern.col = make_array(ctx, col);
  blocks.val = make_array(ctx, val);
  return blocks;
}

template <Space S>
EigenDense inverse_by(const Context<S>& ctx, const EigenDense& a, int block, int null_vectors) {
  constexpr double tolerance = 1e-12;
  const auto n = a.rows();
  std::vector<double> values;
  if constexpr (S == Space::host) {
    CHECK(detail::invert_dense(ctx, dense_blocks(ctx, a, block), tolerance, values) == null_vectors);
  } else {
    Array<double, S> inverse;
    CHECK(detail::invert_dense(ctx, dense_blocks(ctx, a, block), tolerance, inverse) == null_vectors);
    values = to_vector(ctx, inverse.cspan());
  }
  REQUIRE(static_cast<Eigen::Index>(values.size()) == n * n);
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(values.data(), n,
                                                                                                  n);
}

EigenDense random_dense(Index n, int seed) {
  const std::vector<double> values = random_vector<double>(std::int64_t{n} * n, seed);
  return Eigen::Map<const EigenDense>(values.data(), n, n);
}

// Eigenvalues of about 1 to 8, rows of different size.
EigenDense definite(Index n) {
  const EigenDense b = random_dense(n, n);
  EigenDense a = b * b.transpose() / n;
  for (Index i = 0; i < n; ++i) a(i, i) += 1 + i % 7;
  return a;
}

}  // namespace

TEST_BOTH("AMG inverts definite matrices of every size symmetrically, bit for bit", "[amg]") {
  for (const Index n : {1, 2, 31, 32, 33, 64, 97, 256, 540}) {
    INFO(n << " rows");
    const EigenDense a = definite(n), found = inverse_by(ctx, a, n % 3 == 0 ? 3 : 1, 0);
    const EigenDense expected = a.llt().solve(EigenDense::Identity(n, n));
    CHECK(largest(found - expected) <= 1e-11 * largest(expected));
    CHECK(found == found.transpose());
  }
}

TEST_BOTH("AMG inverts matrices without symmetry or with eigenvalues of both signs", "[amg]") {
  for (const Index n : {3, 40, 130}) {
    INFO(n << " rows");
    const EigenDense general = random_dense(n, 5);
    CHECK(largest(inverse_by(ctx, general, 1, 0) * general - EigenDense::Identity(n, n)) < 1e-8);
    // Of a saddle point: elimination without pivoting would divide by the zeros of its last rows.
    EigenDense saddle = definite(n);
    saddle.bottomRightCorner(n / 3, n / 3).setZero();
    const EigenDense found = inverse_by(ctx, saddle, 1, 0);
    CHECK(largest(found * saddle - EigenDense::Identity(n, n)) < 1e-8);
    CHECK(found == found.transpose());
  }
}

TEST_BOTH("AMG leaves rows of zeros out of its inverse, and inverts a singular matrix where it can", "[amg]") {
  for (const Index n : {6, 70}) {
    INFO(n << " rows");
    EigenDense gaps = definite(n);
    for (const Index i : {Index{1}, n - 2}) {
      gaps.row(i).setZero();
      gaps.col(i).setZero();
    }
    EigenDense found = inverse_by(ctx, gaps, 1, 2);
    EigenDense expected = gaps.completeOrthogonalDecomposition().pseudoInverse();
    CHECK(largest(found - expected) <= 1e-11 * largest(expected));
    CHECK(found.row(1).isZero(0));
    // The Laplacian of a ring: constants are its null space.
    EigenDense ring = EigenDense::Zero(n, n);
    for (Index i = 0; i < n; ++i) {
      ring(i, i) = 2;
      ring(i, (i + 1) % n) = ring((i + 1) % n, i) = -1;
    }
    found = inverse_by(ctx, ring, 1, 1);
    expected = ring.completeOrthogonalDecomposition().pseudoInverse();
    CHECK(largest(found - expected) <= 1e-9 * largest(expected));
  }
}

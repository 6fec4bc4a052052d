// SPDX-License-Identifier: Apache-2.0
// AMG's sparse products and dense inverses against Eigen's.
#include "precond/amg/blocks/block_rows_host.hpp"
#include "precond/amg/transfer/galerkin.hpp"

#include <Eigen/LU>
#include <Eigen/SVD>

#include "precond/amg/blocks/small_dense.hpp"

#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"

namespace {

EigenDense pseudo_inverse(const EigenDense& a) {
  const Eigen::JacobiSVD<EigenDense> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  EigenDense result = EigenDense::Zero(a.cols(), a.rows());
  for (Eigen::Index i = 0; i < svd.singularValues().size(); ++i) {
    if (svd.singularValues()(i) <= 1e-10 * svd.singularValues()(0)) continue;
    result += svd.matrixV().col(i) * svd.matrixU().col(i).transpose() / svd.singularValues()(i);
  }
  return result;
}

// f(row, column, value) for each entry of the blocks.
template <class F>
void for_entries(const detail::HostBlockCsr& a, const F& f) {
  for (Index i = 0; i < a.pattern.rows; ++i) {
    for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1]; ++k) {
      for (int r = 0; r < a.row_block; ++r) {
        for (int c = 0; c < a.col_block; ++c) {
          f(i * a.row_block + r, a.pattern.col[k] * a.col_block + c, a.block(k)[r * a.col_block + c]);
        }
      }
    }
  }
}

EigenDense inverse_of(const EigenDense& a, int null_vectors) {
  const auto n = static_cast<int>(a.rows());
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) values.push_back(a(i, j));
  }
  const detail::DenseInverse inverse = detail::dense_inverse(n, values, 1e-12);
  CHECK(inverse.null_vectors == null_vectors);
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      inverse.values.data(), n, n);
}

}  // namespace

TEST_ON_HOST("AMG's Galerkin product is P^T A P entry by entry, and again for new values", "[amg]") {
  const HostCsr nodes = ragged_matrix(300, 300, 4), to_coarse = ragged_matrix(300, 40, 5);
  for (const auto& [b, k] : {std::pair<int, int>{1, 1}, {3, 3}, {3, 6}, {6, 6}, {2, 3}, {1, 4}}) {
    INFO("blocks of " << b << " x " << k);
    detail::HostBlockCsr a = random_blocks(ctx, nodes, b, b, 6), p = random_blocks(ctx, to_coarse, b, k, 7);
    detail::HostBlockCsr coarse;
    detail::GalerkinProduct<Space::host> product(ctx, a, p, coarse);
    const auto require_product = [&] {
      const EigenDense da = eigen_dense(a), dp = eigen_dense(p);
      const EigenDense expected = dp.transpose() * da * dp;
      const EigenDense bound = dp.cwiseAbs().transpose() * da.cwiseAbs() * dp.cwiseAbs();
      REQUIRE(coarse.pattern.rows == 40);
      CHECK(largest(eigen_dense(coarse) - expected) <= 1e-13 * largest(bound));
    };
    require_product();
    a.val = make_array(ctx, random_vector<double>(a.val.size(), 8));
    p.val = make_array(ctx, random_vector<double>(p.val.size(), 9));
    product.compute(ctx, a, p, coarse);
    require_product();
  }
}

TEST_CASE("The pattern of AMG's product is that of the entries that it may have, columns ascending", "[amg]") {
  const Context<host> one(1), several(4);
  const HostCsr left = power_law_matrix(700), right = ragged_matrix(700, 500, 3);
  const detail::HostBlockCsr a = random_blocks(one, left, 1, 1, 1), b = random_blocks(one, right, 1, 1, 2);
  const detail::HostBlockPattern pattern = detail::product_pattern(several, a.pattern, b.pattern);
  const EigenDense expected = (eigen_dense(a).cwiseAbs() * eigen_dense(b).cwiseAbs());
  Offset at = 0;
  for (Index i = 0; i < 700; ++i) {
    REQUIRE(pattern.row_ptr[i] == at);
    for (Index j = 0; j < 500; ++j) {
      if (expected(i, j) == 0) continue;
      REQUIRE(at < pattern.blocks());
      REQUIRE(pattern.col[at++] == j);
    }
  }
  REQUIRE(pattern.blocks() == at);
}

TEST_CASE("AMG's dense inverse is Eigen's, and the pseudo-inverse of a singular matrix", "[amg]") {
  const EigenDense regular = EigenDense::Random(40, 40) + 6 * EigenDense::Identity(40, 40);
  CHECK(largest(inverse_of(regular, 0) - regular.inverse()) < 1e-12);
  const EigenDense low = EigenDense::Random(30, 24);
  const EigenDense semidefinite = low * low.transpose();
  const EigenDense inverse = inverse_of(semidefinite, 6);
  const EigenDense expected = pseudo_inverse(semidefinite);
  CHECK(largest(inverse - expected) < 1e-9 * largest(expected));
  CHECK(inverse == inverse.transpose());
  const EigenDense unsymmetric = low * EigenDense::Random(24, 30);
  const EigenDense expected_too = pseudo_inverse(unsymmetric);
  CHECK(largest(inverse_of(unsymmetric, 6) - expected_too) < 1e-7 * largest(expected_too));
  EigenDense with_zeros = EigenDense::Zero(9, 9);
  with_zeros.topLeftCorner(4, 4) = 2 * EigenDense::Identity(4, 4);
  CHECK(largest(inverse_of(with_zeros, 5) - pseudo_inverse(with_zeros)) < 1e-15);
  CHECK(largest(inverse_of(EigenDense::Zero(3, 3), 3)) == 0);
  CHECK(inverse_of(EigenDense::Constant(1, 1, 4.0), 0)(0, 0) == 0.25);

  std::vector<double> gram(36);
  const EigenDense six = EigenDense::Random(6, 4), of_six = six * six.transpose();
  Eigen::Map<EigenDense>(gram.data(), 6, 6) = of_six;
  const std::vector<double> result = detail::semidefinite_inverse(6, gram);
  const EigenDense expected_six = pseudo_inverse(of_six);
  CHECK(largest(Eigen::Map<const EigenDense>(result.data(), 6, 6) - expected_six) < 1e-9 * largest(expected_six));
}

TEST_CASE("AMG's blocks hold the matrix in the caller's order, and say where each value stands", "[amg]") {
  const Context<host> ctx(3);
  const HostCsr a = fem_matrix("generate:elasticity:4");
  const std::vector<Index> old_of_new = random_order(a.rows, 5);
  HostCsr permuted;  // row i is row old_of_new[i]
  MapRows rows(static_cast<std::size_t>(a.rows));
  std::vector<Index> new_of_old(old_of_new.size());
  for (Index i = 0; i < a.rows; ++i) new_of_old[old_of_new[i]] = i;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) rows[new_of_old[i]][new_of_old[a.col[k]]] = a.val[k];
  }
  permuted = from_rows(a.rows, rows);
  for (const int block : {1, 2, 3}) {
    if (a.rows % block != 0) continue;
    const auto there = make_matrix<double>(ctx, permuted);
    Array<Offset, host> source;
    const auto blocks = detail::make_block_csr(ctx, CsrView<double, host>(there), old_of_new, block, source);
    CHECK(eigen_dense(blocks) == eigen_dense(a));
    for (Offset k = 0; k < source.size(); ++k) {
      REQUIRE(blocks.val[k] == (source[k] < 0 ? 0.0 : permuted.val[source[k]]));
    }
    // And back to single entries, in the permuted order.
    const detail::ScalarPattern<Space::host> by_rows = detail::scalar_rows(ctx, blocks, old_of_new);
    const detail::ScalarPattern<Space::host> by_columns = detail::scalar_columns(ctx, blocks, new_of_old);
    EigenDense from_rows_too = EigenDense::Zero(a.rows, a.rows), from_columns = from_rows_too;
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = by_rows.row_ptr[i]; k < by_rows.row_ptr[i + 1]; ++k) {
        from_rows_too(i, by_rows.col[k]) = blocks.val[by_rows.source[k]];
      }
      for (Offset k = by_columns.row_ptr[i]; k < by_columns.row_ptr[i + 1]; ++k) {
        REQUIRE((k == by_columns.row_ptr[i] || by_columns.col[k - 1] < by_columns.col[k]));
        from_columns(i, by_columns.col[k]) = blocks.val[by_columns.source[k]];
      }
    }
    const EigenDense original = eigen_dense(a);
    for (Index i = 0; i < a.rows; ++i) {
      for (Index j = 0; j < a.rows; ++j) {
        REQUIRE(from_rows_too(i, j) == original(old_of_new[i], j));
        REQUIRE(from_columns(i, j) == original(old_of_new[j], i));
      }
    }
  }
}

TEMPLATE_TEST_CASE("AMG's rows of blocks multiply as the matrix and its transpose", "[amg]", double, float) {
  const Context<host> ctx(3);
  const HostCsr pattern = ragged_matrix(900, 700, 3);
  const std::vector<std::pair<int, int>> sizes = {{1, 1}, {2, 2}, {2, 3}, {3, 2}, {3, 3}, {3, 6},
                                                  {6, 3}, {6, 6}, {1, 3}, {4, 5}, {9, 7}};
  for (const auto& [m, n] : sizes) {
    INFO("blocks of " << m << " x " << n);
    detail::HostBlockCsr a = random_blocks(ctx, pattern, m, n, 3);
    const detail::TransposedPattern<Space::host> transposed = detail::transpose(ctx, a.pattern);
    for (const bool turned : {false, true}) {
      detail::HostBlockRows<TestType> rows(ctx, a, turned ? &transposed : nullptr);
      const auto x = random_vector<TestType>(rows.cols(), 4), before = random_vector<TestType>(rows.rows(), 5);
      const auto require_product = [&](TestType alpha, TestType beta) {
        std::vector<double> sum(before.size()), bound(before.size());
        for_entries(a, [&](Index row, Index col, double value) {
          const Index i = turned ? col : row, j = turned ? row : col;
          const double term = value * static_cast<double>(x[j]);
          sum[i] += term;
          bound[i] += 4 * std::fabs(term);
        });
        std::vector<TestType> y = before;
        if (beta == TestType(0)) std::fill(y.begin(), y.end(), TestType(NAN));
        rows.apply(ctx, alpha, Span<const TestType, host>(x), beta, Span<TestType, host>(y.data(), rows.rows()));
        for (Index i = 0; i < rows.rows(); ++i) {
          const double expected =
              static_cast<double>(alpha) * sum[i] + (beta == TestType(0) ? 0 : static_cast<double>(beta * before[i]));
          const double eps = static_cast<double>(std::numeric_limits<TestType>::epsilon());
          const double scale = bound[i] + std::fabs(static_cast<double>(before[i]));
          REQUIRE(std::fabs(static_cast<double>(y[i]) - expected) <= (rows.cols() + 4) * eps * scale);
        }
      };
      require_product(TestType(1), TestType(0));
      require_product(TestType(-1), TestType(1));
      a.val = make_array(ctx, random_vector<double>(a.val.size(), 8));
      rows.replace(ctx, a.val.cspan());
      require_product(TestType(2), TestType(0));
    }
  }
}

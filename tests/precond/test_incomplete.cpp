// SPDX-License-Identifier: Apache-2.0
// Incomplete factors: their values and patterns, against dense ones by the book.
#include "tests/precond/incomplete_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

template <class T, Space S>
void check_ilu(const Context<S>& ctx, const HostCsr& a, int level) {
  const auto there = upload_matrix<T>(ctx, a);
  const DenseFactors expected = dense_factors(a, dense_fill(a, level));
  const auto x = random_vector<T>(a.rows, 3);
  const auto m = made<T, S>(ctx, there.narrow(), named("ilu", IluOptions{level}));
  CHECK(relative_difference(applied(ctx, *m, x), solved(expected, x)) < factor_rounding<T>);
}

// Of A with the entries of its upper triangle only where the lower one has them.
template <class T, Space S>
void check_ic(const Context<S>& ctx, const HostCsr& a, int level) {
  const auto there = upload_matrix<T>(ctx, a);
  const DenseFactors expected = dense_factors(a, dense_fill(a, level));
  const auto x = random_vector<T>(a.rows, 3), y = random_vector<T>(a.rows, 4);
  const auto m = made<T, S>(ctx, there.wide(), named("ic", IcOptions{level}));
  const std::vector<T> mx = applied(ctx, *m, x), my = applied(ctx, *m, y);
  CHECK(relative_difference(mx, solved(expected, x)) < factor_rounding<T>);
  const DotOracle one = dot_oracle(y, mx), other = dot_oracle(x, my);
  CHECK(std::fabs(one.value - other.value) <= factor_rounding<T> * one.magnitude);
  CHECK(dot_oracle(x, mx).value > 0);
}

}  // namespace

TEST_BOTH("ILU(k) is elimination on the entries whose level of fill is at most k", "[precond][incomplete]") {
  for (const int level : {0, 1, 2}) {
    INFO("level " << level);
    check_ilu<double, S>(ctx, one_sided(90), level);
    check_ilu<double, S>(ctx, grid_matrix(9, 0.4), level);
    check_ilu<float, S>(ctx, grid_matrix(9, 0.4), level);
  }
  check_ilu<double, S>(ctx, tridiagonal_matrix(33), 0);
  check_ilu<double, S>(ctx, diagonal_matrix(40), 0);
  check_ilu<float, S>(ctx, one_sided(70), 0);
}

TEST_BOTH("Rows longer than a warp has room for are eliminated like others", "[precond][incomplete]") {
  HostCsr a = arrow_matrix(300);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) a.val[k] = a.col[k] == i ? 400.0 + i : 1.0 / (1 + i);
  }
  check_ilu<double, S>(ctx, a, 0);
  check_ilu<double, S>(ctx, transposed(a), 0);
  std::vector<Index> reversed(static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) reversed[i] = a.rows - 1 - i;
  check_ilu<double, S>(ctx, renumbered(a, reversed), 0);
}

TEST_BOTH("IC(k) is ILU(k) of a symmetric matrix, symmetric and positive", "[precond][incomplete]") {
  for (const int level : {0, 1, 3}) {
    INFO("level " << level);
    check_ic<double, S>(ctx, grid_matrix(9), level);
    check_ic<float, S>(ctx, grid_matrix(8), level);
  }
  check_ic<double, S>(ctx, fem_matrix("generate:elasticity:3"), 0);
}

TEST_BOTH("The product of the factors is A on the pattern of ILU(0)", "[precond][incomplete]") {
  // M^-1 = L D U: the columns of its inverse are solves with unit vectors, so the product of A's entry is tested by
  // the dense factors, whose product is formed here.
  const HostCsr a = one_sided(60, 3);
  const DenseFactors f = dense_factors(a, dense_fill(a, 0));
  const Dense of_a = dense_of(a);
  const std::size_t n = f.lu.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (f.kept[i][j] == 0) continue;
      long double sum = i <= j ? f.lu[i][j] : 0;
      for (std::size_t k = 0; k < std::min(i, j + 1); ++k) {
        if (f.kept[i][k] != 0 && f.kept[k][j] != 0) sum += f.lu[i][k] * f.lu[k][j];
      }
      REQUIRE(std::fabs(sum - of_a[i][j]) < 1e-15L * 100);
    }
  }
  // M applied to the product's column is the unit vector.
  const auto there = upload_matrix<double>(ctx, a);
  const auto m = made<double, S>(ctx, there.wide(), named("ilu", IluOptions{}));
  for (const std::size_t j : {std::size_t{0}, n / 2, n - 1}) {
    std::vector<double> column(n, 0.0), unit(n, 0.0);
    unit[j] = 1;
    for (std::size_t i = 0; i < n; ++i) {
      long double sum = i <= j && f.kept[i][j] != 0 ? f.lu[i][j] : 0;
      for (std::size_t k = 0; k < std::min(i, j + 1); ++k) {
        if (f.kept[i][k] != 0 && f.kept[k][j] != 0) sum += f.lu[i][k] * f.lu[k][j];
      }
      column[i] = static_cast<double>(sum);
    }
    CHECK(relative_difference(applied(ctx, *m, column), unit) < factor_rounding<double>);
  }
}

TEST_BOTH("Without dropping the factors are exact", "[precond][incomplete]") {
  const HostCsr a = one_sided(120, 5);
  const auto there = upload_matrix<double>(ctx, a);
  const auto b = random_vector<double>(a.rows, 6);
  const auto exact = [&](const PrecondOptions& options) {
    const auto m = made<double, S>(ctx, there.wide(), options);
    return residual_norm(a, applied(ctx, *m, b), b) / norm_oracle(b);
  };
  CHECK(exact(named("ilut", IlutOptions{0.0, 1e6})) < 1e-12);
  CHECK(exact(named("ilu", IluOptions{16})) < 1e-12);
  for (const FactorOrder order : {FactorOrder::rcm, FactorOrder::colours}) {
    CHECK(exact(named("ilut", IlutOptions{0.0, 1e6}, FactorOptions{order})) < 1e-12);
  }
  CHECK(exact(named("ilu", IluOptions{0})) > 1e-4);
}

TEST_BOTH("ILUT keeps the largest entries, and more of them with a smaller drop tolerance", "[precond][incomplete]") {
  const HostCsr a = grid_matrix(20, 0.3);
  const auto there = upload_matrix<double>(ctx, a);
  const auto b = random_vector<double>(a.rows, 6);
  double before = 1, fewest = 0;
  for (const double drop : {0.1, 0.01, 0.001, 1e-5}) {
    const auto m = made<double, S>(ctx, there.wide(), named("ilut", IlutOptions{drop, 50}));
    const double residual = residual_norm(a, applied(ctx, *m, b), b) / norm_oracle(b);
    INFO("drop " << drop << ", residual " << residual);
    CHECK(residual < 0.7 * before);
    CHECK(*m->info().figure("density") > fewest);
    before = residual;
    fewest = *m->info().figure("density");
  }
  // A's rows have almost 5 entries: with a fill of 2 the factors' rows have at most 5 on either side of the diagonal.
  const auto bounded = made<double, S>(ctx, there.wide(), named("ilut", IlutOptions{0, 2}));
  CHECK(bounded->info().nonzeros <= std::int64_t{a.rows} * 11);
  CHECK(bounded->info().nonzeros > std::int64_t{a.rows} * 9);
}

TEST_BOTH("M belongs to the caller's numbering, whatever the order of A", "[precond][incomplete]") {
  const HostCsr a = one_sided(200, 9);
  const auto there = upload_matrix<double>(ctx, a);
  const std::vector<Index> old_of_new = random_order(a.rows, 2);
  const RowOrder<S> order = make_row_order(ctx, old_of_new);
  const auto permuted = permute(ctx, there.wide(), order);
  const auto x = random_vector<double>(a.rows, 4);
  std::vector<double> x_moved;
  for (const Index old : old_of_new) x_moved.push_back(x[old]);
  for (const FactorOrder kind : {FactorOrder::natural, FactorOrder::rcm, FactorOrder::colours}) {
    const PrecondOptions options = named("ilu", IluOptions{1}, FactorOptions{kind});
    const auto m = made<double, S>(ctx, there.wide(), options);
    const std::vector<double> expected = applied(ctx, *m, x);
    const auto moved = made<double, S>(ctx, permuted.view(), options, order);
    const std::vector<double> found = applied(ctx, *moved, x_moved);
    std::vector<double> back(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) back[old_of_new[i]] = found[i];
    CHECK(same_bits(back, expected));
    moved->refresh(ctx, there.wide().val);
    CHECK(same_bits(applied(ctx, *moved, x_moved), found));
    const auto renumbered = m->renumbered(ctx, order, SpmvOptions{});
    REQUIRE(renumbered != nullptr);
    CHECK(same_bits(applied(ctx, *renumbered, x_moved), found));
  }
}

TEST_BOTH("Orders of elimination do what they are for", "[precond][incomplete]") {
  // A grid whose points are numbered at random has many levels; two colours make two.
  const HostCsr a = renumbered(grid_matrix(24), random_order(24 * 24, 3));
  const auto there = upload_matrix<double>(ctx, a);
  const auto levels = [&](FactorOrder kind) {
    return *made<double, S>(ctx, there.wide(), named("ilu", IluOptions{}, FactorOptions{kind}))
                ->info()
                .figure("levels");
  };
  const HostCsr in_rows = grid_matrix(24);
  const auto rows_there = upload_matrix<double>(ctx, in_rows);
  const auto of_rows = made<double, S>(ctx, rows_there.wide(), named("ilu", IluOptions{}));
  CHECK(*of_rows->info().figure("levels") == 2 * 24 - 1);
  CHECK(levels(FactorOrder::rcm) == 2 * 24 - 1);
  CHECK(levels(FactorOrder::colours) < 7);
  const auto coloured =
      made<double, S>(ctx, rows_there.wide(), named("ilu", IluOptions{}, FactorOptions{FactorOrder::colours}));
  CHECK(*coloured->info().figure("levels") == 2);
}

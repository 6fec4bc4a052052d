// SPDX-License-Identifier: Apache-2.0
// LaneFactors: incomplete factors of eight systems, against dense elimination that forgets what is outside of the
// pattern.
#include "solver/batched/inverse/lane_factors.hpp"

#include "tests/catch.hpp"
#include "tests/solver/batched_support.hpp"

namespace {

constexpr int lanes = detail::batched_lanes;

/// ILU(0), column by column of U (the variant KIJ), in long double; L below the diagonal.
std::vector<std::vector<long double>> dense_factors(const HostCsr& a) {
  std::vector<std::vector<long double>> m(a.rows, std::vector<long double>(a.rows, 0));
  std::vector<std::vector<bool>> kept(a.rows, std::vector<bool>(a.rows, false));
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_ptr[i]; e < a.row_ptr[i + 1]; ++e) m[i][a.col[e]] = a.val[e], kept[i][a.col[e]] = true;
  }
  for (Index k = 0; k < a.rows; ++k) {
    for (Index i = k + 1; i < a.rows; ++i) {
      if (!kept[i][k]) continue;
      m[i][k] /= m[k][k];
      for (Index j = k + 1; j < a.rows; ++j) {
        if (kept[i][j]) m[i][j] -= m[i][k] * m[k][j];
      }
    }
  }
  return m;
}

std::vector<long double> solve_dense(const std::vector<std::vector<long double>>& m, std::vector<long double> z) {
  const int n = static_cast<int>(z.size());
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) z[i] -= m[i][k] * z[k];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) z[i] -= m[i][k] * z[k];
    z[i] /= m[i][i];
  }
  return z;
}

template <class T>
void compare(const HostCsr& pattern) {
  const Batch<T> batch = dominant_batch<T>(pattern, lanes, false);
  const Csr<T, host> kept = make_matrix<T>(Context<host>(1), pattern);
  const Pattern<host> view{CsrView<T, host>(kept)};
  const Index n = pattern.rows;
  const Offset nnz = pattern.nnz();
  std::vector<T> values(nnz * lanes), r(n * lanes), memory(detail::LaneFactors<T>::numbers(n, nnz), T(NAN));
  for (int l = 0; l < lanes; ++l) {
    for (Offset e = 0; e < nnz; ++e) values[e * lanes + l] = batch.values[l * nnz + e];
    for (Index i = 0; i < n; ++i) r[i * lanes + l] = batch.b[l * n + i];
  }
  const detail::LaneFactors<T> factors(view, memory.data());
  factors.factorise(values.data());
  const T* const z = factors.solve(r.data());
  for (int l = 0; l < lanes; ++l) {
    const std::vector<T> b = batch.rhs(l);
    const std::vector<long double> expected = solve_dense(dense_factors(batch.matrix(l)), {b.begin(), b.end()});
    // Dominant rows: the factors are as well conditioned as the matrices, whose condition is below 100.
    const double bound = 1000 * std::numeric_limits<T>::epsilon();
    for (Index i = 0; i < n; ++i) REQUIRE(std::fabs(static_cast<double>(z[i * lanes + l] - expected[i])) <= bound);
  }
}

}  // namespace

TEST_CASE("Incomplete factors of eight systems are those of dense elimination on the pattern", "[batched]") {
  compare<double>(grid_pattern(9, 7));
  compare<float>(grid_pattern(9, 7));
  compare<double>(grid_pattern(1, 1));
  MapRows rows(31);
  Random random(3);
  for (Index i = 0; i < 31; ++i) {
    rows[i][i] = 1;
    for (int k = 0; k < 6; ++k) rows[i][static_cast<Index>(15.5 * (random.value() + 1)) % 31] = 1;
  }
  compare<double>(from_rows(31, rows));
}

// SPDX-License-Identifier: Apache-2.0
// l1-Jacobi: z_i = r_i / sum_j |a_ij| in both spaces, refreshed through permutations, and positive for every matrix.
#include "tests/catch.hpp"
#include "tests/precond/applied.hpp"

#include <newel/precond/registry.hpp>

namespace {

template <class T, Space S>
OperatorPtr<T, S> l1_jacobi(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order = {}) {
  return make_precond<T, S>(ctx, a, order, PrecondOptions{"l1-jacobi"}, SpmvOptions{});
}

// 1 / the sums, 1 for rows without entries.
std::vector<double> inverse_sums(const HostCsr& a) {
  std::vector<double> inverse;
  for (Index i = 0; i < a.rows; ++i) {
    long double sum = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) sum += std::fabs(static_cast<long double>(a.val[k]));
    inverse.push_back(sum > 0 ? static_cast<double>(1 / sum) : 1.0);
  }
  return inverse;
}

template <class T, Space S>
void check_sums(const Context<S>& ctx) {
  constexpr double bound = 4 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (HostCsr a : {tridiagonal_matrix(33), arrow_matrix(300), dominant_matrix(2001)}) {
    for (std::size_t k = 0; k < a.val.size(); k += 3) a.val[k] = -a.val[k];
    a.val[0] = 0;
    const auto there = upload_matrix<T>(ctx, a);
    const std::vector<double> expected = inverse_sums(a);
    const std::vector<T> ones(expected.size(), T(1));
    for (const auto& view : {there.wide(), there.narrow()}) {
      const std::vector<T> found = applied(ctx, *l1_jacobi<T, S>(ctx, view), ones);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(static_cast<double>(found[i]) == Approx(expected[i]).epsilon(bound));
        CHECK(found[i] > T(0));
      }
    }
  }
}

}  // namespace

TEST_BOTH("l1-Jacobi divides by the absolute sums of rows", "[precond]") {
  check_sums<double, S>(ctx);
  check_sums<float, S>(ctx);
}

TEST_BOTH("l1-Jacobi leaves rows of zeros as they are", "[precond]") {
  MapRows rows(3);
  rows[0][0] = -4;
  rows[2][1] = 0;
  const auto there = upload_matrix<double>(ctx, from_rows(3, rows));
  const auto m = l1_jacobi<double, S>(ctx, there.wide());
  CHECK(applied(ctx, *m, std::vector<double>{1, 2, 3}) == std::vector<double>{0.25, 2, 3});
}

TEST_BOTH("l1-Jacobi refreshed is l1-Jacobi rebuilt, also through permutations", "[precond]") {
  const HostCsr a = dominant_matrix(3001);
  HostCsr b = a;
  for (double& value : b.val) value = static_cast<float>(value * -1.375 + 0.0625);
  const auto at_a = upload_matrix<float>(ctx, a), at_b = upload_matrix<float>(ctx, b);
  const auto x = random_vector<float>(a.rows);
  const auto plain = l1_jacobi<float, S>(ctx, at_a.wide());
  const std::uint64_t allocations = ctx.memory()->use().allocations;
  plain->refresh(ctx, at_b.matrix.val.cspan());
  CHECK(ctx.memory()->use().allocations == allocations);
  CHECK(same_bits(applied(ctx, *plain, x), applied(ctx, *l1_jacobi<float, S>(ctx, at_b.narrow()), x)));
  const RowOrder<S> order = make_row_order(ctx, random_order(a.rows, 8));
  const auto a_permuted = permute(ctx, at_a.wide(), order), b_permuted = permute(ctx, at_b.wide(), order);
  const auto permuted = l1_jacobi<float, S>(ctx, a_permuted.view(), order);
  permuted->refresh(ctx, at_b.matrix.val.cspan());
  const auto rebuilt = applied(ctx, *l1_jacobi<float, S>(ctx, b_permuted.view(), order), x);
  CHECK(same_bits(applied(ctx, *permuted, x), rebuilt));
  // The same by values that are written in place.
  Slots<float, S> slots = permuted->slots(ctx);
  std::vector<float> values;
  for (const Offset k : slots.entry) values.push_back(static_cast<float>(a.val[static_cast<std::size_t>(k)]));
  copy<float>(ctx, Span<const float, Space::host>(values), slots.values);
  permuted->slots_written(ctx);
  CHECK(same_bits(applied(ctx, *permuted, x), applied(ctx, *l1_jacobi<float, S>(ctx, a_permuted.view(), order), x)));
}

TEST_BOTH("l1-Jacobi refuses another number of values, and what is not square", "[precond]") {
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(31));
  const auto m = l1_jacobi<double, S>(ctx, there.wide());
  const auto few = upload(ctx, std::vector<double>(3, 1.0));
  CHECK_THROWS_AS(m->refresh(ctx, few.cspan()), InputError);
  const auto wide = upload_matrix<double>(ctx, empty_matrix(2, 3));
  CHECK_THROWS_AS((l1_jacobi<double, S>(ctx, wide.wide())), InputError);
}

// SPDX-License-Identifier: Apache-2.0
// What products of a matrix show of it after a solve that failed.

#include <newel/solver/system_facts.hpp>

#include "tests/solver/problem.hpp"

namespace {

// A line of n springs; Neumann at both ends where `free`.
HostCsr line(Index n, bool free) {
  HostCsr a = tridiagonal_matrix(n);
  for (Index i = 0; i < n; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const bool end = i == 0 || i == n - 1;
      a.val[k] = a.col[k] != i ? -1 : free && end ? 1 : 2;
    }
  }
  return a;
}

void set_row(HostCsr& a, Index row, double value) {
  for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) a.val[k] = value;
}

template <class T, Space S>
SystemFacts facts_of_matrix(const HostCsr& a, const std::vector<double>& b) {
  const auto ctx = make_context<S>();
  const auto there = upload_matrix<T>(ctx, a);
  SystemOptions options = system_options("auto", "none");
  LinearSystem<T, S> system(ctx, there.wide(), options);
  const Array<T, S> rhs = upload(ctx, converted<T>(b));
  return facts_of<T, S>(ctx, system, rhs.cspan()).front();
}

}  // namespace

TEST_BOTH("A sound matrix has no defects", "[facts]") {
  const SystemFacts facts = facts_of_matrix<double, S>(line(50, false), std::vector<double>(50, 1.0));
  CHECK(facts.rows == 50);
  CHECK(facts.zero_rows.count == 0);
  CHECK(facts.impossible_rows.count == 0);
  CHECK(facts.zero_columns.count == 0);
  CHECK(facts.not_finite_rows.count == 0);
  CHECK_FALSE(facts.rows_sum_to_zero);
  CHECK(facts.has_entries);
}

TEST_BOTH("Rows that sum to zero are seen in every precision and at every scale", "[facts]") {
  for (const double scale : {1e-300, 1e-12, 1.0, 1e12, 1e290}) {
    CAPTURE(scale);
    HostCsr a = line(2000, true);
    for (double& value : a.val) value *= scale;
    CHECK(facts_of_matrix<double, S>(a, std::vector<double>(2000, 0.0)).rows_sum_to_zero);
    a.val[0] *= 1 + 1e-6;
    CHECK_FALSE(facts_of_matrix<double, S>(a, std::vector<double>(2000, 0.0)).rows_sum_to_zero);
  }
  CHECK(facts_of_matrix<float, S>(line(100, true), std::vector<double>(100, 0.0)).rows_sum_to_zero);
}

TEST_BOTH("Rows of zeros are counted, and those among them where b is not zero", "[facts]") {
  HostCsr a = line(20, false);
  set_row(a, 7, 0);
  set_row(a, 9, 0);
  set_row(a, 3, 1e-310);
  std::vector<double> b(20, 0.0);
  b[9] = 1;
  const SystemFacts facts = facts_of_matrix<double, S>(a, b);
  CHECK(facts.zero_rows.count == 2);
  CHECK(facts.zero_rows.first == 7);
  CHECK(facts.impossible_rows.count == 1);
  CHECK(facts.impossible_rows.first == 9);
  CHECK_FALSE(facts.zero_matrix());
  for (double& value : a.val) value = 0;
  const SystemFacts zero = facts_of_matrix<double, S>(a, b);
  CHECK(zero.zero_matrix());
  CHECK_FALSE(zero.rows_sum_to_zero);
}

TEST_BOTH("Unknowns that no entry is stored for are counted in every precision", "[facts]") {
  // Unknowns 4 and 11 of 20 are left out of their rows and of their neighbours'.
  HostCsr a = line(20, false), left;
  left.rows = left.cols = a.rows;
  left.row_ptr = {0};
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.col[k] == 4 || a.col[k] == 11) continue;
      left.col.push_back(a.col[k]);
      left.val.push_back(a.val[k]);
    }
    left.row_ptr.push_back(static_cast<Offset>(left.col.size()));
  }
  for (const SystemFacts& facts : {facts_of_matrix<double, S>(left, std::vector<double>(20, 1.0)),
                                   facts_of_matrix<float, S>(left, std::vector<double>(20, 1.0))}) {
    CHECK(facts.zero_columns.count == 2);
    CHECK(facts.zero_columns.first == 4);
    CHECK(facts.zero_rows.count == 0);
  }
}

TEST_BOTH("Rows with NaN or infinity are counted, and large values are none", "[facts]") {
  HostCsr a = line(20, false);
  set_row(a, 2, 1e305);
  CHECK(facts_of_matrix<double, S>(a, std::vector<double>(20, 1.0)).not_finite_rows.count == 0);
  set_row(a, 5, std::numeric_limits<double>::quiet_NaN());
  set_row(a, 8, std::numeric_limits<double>::infinity());
  const SystemFacts facts = facts_of_matrix<double, S>(a, std::vector<double>(20, 1.0));
  CHECK(facts.not_finite_rows.count == 2);
  CHECK(facts.not_finite_rows.first == 5);
  CHECK(facts.zero_rows.count == 0);
}

TEST_CASE("Each of several right-hand sides has facts of its own", "[facts]") {
  const Context<Space::host> ctx(1);
  HostCsr a = line(4, false);
  set_row(a, 1, 0);
  const auto there = upload_matrix<double>(ctx, a);
  SystemOptions options = system_options("auto", "none");
  LinearSystem<double, Space::host> system(ctx, there.wide(), options);
  const std::vector<double> b = {1, 0, 1, 1, 1, 1, 1, 1};
  const auto facts =
      facts_of<double, Space::host>(ctx, system, Span<const double, Space::host>(b.data(), b.size()), 2);
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].impossible_rows.count == 0);
  CHECK(facts[1].impossible_rows.count == 1);
  CHECK(facts[0].zero_rows.count == 1);
}

// SPDX-License-Identifier: Apache-2.0
// Row lengths, bandwidth, dominance, row sums and sizes on matrices that one can check by hand.
#include "tests/catch.hpp"

#include <newel/io/matrix_market.hpp>

#include "apps/newel/input/matrix_facts.hpp"

using namespace newel::cli;

namespace {

const Context<Space::host> on_host(3);

Csr<double, Space::host> matrix_of(const std::vector<std::vector<Index>>& columns_of_row, Index cols,
                                   std::vector<double> values = {}) {
  const Context<Space::host> ctx(1);
  std::vector<Offset> row_ptr{0};
  std::vector<Index> col;
  for (const auto& columns : columns_of_row) {
    col.insert(col.end(), columns.begin(), columns.end());
    row_ptr.push_back(static_cast<Offset>(col.size()));
  }
  Csr<double, Space::host> a;
  a.rows = static_cast<Index>(columns_of_row.size());
  a.cols = cols;
  a.row_ptr = make_array(ctx, row_ptr);
  a.col = make_array(ctx, col);
  values.resize(col.size(), 1.0);
  a.val = make_array(ctx, values);
  return a;
}

}  // namespace

TEST_CASE("Bandwidth looks both ways", "[cli]") {
  const Bandwidth band = bandwidth(on_host, matrix_of({{0, 3}, {}, {0, 2}, {2}}, 4));
  CHECK(band.lower == 2);
  CHECK(band.upper == 3);
}

TEST_CASE("A row is dominant when its diagonal entry is no less than the sum of the others", "[cli]") {
  // Ones everywhere: row 0 has 1 >= 1, row 1 has 1 < 2, row 2 has 1 >= 0, row 3 lacks its diagonal.
  CHECK(dominant_rows(on_host, matrix_of({{0, 1}, {0, 1, 2}, {2}, {0}}, 4)) == 3 - 1);
}

TEST_CASE("Row lengths: each length its own line where there are few", "[cli]") {
  const cli::RowLengths lengths = row_lengths(on_host, matrix_of({{0}, {0, 1, 2, 3}, {1}, {2}}, 4));
  CHECK(lengths.shortest == 1);
  CHECK(lengths.longest == 4);
  CHECK(lengths.mean == 1.75);
  CHECK(lengths.median == 1);
  REQUIRE(lengths.histogram.size() == 2);
  CHECK(lengths.histogram[0].from == 1);
  CHECK(lengths.histogram[0].rows == 3);
  CHECK(lengths.histogram[1].to == 4);
  CHECK(lengths.histogram[1].rows == 1);
}

TEST_CASE("Row lengths: bins cover every row once, whatever the distribution", "[cli]") {
  for (const Index step : {0, 1, 3, 40}) {
    std::vector<std::vector<Index>> rows;
    for (Index i = 0; i < 50; ++i) {
      const Index length = step == 40 ? (i == 49 ? 2000 : i % 3) : i * step;
      std::vector<Index> columns;
      for (Index k = 0; k < length; ++k) columns.push_back(k);
      rows.push_back(columns);
    }
    const cli::RowLengths lengths = row_lengths(on_host, matrix_of(rows, 2000));
    Index counted = 0;
    Offset next = lengths.shortest;
    for (const LengthBin& bin : lengths.histogram) {
      CHECK(bin.from >= next);
      CHECK(bin.to >= bin.from);
      next = bin.to + 1;
      counted += bin.rows;
    }
    CHECK(counted == 50);
    CHECK(lengths.histogram.size() <= 12);
  }
}

TEST_CASE("Rows sum to zero up to rounding of their own entries", "[cli]") {
  const std::vector<std::vector<Index>> pattern = {{0, 1}, {0, 1, 2}, {1, 2}};
  CHECK(rows_sum_to_zero(on_host, matrix_of(pattern, 3, {1, -1, -1e9, 1e9 + 1, -1, -1, 1})));
  CHECK(rows_sum_to_zero(on_host, matrix_of(pattern, 3, {0.3, -0.1 - 0.2, -1, 2, -1, -1, 1})));
  CHECK_FALSE(rows_sum_to_zero(on_host, matrix_of(pattern, 3, {1, -1, -1e9, 1e9, 0, -1, 1 + 1e-10})));
  CHECK_FALSE(rows_sum_to_zero(on_host, matrix_of(pattern, 3, {1, -1, -1, 2, -1, -1, NAN})));
  CHECK_FALSE(rows_sum_to_zero(on_host, matrix_of(pattern, 3, {0, 0, 0, 0, 0, 0, 0})));
  CHECK_FALSE(rows_sum_to_zero(on_host, matrix_of({}, 0)));
}

TEST_CASE("The sizes of entries leave zeros out", "[cli]") {
  const Magnitudes some = magnitudes(on_host, matrix_of({{0, 1}, {0, 1}}, 2, {-4, 0, 1e-3, 2}));
  CHECK(some.smallest == 1e-3);
  CHECK(some.largest == 4);
  CHECK(magnitudes(on_host, matrix_of({{0}}, 1, {0})).largest == 0);
}

TEST_CASE("Facts found by several threads are those of the whole matrix", "[cli][facts]") {
  // Row i has i % 3 entries left of a diagonal of 2, and row 9000 a last column that no other row has.
  std::vector<std::vector<Index>> columns;
  std::vector<double> values;
  constexpr Index n = 10000;
  for (Index i = 0; i < n; ++i) {
    columns.emplace_back();
    for (Index k = std::max(0, i - i % 3); k < i; ++k) columns.back().push_back(k);
    values.insert(values.end(), columns.back().size(), -1);
    columns.back().push_back(i);
    values.push_back(i == 5000 ? 1e9 : 2);
    if (i == 9000) columns.back().push_back(n - 1);
    if (i == 9000) values.push_back(1e-5);
  }
  const auto a = matrix_of(columns, n, values);
  const cli::RowLengths lengths = row_lengths(on_host, a);
  CHECK(lengths.shortest == 1);
  CHECK(lengths.longest == 3);
  REQUIRE(lengths.histogram.size() == 3);
  CHECK(lengths.histogram[0].rows == 3333);  // every third of 10,000, but for row 9000
  CHECK(lengths.histogram[1].rows == 3334);
  CHECK(lengths.histogram[2].rows == 3333);
  CHECK(bandwidth(on_host, a).lower == 2);
  CHECK(bandwidth(on_host, a).upper == n - 1 - 9000);
  CHECK(dominant_rows(on_host, a) == n);
  CHECK(magnitudes(on_host, a).smallest == 1e-5);
  CHECK(magnitudes(on_host, a).largest == 1e9);
  CHECK_FALSE(rows_sum_to_zero(on_host, a));
}

// SPDX-License-Identifier: Apache-2.0
// check_csr: every fault is refused with the first row that has it.
#include "tests/catch.hpp"

namespace {

// The message for a matrix given by its arrays, with row pointers of the type asked for; empty where it passes.
template <class RowPtr, Space S>
std::string verdict(const Context<S>& ctx, Index rows, Index cols, const std::vector<Offset>& row_ptr,
                    const std::vector<Index>& col, std::size_t values) {
  const auto at_row_ptr = upload(ctx, std::vector<RowPtr>(row_ptr.begin(), row_ptr.end()));
  const auto at_col = upload(ctx, col);
  const auto at_val = upload(ctx, std::vector<double>(values, 1.0));
  const CsrView<double, S> a(rows, cols, at_row_ptr.cspan(), at_col.cspan(), at_val.cspan());
  return message_of<InputError>([&] { check_csr<double>(ctx, a); });
}

// Both widths must say the same.
template <Space S>
std::string verdict_of(const Context<S>& ctx, Index rows, Index cols, const std::vector<Offset>& row_ptr,
                       const std::vector<Index>& col, std::size_t values) {
  const std::string wide = verdict<Offset>(ctx, rows, cols, row_ptr, col, values);
  CHECK(verdict<std::int32_t>(ctx, rows, cols, row_ptr, col, values) == wide);
  return wide;
}

template <Space S>
std::string verdict_of(const Context<S>& ctx, const HostCsr& a) {
  return verdict_of(ctx, a.rows, a.cols, a.row_ptr, a.col, a.val.size());
}

bool names(const std::string& message, Index row, const std::string& fault) {
  return contains(message, "row " + std::to_string(row) + " (0-based)") && contains(message, fault);
}

}  // namespace

TEST_BOTH("Canonical matrices pass", "[csr]") {
  for (const auto& [name, a] : awkward_matrices()) {
    INFO(name);
    CHECK(verdict_of(ctx, a) == "");
  }
}

TEST_BOTH("Arrays whose lengths cannot be right are refused before they are read", "[csr]") {
  CHECK(contains(verdict_of(ctx, 2, 2, {0, 1}, {0}, 1), "row_ptr has 2 entries, expected rows + 1 = 3"));
  CHECK(contains(verdict_of(ctx, 2, 2, {0, 1, 2, 2}, {0, 1}, 2), "row_ptr has 4 entries"));
  CHECK(contains(verdict_of(ctx, 2, 2, {0, 1, 2}, {0, 1}, 3), "2 column indices and 3 values"));
  CHECK(contains(verdict_of(ctx, -1, 2, {0}, {}, 0), "-1 x 2"));
  CHECK(contains(verdict_of(ctx, 0, -2, {0}, {}, 0), "0 x -2"));
  const CsrView<double, S> nothing;
  CHECK(contains(message_of<InputError>([&] { check_csr<double>(ctx, nothing); }), "row_ptr has 0 entries"));
}

TEST_BOTH("Row pointers that descend are reported before columns of an earlier row", "[csr]") {
  // Row 0 seems to hold all of 0 1 2 1 0, which do not ascend.
  const std::vector<Index> col = {0, 1, 2, 1, 0, 1, 2};
  CHECK(verdict_of(ctx, 3, 3, {0, 5, 2, 7}, col, 7) ==
        "row 1 (0-based): row_ptr decreases or exceeds the number of entries");
  CHECK(verdict_of(ctx, 3, 3, {0, 9, 2, 7}, {9, 1, 2, 1, 0, 1, 2}, 7) ==
        "row 0 (0-based): row_ptr decreases or exceeds the number of entries");
}

TEST_BOTH("Row pointers that do not run from 0 to the number of entries are refused", "[csr]") {
  CHECK(contains(verdict_of(ctx, 2, 2, {1, 1, 2}, {0, 1}, 2), "runs from 1 to 2"));
  CHECK(contains(verdict_of(ctx, 2, 2, {0, 1, 3}, {0, 1}, 2), "runs from 0 to 3"));
  CHECK(contains(verdict_of(ctx, 2, 2, {0, 1, 1}, {0, 1}, 2), "to the number of entries, 2"));
  CHECK(contains(verdict_of(ctx, 0, 0, {5}, {}, 0), "runs from 5 to 5"));
}

TEST_BOTH("Row pointers that decrease or leave the entries are refused with the row", "[csr]") {
  HostCsr a = tridiagonal_matrix(100);
  a.row_ptr[41] = a.row_ptr[40] - 1;
  CHECK(names(verdict_of(ctx, a), 40, "row_ptr decreases"));
  a = tridiagonal_matrix(100);
  a.row_ptr[41] = 1000000;
  CHECK(names(verdict_of(ctx, a), 40, "exceeds the number of entries"));
  a = tridiagonal_matrix(100);
  a.row_ptr[41] = -3;
  CHECK(names(verdict_of(ctx, a), 40, "row_ptr decreases"));
}

TEST_BOTH("A column outside the matrix is refused with the row", "[csr]") {
  for (const Index column : {-1, 100, std::numeric_limits<Index>::max(), std::numeric_limits<Index>::min()}) {
    for (const Index row : {0, 57, 99}) {
      HostCsr a = tridiagonal_matrix(100);
      a.col[a.row_ptr[row + 1] - 1] = column;
      const std::string message = verdict_of(ctx, a);
      CHECK(names(message, row, "outside 0 .. 99"));
    }
  }
}

TEST_BOTH("Columns that do not ascend are refused with the row", "[csr]") {
  for (const Index row : {1, 57, 98}) {
    HostCsr a = tridiagonal_matrix(100);
    std::swap(a.col[a.row_ptr[row]], a.col[a.row_ptr[row] + 1]);
    CHECK(names(verdict_of(ctx, a), row, "are not in ascending order"));
    a = tridiagonal_matrix(100);
    a.col[a.row_ptr[row]] = a.col[a.row_ptr[row] + 1];
    CHECK(names(verdict_of(ctx, a), row, "repeated"));
  }
}

TEST_BOTH("A fault anywhere in a long row is found", "[csr]") {
  const HostCsr good = dense_row_matrix(200, 150);
  for (const Offset at : {1, 31, 32, 33, 64, 199}) {
    HostCsr a = good;
    a.col[a.row_ptr[150] + at] = a.col[a.row_ptr[150] + at - 1];
    CHECK(names(verdict_of(ctx, a), 150, "repeated"));
  }
}

TEST_BOTH("Of several bad rows the first is named, with its gravest fault", "[csr]") {
  HostCsr a = tridiagonal_matrix(20000);
  a.col[a.row_ptr[19000]] = -1;
  a.col[a.row_ptr[15000]] = a.col[a.row_ptr[15000] + 1];
  std::swap(a.col[a.row_ptr[12000]], a.col[a.row_ptr[12000] + 1]);
  CHECK(names(verdict_of(ctx, a), 12000, "are not in ascending order"));
  a.col[a.row_ptr[12000] + 2] = a.col[a.row_ptr[12000] + 1];
  CHECK(names(verdict_of(ctx, a), 12000, "are not in ascending order"));
  a.col[a.row_ptr[12000] + 2] = 20000;
  CHECK(names(verdict_of(ctx, a), 12000, "outside"));
  a.row_ptr[9001] = a.row_ptr[9000] - 1;
  CHECK(names(verdict_of(ctx, a), 9000, "decreases"));
}

TEST_CASE("One fault among rows of any length is found and named, whatever the threads", "[csr]") {
  std::mt19937 random(20261125);
  const auto below = [&](Index n) { return static_cast<Index>(random() % static_cast<unsigned>(n)); };
  constexpr Index rows = 5000, cols = 40;  // enough for several shares
  HostCsr good;
  good.rows = rows, good.cols = cols;
  good.row_ptr = {0};
  for (Index i = 0; i < rows; ++i) {
    Index j = below(4) == 0 ? cols : below(30);  // a quarter of the rows is empty
    for (; j < cols; j += 1 + below(20)) good.col.push_back(j);
    good.row_ptr.push_back(static_cast<Offset>(good.col.size()));
  }
  good.val.assign(good.col.size(), 1.0);
  const std::vector<Offset>& row_ptr = good.row_ptr;
  for (const int threads : {1, 2, 3}) {
    const Context<Space::host> ctx(threads);
    REQUIRE(verdict_of(ctx, good) == "");
    for (int trial = 0; trial < 200; ++trial) {
      HostCsr a = good;
      const Index k = below(static_cast<Index>(a.col.size()));
      const auto row =
          static_cast<Index>(std::upper_bound(row_ptr.begin(), row_ptr.end(), Offset{k}) - row_ptr.begin()) - 1;
      const bool first = k == row_ptr[row];
      CAPTURE(threads, trial, k, row, first);
      const int fault = trial % 4;
      if (fault == 0) a.col[k] = -1 - below(5);
      if (fault == 1) a.col[k] = cols + below(5);
      if (fault == 2 && !first) a.col[k] = a.col[k - 1];
      if (fault == 3 && !first) std::swap(a.col[k], a.col[k - 1]);
      const std::string message = verdict_of(ctx, a);
      if (fault < 2) {
        CHECK(names(message, row, "outside 0 .. 39"));
      } else if (first) {
        CHECK(message == "");
      } else {
        CHECK(names(message, row, fault == 2 ? "repeated" : "are not in ascending order"));
      }
    }
  }
}

TEST_CASE("The verdict does not depend on the number of threads", "[csr]") {
  HostCsr a = tridiagonal_matrix(1000);
  a.col[a.row_ptr[900]] = -1;
  a.col[a.row_ptr[500]] = a.col[a.row_ptr[500] + 1];
  for (const int threads : {1, 2, 3, 5, Context<Space::host>::most_threads}) {
    CHECK(names(verdict_of(Context<Space::host>(threads), a), 500, "repeated"));
  }
}

// SPDX-License-Identifier: Apache-2.0
// Rows of a rank, told apart by hand.
#include "tests/catch.hpp"

#include "distributed/rows/split_rows.hpp"
#include "tests/distributed/rank_support.hpp"

using namespace newel;
using namespace newel::testing;
using newel::detail::RowSplit;
using newel::detail::split_rows;

namespace {

using Wide = std::vector<std::int64_t>;

RowSplit split(const std::vector<Offset>& row_ptr, const Wide& col, std::int64_t first, std::int64_t all) {
  return split_rows(Context<host>(2), Span<const Offset, host>(row_ptr), Span<const std::int64_t, host>(col), first,
                    all);
}

}  // namespace

TEST_CASE("Rows that need other ranks come last", "[distributed]") {
  // Rows 10 to 13 of 20: row 10 reads 9 and 13, row 11 itself and 12, row 12 reads 19, row 13 reads 10 and itself.
  const RowSplit found = split({0, 3, 5, 7, 9}, {9, 10, 13, 11, 12, 12, 19, 10, 13}, 10, 20);
  CHECK(found.old_of_new == std::vector<Index>{1, 3, 0, 2});
  CHECK(found.inner_rows() == 2);
  CHECK(found.border_rows() == 2);
  // In rank order old 10 is 2, 11 is 0, 12 is 3, 13 is 1.
  CHECK(found.inner.row_ptr == std::vector<Offset>{0, 2, 4});
  CHECK(found.inner.col == std::vector<Index>{0, 3, 1, 2});
  CHECK(found.inner.source == std::vector<Offset>{3, 4, 8, 7});
  CHECK(found.read == std::vector<Index>{1, 2, 3});
  CHECK(found.ghosts == Wide{9, 19});
  CHECK(found.border.row_ptr == std::vector<Offset>{0, 3, 5});
  CHECK(found.border.col == std::vector<Index>{0, 1, 3, 2, 4});
  CHECK(found.border.source == std::vector<Offset>{2, 1, 0, 5, 6});
  CHECK(found.diagonal == std::vector<Offset>{3, 8, 1, 5});
}

TEST_CASE("In a given order the first rows that need no other rank come first", "[distributed]") {
  // The rows of above in the order 11, 10, 13, 12: of these only row 11 stands before one that reads another rank.
  const std::vector<Offset> row_ptr = {0, 3, 5, 7, 9};
  const Wide col = {9, 10, 13, 11, 12, 12, 19, 10, 13};
  const std::vector<Index> order = {1, 0, 3, 2};
  const Span<const Index, host> given(order);
  const RowSplit found = split_rows(Context<host>(2), Span<const Offset, host>(row_ptr),
                                    Span<const std::int64_t, host>(col), 10, 20, &given);
  CHECK(found.old_of_new == order);
  CHECK(found.inner_rows() == 1);
  CHECK(found.border_rows() == 3);
  CHECK(found.inner.col == std::vector<Index>{0, 3});
  CHECK(found.read == std::vector<Index>{1, 2, 3});
  CHECK(found.ghosts == Wide{9, 19});
  CHECK(found.border.row_ptr == std::vector<Offset>{0, 3, 5, 7});
  CHECK(found.border.col == std::vector<Index>{0, 1, 3, 0, 1, 2, 4});
  CHECK(found.border.source == std::vector<Offset>{1, 2, 0, 7, 8, 5, 6});
}

TEST_CASE("A rank that has all rows keeps their order", "[distributed]") {
  const RowSplit found = split({0, 1, 1, 3}, {2, 0, 2}, 0, 3);
  CHECK(found.old_of_new == std::vector<Index>{0, 1, 2});
  CHECK(found.border_rows() == 0);
  CHECK(found.inner.col == std::vector<Index>{2, 0, 2});
  CHECK(found.diagonal == std::vector<Offset>{-1, -1, 2});
}

TEST_CASE("A rank without rows has none of anything", "[distributed]") {
  const RowSplit found = split({0}, {}, 5, 9);
  CHECK(found.old_of_new.empty());
  CHECK(found.inner_rows() == 0);
  CHECK(found.border_rows() == 0);
}

TEST_CASE("Rows that are no CSR matrix are refused by number", "[distributed]") {
  const auto refused = [](const std::vector<Offset>& row_ptr, const Wide& col) {
    return message_of<InputError>([&] { split(row_ptr, col, 10, 20); });
  };
  CHECK(refused({0, 1}, {20}) == "row 10 (counted from 0): column 20 of a matrix with 20 columns");
  CHECK(refused({0, 0, 1}, {-1}) == "row 11 (counted from 0): column -1 of a matrix with 20 columns");
  CHECK(refused({0, 2}, {3, 3}) == "row 10 (counted from 0): column 3 follows column 3: columns must ascend");
  CHECK(refused({0, 2, 1}, {3, 4}) == "row 11 (counted from 0): its row pointers are 2 and 1, with 2 entries in all");
  CHECK(refused({0, 1}, {3, 4}) == "the row pointers of a rank end at 1, with 2 entries");
  CHECK(refused({1, 1}, {3}) == "the row pointers of a rank start at 0");
}

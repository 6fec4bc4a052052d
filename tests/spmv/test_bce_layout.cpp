// SPDX-License-Identifier: Apache-2.0
// The arrays of bce: the paper's example by hand, small warps, and what holds for every matrix.
#include "tests/spmv/spmv_support.hpp"

#include "spmv/bce/bce_layout.hpp"

namespace {

using Host = Context<Space::host>;

BceLayout layout_of(const HostCsr& a, const BceShape& shape, std::vector<Index> bounds, int threads = 1) {
  const Host ctx(threads);
  const auto there = upload_matrix<double>(ctx, a);
  return make_bce_layout(ctx, Pattern<Space::host>(there.wide()), shape, std::move(bounds));
}

BceLayout planned_layout(const HostCsr& a, const BceShape& shape, int threads = 1) {
  const Host ctx(threads);
  const auto there = upload_matrix<double>(ctx, a);
  const Pattern<Space::host> pattern(there.narrow());
  const WidthDistribution f = width_distribution(ctx, pattern, shape.widest);
  return make_bce_layout(ctx, pattern, shape, optimal_bounds(f, shape.least_rows));
}

template <class T>
std::vector<T> vector_of(const Array<T, Space::host>& from) {
  return {from.begin(), from.end()};
}

// The 10 x 10 matrix of section 5.1.
HostCsr matrix_of_paper() {
  const double dense[10][10] = {{3, 0, 0, 0, 1, 0, 0, 0, 0, 0},  {0, 0, 9, -1, 0, 0, 7, 0, 0, 0},
                                {0, 4, 0, 0, 0, 0, 0, 0, 0, 0},  {0, 0, 0, 12, 3, 0, 0, 0, 0, 0},
                                {-1, 8, 0, 2, 0, 5, 0, 2, 7, 9}, {0, 0, 0, 0, 0, 0, -6, 0, 0, 0},
                                {0, 0, 6, 4, 0, 0, 0, 3, 0, 0},  {0, 2, 0, 5, 0, 0, 8, 0, 1, 0},
                                {2, 1, 0, 5, 0, 3, 7, 0, 0, 4},  {0, 0, 3, 0, 0, 7, 0, 0, 0, 0}};
  MapRows rows(10);
  for (Index i = 0; i < 10; ++i) {
    for (Index j = 0; j < 10; ++j) {
      if (dense[i][j] != 0) rows[i][j] = dense[i][j];
    }
  }
  return from_rows(10, rows);
}

BceShape small_shape() {
  BceShape shape;
  shape.least_rows = 2;
  shape.block_rows = 8;
  shape.lanes = 4;
  shape.widest = 10;
  shape.piece_slots = 16;
  return shape;
}

// Every row is written once, every entry stored once, and padding reads what its row reads anyway.
void check_layout(const HostCsr& a, const BceShape& shape, const BceLayout& to) {
  std::vector<int> written(static_cast<std::size_t>(a.rows), 0), stored(a.col.size(), 0);
  std::vector<char> used(static_cast<std::size_t>(to.slots()), 0);
  Index last_first_row = -1;
  for (Index b = 0; b < to.blocks(); ++b) {
    const Index rows = to.block_row[b + 1] - to.block_row[b];
    REQUIRE(rows > 0);
    CHECK(rows <= shape.block_rows);
    CHECK(to.block_slot[b] % shape.lanes == 0);
    CHECK(to.row_no[to.block_row[b]] > last_first_row);
    last_first_row = to.row_no[to.block_row[b]];
    for (Index r = 0; r < rows; ++r) {
      const Index i = to.row_no[to.block_row[b] + r];
      ++written[i];
      REQUIRE(a.row_length(i) <= to.block_width[b]);
      for (Index k = 0; k < to.block_width[b]; ++k) {
        const Offset slot = to.block_slot[b] + Offset{k} * rows + r;
        REQUIRE(slot < to.block_slot[b + 1]);
        used[slot] = 1;
        const bool padded = k >= a.row_length(i);
        const Offset entry = a.row_ptr[i] + (padded ? a.row_length(i) - 1 : k);
        CHECK(to.slot_source[slot] == (padded ? -1 : entry));
        CHECK(to.col[slot] == a.col[entry]);
        if (!padded) ++stored[entry];
      }
    }
  }
  const Offset blocked = to.block_slot[to.blocks()];
  for (Offset slot = 0; slot < blocked; ++slot) {
    if (!used[slot]) CHECK(to.slot_source[slot] == -1);
  }
  const auto& pieces = to.pieces;
  CHECK(blocked + pieces.piece_slot.back() == to.slots());
  for (std::size_t piece = 0; piece < pieces.piece_row.size(); ++piece) {
    CHECK(pieces.piece_slot[piece + 1] > pieces.piece_slot[piece]);
    CHECK(pieces.piece_slot[piece + 1] - pieces.piece_slot[piece] <= shape.piece_slots);
    if (pieces.piece_row[piece] >= 0) ++written[pieces.piece_row[piece]];
  }
  for (const Index i : pieces.joined_row) ++written[i];
  for (Offset slot = blocked; slot < to.slots(); ++slot) {
    REQUIRE(to.slot_source[slot] >= 0);
    ++stored[to.slot_source[slot]];
    CHECK(to.col[slot] == a.col[to.slot_source[slot]]);
  }
  CHECK(std::all_of(written.begin(), written.end(), [](int count) { return count == 1; }));
  CHECK(std::all_of(stored.begin(), stored.end(), [](int count) { return count == 1; }));
}

}  // namespace

TEST_CASE("bce's arrays of the paper's example are the printed ones", "[spmv][bce]") {
  BceShape shape;
  shape.lanes = 1;
  const HostCsr a = matrix_of_paper();
  const BceLayout to = layout_of(a, shape, {2, 4, 7});
  CHECK(vector_of(to.row_no) == std::vector<Index>{0, 2, 3, 5, 9, 1, 6, 7, 4, 8});
  CHECK(vector_of(to.block_width) == std::vector<Index>{2, 4, 7});
  CHECK(vector_of(to.block_row) == std::vector<Index>{0, 5, 8, 10});
  CHECK(vector_of(to.block_slot) == std::vector<Offset>{0, 10, 22, 36});
  std::vector<double> edata;
  for (const Offset source : to.slot_source) edata.push_back(source < 0 ? 0 : a.val[source]);
  CHECK(edata == std::vector<double>{3,  4, 12, -6, 3, 1, 0, 3, 0, 7,        //
                                     9,  6, 2,  -1, 4, 5, 7, 3, 8, 0, 0, 1,  //
                                     -1, 2, 8,  1,  2, 5, 5, 3, 2, 7, 7, 4, 9, 0});
  CHECK(std::vector<Index>(to.col.begin(), to.col.begin() + 10) == std::vector<Index>{0, 1, 3, 6, 2, 4, 1, 4, 6, 5});
  CHECK(to.pieces.piece_row.empty());
  check_layout(a, shape, to);
}

TEST_CASE("bce cuts large sets into equal blocks of whole warps, in the order of their first rows", "[spmv][bce]") {
  // 22 rows: widths 1 and 2 in turns. Sets of 11 rows; two blocks each, of 8 and 3.
  const HostCsr a = random_matrix(22, 50, 73, [](Index i) { return Offset{i % 2 == 0 ? 1 : 2}; });
  const BceLayout to = layout_of(a, small_shape(), {1, 2});
  CHECK(vector_of(to.block_row) == std::vector<Index>{0, 8, 16, 19, 22});
  CHECK(vector_of(to.block_width) == std::vector<Index>{1, 2, 1, 2});
  CHECK(vector_of(to.block_slot) == std::vector<Offset>{0, 8, 24, 28, 36});
  CHECK(vector_of(to.row_no) ==
        std::vector<Index>{0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15, 16, 18, 20, 17, 19, 21});
  check_layout(a, small_shape(), to);
}

TEST_CASE("bce keeps empty rows as blocks without slots and cuts rows that are too wide into pieces", "[spmv][bce]") {
  // Row 1 is empty; rows 0, 2, 4 have 12, 40 and 17 entries: one, three and two pieces.
  const Offset lengths[5] = {12, 0, 40, 3, 17};
  MapRows rows(5);
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < lengths[i]; ++j) rows[i][j] = 1;
  }
  const HostCsr a = from_rows(50, rows);
  const BceLayout to = layout_of(a, small_shape(), {3});
  CHECK(vector_of(to.row_no) == std::vector<Index>{1, 3});
  CHECK(vector_of(to.block_width) == std::vector<Index>{0, 3});
  CHECK(vector_of(to.block_slot) == std::vector<Offset>{0, 0, 4});
  CHECK(to.pieces.piece_slot == std::vector<Offset>{0, 12, 24, 29, 45, 61, 69});
  CHECK(to.pieces.piece_row == std::vector<Index>{0, -1, -1, -1, -1, -1});
  CHECK(to.pieces.joined_row == std::vector<Index>{4, 2});
  CHECK(to.pieces.joined_first == std::vector<Index>{1, 3, 6});
  check_layout(a, small_shape(), to);
}

TEST_CASE("bce stores every entry once and writes every row once, whatever the matrix and the machine",
          "[spmv][bce]") {
  const Machine gpu = large_gpu();
  CHECK(bce_shape(gpu).least_rows == 192);
  for (const auto& [name, a] : awkward_matrices()) {
    INFO(name);
    for (const BceShape& shape : {small_shape(), bce_shape(gpu), bce_shape(Machine{})}) {
      check_layout(a, shape, planned_layout(a, shape));
    }
  }
}

TEST_CASE("bce's layout does not depend on the number of threads", "[spmv][bce]") {
  const HostCsr a = ragged_matrix(30000, 30000);
  const BceLayout one = planned_layout(a, small_shape(), 1);
  for (const int threads : {2, 5}) {
    const BceLayout other = planned_layout(a, small_shape(), threads);
    CHECK(vector_of(other.row_no) == vector_of(one.row_no));
    CHECK(vector_of(other.block_slot) == vector_of(one.block_slot));
    CHECK(vector_of(other.slot_source) == vector_of(one.slot_source));
  }
}

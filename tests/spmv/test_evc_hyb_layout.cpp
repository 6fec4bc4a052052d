// SPDX-License-Identifier: Apache-2.0
// The arrays of evchyb: a small matrix by hand, the paper's invariants, and what holds for every matrix.
#include "tests/spmv/spmv_support.hpp"

#include "spmv/evc_hyb/evc_hyb_layout.hpp"

namespace {

using Host = Context<Space::host>;

EvcHybLayout layout_of(const HostCsr& a, const EvcHybShape& shape, bool as_they_stand = false, int threads = 1) {
  const Host ctx(threads);
  const auto there = upload_matrix<double>(ctx, a);
  return make_evc_hyb_layout(ctx, Pattern<Space::host>(there.wide()), shape, as_they_stand);
}

template <class T>
std::vector<T> vector_of(const Array<T, Space::host>& from) {
  return {from.begin(), from.end()};
}

EvcHybShape small_shape() {
  EvcHybShape shape;
  shape.warp = shape.slice = 4;
  shape.longest_ell = 6;
  shape.block_threads = 8;
  shape.thread_entries = 2;
  shape.reach = 20;
  return shape;
}

// Rows of the given lengths whose columns follow each other from a first column of their own.
HostCsr matrix_of(const std::vector<std::pair<Index, Index>>& length_and_first, Index cols) {
  MapRows rows(length_and_first.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (Index k = 0; k < length_and_first[i].first; ++k) rows[i][length_and_first[i].second + k] = 1;
  }
  return from_rows(cols, rows);
}

// Rows by length, equal ones by first column, then by number: by a plain sort.
std::vector<Index> sorted_rows(const HostCsr& a) {
  std::vector<Index> rows;
  for (Index i = 0; i < a.rows; ++i) rows.push_back(i);
  const auto first = [&](Index i) { return a.row_length(i) == 0 ? 0 : a.col[a.row_ptr[i]]; };
  std::stable_sort(rows.begin(), rows.end(), [&](Index i, Index j) {
    return a.row_length(i) != a.row_length(j) ? a.row_length(i) < a.row_length(j) : first(i) < first(j);
  });
  return rows;
}

// What the paper says of its arrays, for a layout with a row list.
void check_layout(const HostCsr& a, const EvcHybShape& shape, const EvcHybLayout& to) {
  const std::vector<Index> rows = vector_of(to.row_list);
  CHECK(rows == sorted_rows(a));
  CHECK(to.split % shape.warp == 0);
  std::vector<int> stored(a.col.size(), 0);
  const auto check_slot = [&](Index i, Offset k, Offset slot) {
    const bool padded = k >= a.row_length(i);
    CHECK(to.slot_source[slot] == (padded ? -1 : a.row_ptr[i] + k));
    if (a.row_length(i) > 0) CHECK(to.col[slot] == a.col[a.row_ptr[i] + std::min(k, a.row_length(i) - 1)]);
    if (!padded) ++stored[a.row_ptr[i] + k];
  };

  Offset ell_slots = 0, ell_entries = 0;
  Index last_length = -1, last_block = 0;
  for (Index r = 0; r < to.ell_ranges; ++r) {
    const EvcHybRange range = to.range[r], next = to.range[r + 1];
    CHECK(range.length > last_length);
    CHECK(range.length <= shape.longest_ell);
    CHECK(range.first_slot == ell_slots);
    CHECK(range.first_place % shape.warp == 0);
    CHECK(next.first_block > range.first_block);
    // As many blocks as it takes to give every thread its rows, and no more.
    const Index capacity = shape.block_threads * range.share, places = next.first_place - range.first_place;
    CHECK((next.first_block - range.first_block - 1) * capacity < places);
    CHECK((next.first_block - range.first_block) * capacity >= places);
    last_length = range.length;
    last_block = next.first_block;
    Index shorter = 0;
    for (Index place = range.first_place; place < next.first_place; ++place) {
      const Index i = rows[place];
      REQUIRE(a.row_length(i) <= range.length);
      if (a.row_length(i) < range.length) ++shorter;
      const Index slice = (place - range.first_place) / shape.slice;
      for (Index k = 0; k < range.length; ++k) {
        const Offset slot = range.first_slot + (Offset{slice} * range.length + k) * shape.slice + place % shape.slice;
        check_slot(i, k, slot);
      }
      ell_entries += a.row_length(i);
    }
    CHECK(shorter < shape.warp);  // what the length before left over
    ell_slots += Offset{places} * range.length;
  }
  CHECK(to.ell_slots() == ell_slots);
  const Offset longest = last_length < 0 ? 0 : last_length;
  CHECK(ell_slots - ell_entries <= (shape.warp - 1) * longest);

  const auto& pieces = to.pieces;
  CHECK(to.csr_rows() + to.split + static_cast<Index>(pieces.joined_row.size()) == a.rows);
  for (Index row = 0; row < to.csr_rows(); ++row) {
    const Index i = rows[to.split + row];
    const Offset slots = to.csr_slot[row + 1] - to.csr_slot[row];
    CHECK(slots % shape.warp == 0);
    CHECK(slots - a.row_length(i) < shape.warp);
    CHECK(slots <= shape.reach);
    for (Offset k = 0; k < slots; ++k) check_slot(i, k, to.csr_slot[row] + k);
  }
  Index place = to.split;
  for (Index r = to.ell_ranges; r < to.ranges(); ++r) {
    const EvcHybRange range = to.range[r], next = to.range[r + 1];
    CHECK(range.first_place == place);
    CHECK(range.first_block == last_block);
    CHECK((range.share & (range.share - 1)) == 0);
    for (; place < next.first_place; ++place) {
      const Offset slots = to.csr_slot[place - to.split + 1] - to.csr_slot[place - to.split];
      const bool enough = slots <= Offset{range.share} * shape.thread_entries;
      CHECK((enough || range.share == shape.block_threads));
      if (slots > 0 && range.share > 1) {
        // Half as many threads would have had too much, or a warp's worth of slots is the least there is.
        CHECK((slots > Offset{range.share} / 2 * shape.thread_entries));
      }
    }
    const Index rows_a_block = shape.block_threads / range.share;
    CHECK(next.first_block - range.first_block ==
          (next.first_place - range.first_place + rows_a_block - 1) / rows_a_block);
    last_block = next.first_block;
  }
  Offset slot = to.csr_slot[to.csr_rows()];
  for (std::size_t j = 0; j < pieces.joined_row.size(); ++j) {
    const Index i = pieces.joined_row[j];
    CHECK(i == rows[a.rows - static_cast<Index>(pieces.joined_row.size()) + static_cast<Index>(j)]);
    CHECK(a.row_length(i) > shape.reach / shape.warp * shape.warp - shape.warp);
    const Offset begin = pieces.piece_slot[pieces.joined_first[j]],
                 end = pieces.piece_slot[pieces.joined_first[j + 1]];
    CHECK((end - begin) % shape.warp == 0);
    for (Offset k = 0; k < end - begin; ++k) check_slot(i, k, slot++);
  }
  CHECK(slot == to.slots());
  CHECK(to.csr_slots() + to.ell_slots() == to.slots());
  CHECK(std::all_of(stored.begin(), stored.end(), [](int count) { return count == 1; }));
}

}  // namespace

TEST_CASE("evchyb's arrays of a small matrix are those by hand", "[spmv][evchyb]") {
  // Warps of 4, ELL up to 6. Lengths 1: 3 rows, 2: 6, 3: none, 4: 2, 5: none, 6: 2, 9: 1, 25: 1.
  const HostCsr a = matrix_of({{2, 30},
                               {1, 5},
                               {9, 0},
                               {2, 10},
                               {6, 3},
                               {1, 0},
                               {2, 20},
                               {4, 8},
                               {1, 9},
                               {2, 0},
                               {25, 0},
                               {2, 11},
                               {6, 1},
                               {4, 2},
                               {2, 31}},
                              40);
  const EvcHybLayout to = layout_of(a, small_shape());
  // By length, then first column.
  CHECK(vector_of(to.row_list) == std::vector<Index>{5, 1, 8, 9, 3, 11, 6, 0, 14, 13, 7, 12, 4, 2, 10});
  // Three rows of length 1 wait for 2; one of 2 waits for 4 past the absent 3; three wait for 6 past the absent 5,
  // where they and the first of length 6 fill a warp; the last row of length 6 goes to the CSR part.
  CHECK(to.split == 12);
  REQUIRE(to.ell_ranges == 2);
  CHECK(to.range[0].length == 2);
  CHECK(to.range[0].first_place == 0);
  CHECK(to.range[0].first_slot == 0);
  CHECK(to.range[0].share == 2);  // 2 lies in [6/4, 6/2)
  CHECK(to.range[1].length == 6);
  CHECK(to.range[1].first_place == 8);
  CHECK(to.range[1].first_slot == 16);
  CHECK(to.range[1].share == 1);
  CHECK(to.ell_slots() == 16 + 24);
  // CSR: 6 entries in 8 slots, 9 in 12; two threads' entries each: 4 and 8 threads. The row of 25 takes 28 slots,
  // more than a block's 20: two pieces.
  CHECK(vector_of(to.csr_slot) == std::vector<Offset>{40, 48, 60});
  REQUIRE(to.ranges() == 4);
  CHECK(to.range[2].share == 4);
  CHECK(to.range[2].first_place == 12);
  CHECK(to.range[3].share == 8);
  CHECK(to.range[3].first_place == 13);
  CHECK(to.range[4].first_place == 14);
  std::vector<Index> blocks;
  for (const EvcHybRange& range : to.range) blocks.push_back(range.first_block);
  CHECK(blocks == std::vector<Index>{0, 1, 2, 3, 4});
  CHECK(to.pieces.joined_row == std::vector<Index>{10});
  CHECK(to.pieces.piece_slot == std::vector<Offset>{0, 16, 28});
  CHECK(to.csr_slots() == 20 + 28);
  // The second warp of the ELL part's first range, column by column: rows 3, 11, 6, 0.
  CHECK(std::vector<Index>(to.col.begin() + 8, to.col.begin() + 16) ==
        std::vector<Index>{10, 11, 20, 30, 11, 12, 21, 31});
  // The padded rows 14, 13, 7 and the full row 12: columns 5 and 6 of six.
  CHECK(std::vector<Index>(to.col.begin() + 32, to.col.begin() + 40) ==
        std::vector<Index>{32, 5, 11, 5, 32, 5, 11, 6});
  check_layout(a, small_shape(), to);
}

TEST_CASE("evchyb's layout keeps the paper's invariants, whatever the matrix and the machine", "[spmv][evchyb]") {
  const Machine gpu = large_gpu();
  EvcHybShape narrow = small_shape();
  narrow.longest_ell = 2;
  for (const auto& [name, a] : awkward_matrices()) {
    INFO(name);
    for (const EvcHybShape& shape : {small_shape(), narrow, evc_hyb_shape(gpu), evc_hyb_shape(Machine{})}) {
      check_layout(a, shape, layout_of(a, shape));
    }
  }
  CHECK(evc_hyb_shape(Machine{}).warp == 32);
}

TEST_CASE("evchyb leaves fewer than a warp of short rows to the CSR part", "[spmv][evchyb]") {
  const EvcHybShape shape;
  for (const Index n : {31, 32, 33, 63, 64, 1000}) {
    const EvcHybLayout to = layout_of(diagonal_matrix(n), shape);
    CHECK(to.split == n / 32 * 32);
    CHECK(to.ell_slots() == to.split);
    CHECK(to.csr_slots() == n % 32 * 32);
  }
  // Table 3, pwtk: a row longer than 128 takes 32-slot units, a shorter one of the last warp too.
  const HostCsr a = random_matrix(70, 400, 81, [](Index i) { return Offset{i < 64 ? 5 : 300}; });
  const EvcHybLayout to = layout_of(a, shape);
  CHECK(to.split == 64);
  Offset slots = 0;
  for (Index i = 64; i < 70; ++i) slots += (a.row_length(i) + 31) / 32 * 32;
  CHECK(to.csr_slots() == slots);
}

TEST_CASE("evchyb gives a thread one, two or four rows by their length against the longest", "[spmv][evchyb]") {
  // 32 rows of every length from 0 to 12.
  const HostCsr a = [] {
    std::vector<std::pair<Index, Index>> rows;
    for (Index i = 0; i < 13 * 32; ++i) rows.push_back({i / 32, 0});
    return matrix_of(rows, 12);
  }();
  const EvcHybLayout to = layout_of(a, EvcHybShape());
  REQUIRE(to.ell_ranges == 13);
  std::vector<Index> share;
  for (Index r = 0; r < 13; ++r) share.push_back(to.range[r].share);
  CHECK(share == std::vector<Index>{4, 4, 4, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1});
  CHECK(to.slots() == a.nnz());
}

TEST_CASE("evchyb needs no row list where the rows stand as they are to", "[spmv][evchyb]") {
  MapRows rows(500);
  for (Index i = 0; i < 500; ++i) {
    for (Index k = 0; k < i / 4; ++k) rows[i][(k * 7 + i) % 600] = 1;
  }
  const HostCsr a = from_rows(600, rows);
  CHECK(layout_of(a, EvcHybShape(), true).row_list.empty());
  CHECK(layout_of(a, EvcHybShape(), false).row_list.size() == 500);
  const HostCsr falling = random_matrix(500, 600, 83, [](Index i) { return Offset{130 - i / 4}; });
  const EvcHybLayout fallback = layout_of(falling, EvcHybShape(), true);
  check_layout(falling, EvcHybShape(), fallback);
}

TEST_CASE("evchyb's layout does not depend on the number of threads", "[spmv][evchyb]") {
  const HostCsr a = power_law_matrix(20000);
  const EvcHybLayout one = layout_of(a, EvcHybShape());
  for (const int threads : {2, 5}) {
    const EvcHybLayout other = layout_of(a, EvcHybShape(), false, threads);
    CHECK(vector_of(other.row_list) == vector_of(one.row_list));
    CHECK(vector_of(other.slot_source) == vector_of(one.slot_source));
    CHECK(vector_of(other.col) == vector_of(one.col));
  }
}

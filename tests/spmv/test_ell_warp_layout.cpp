// SPDX-License-Identifier: Apache-2.0
// ELL-WARP's arrays: by hand on 12 x 12 with warps of four, and their invariants on random matrices.
#include "tests/catch.hpp"
#include "tests/spmv/ell_warp_support.hpp"

#include <newel/reorder/row_order.hpp>

using Indices = std::vector<Index>;
using Offsets = std::vector<Offset>;

namespace {

detail::RowSequence sorted(const HostCsr& a, Index window, Offset longest_warp_row = 1000) {
  const Context<Space::host> ctx(3);
  const Pattern<Space::host> pattern(view_of(a));
  return detail::sorted_sequence(ctx, pattern, detail::given_sequence(ctx, pattern, longest_warp_row), window);
}

// Shared rows first.
Indices sorted_rows(const HostCsr& a, Index window, Offset longest_warp_row = 1000) {
  const detail::RowSequence sequence = sorted(a, window, longest_warp_row);
  Indices rows = values_of(sequence.shared_row);
  for (const Index row : sequence.row_list) rows.push_back(row);
  return rows;
}

// The first `steps` columns, or sources, of a lane.
template <class V>
std::vector<V> lane_of(const Array<V, Space::host>& slots, const detail::EllWarpLayout& layout, Offset warp,
                       Index lane) {
  std::vector<V> found;
  for (Offset slot = layout.slot_begin[warp] + lane; slot < layout.slot_begin[warp + 1]; slot += layout.rules.width) {
    found.push_back(slots[slot]);
  }
  return found;
}

// The row of a slot, -1 where its lane has none, and the entry of the row that belongs there.
struct Place {
  Index row;
  Offset entry;
};
Place place_of(const SequencedLayout& made, Offset warp, Offset slot) {
  const detail::EllWarpLayout& layout = made.layout;
  const Offset width = layout.rules.width;
  const Offset step = (slot - layout.slot_begin[warp]) / width, lane = (slot - layout.slot_begin[warp]) % width;
  if (warp < layout.shared_warps) {
    Index r = 0;
    while (layout.shared_begin[r + 1] <= warp) ++r;
    return {made.sequence.shared_row[r],
            (warp - layout.shared_begin[r]) * width * layout.rules.chunk_share + step * width + lane};
  }
  const Offset w = warp - layout.shared_warps;
  const bool k1 = layout.row_begin.empty();
  const Offset first = k1 ? w * width : layout.row_begin[w];
  const Offset last = k1 ? std::min<Offset>(first + width, made.sequence.count) : layout.row_begin[w + 1];
  const int k = k1 ? 0 : layout.reductions[w];
  const Offset position = first + (lane >> k);
  if (position >= last) return {-1, 0};
  return {made.sequence.row_at(static_cast<Index>(position)), (step << k) + (lane & ((Offset{1} << k) - 1))};
}

// Every entry stands where `place_of` looks for it, all else is padding that repeats a column of the row, and the
// shares keep to the threshold.
std::string first_flaw(const HostCsr& a, const SequencedLayout& made) {
  const detail::EllWarpLayout& layout = made.layout;
  Offset found = 0;
  for (Offset warp = 0; warp < layout.shared_warps + layout.warps; ++warp) {
    for (Offset slot = layout.slot_begin[warp]; slot < layout.slot_begin[warp + 1]; ++slot) {
      const Place place = place_of(made, warp, slot);
      const bool filled = place.row >= 0 && place.entry < a.row_length(place.row);
      const bool in_chunk = warp >= layout.shared_warps || filled;
      const Offset expected = filled ? a.row_ptr[place.row] + place.entry : -1;
      if (layout.slot_source[slot] != expected && in_chunk)
        return "slot " + std::to_string(slot) + " has a wrong source";
      if (filled && layout.col[slot] != a.col[expected])
        return "slot " + std::to_string(slot) + " has a wrong column";
      if (layout.col[slot] < 0 || layout.col[slot] >= a.cols) return "a column is outside";
      found += filled ? 1 : 0;
    }
    const Offset steps = (layout.slot_begin[warp + 1] - layout.slot_begin[warp]) / layout.rules.width;
    const bool whole = !layout.row_begin.empty() && warp >= layout.shared_warps &&
                       (Index{1} << layout.reductions[warp - layout.shared_warps]) == layout.rules.width;
    if (warp >= layout.shared_warps && steps > layout.rules.threshold && !whole)
      return "a share exceeds the threshold";
  }
  return found == a.nnz() ? "" : "an entry is missing";
}

bool same_arrays(const detail::EllWarpLayout& a, const detail::EllWarpLayout& b) {
  return a.shared_warps == b.shared_warps && a.warps == b.warps &&
         values_of(a.shared_begin) == values_of(b.shared_begin) &&
         values_of(a.slot_begin) == values_of(b.slot_begin) && values_of(a.row_begin) == values_of(b.row_begin) &&
         values_of(a.reductions) == values_of(b.reductions) && values_of(a.col) == values_of(b.col) &&
         values_of(a.slot_source) == values_of(b.slot_source);
}

}  // namespace

TEST_CASE("Rows are sorted from the longest to the shortest, equal ones in their order", "[ellwarp]") {
  CHECK(sorted_rows(drawn_matrix(), 12) == Indices{7, 2, 4, 10, 0, 5, 8, 1, 3, 6, 11, 9});
  CHECK(sorted_rows(drawn_matrix(), 1000) == sorted_rows(drawn_matrix(), 12));
}

TEST_CASE("Within a window, rows keep to their neighbours", "[ellwarp]") {
  CHECK(sorted_rows(drawn_matrix(), 6) == Indices{2, 4, 0, 5, 1, 3, 7, 10, 8, 6, 11, 9});
  CHECK(sorted_rows(drawn_matrix(), 5) == Indices{2, 4, 0, 1, 3, 7, 5, 8, 6, 9, 10, 11});
  CHECK(sorted_rows(drawn_matrix(), 1) == Indices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("Rows that warps share stand before all windows", "[ellwarp]") {
  CHECK(sorted_rows(drawn_matrix(), 6, 3) == Indices{2, 7, 4, 0, 5, 1, 3, 6, 10, 8, 11, 9});
  CHECK(values_of(sorted(drawn_matrix(), 6, 3).shared_row) == Indices{2, 7});
}

TEST_CASE("Rows that come sorted are known for it, and sorting them once is enough", "[ellwarp]") {
  const Context<Space::host> ctx(2);
  const HostCsr falling = matrix_of_columns(3, {{0, 1, 2}, {0, 1}, {1, 2}, {}}), drawn = drawn_matrix();
  CHECK(detail::is_natural(ctx, sorted(falling, 4)));
  CHECK(detail::is_natural(ctx, sorted(falling, 2)));
  CHECK(detail::is_natural(ctx, sorted(diagonal_matrix(100), 7)));
  CHECK(detail::is_natural(ctx, sorted(falling, 4, 2)));
  CHECK_FALSE(detail::is_natural(ctx, sorted(drawn, 12)));
  for (const Index window : {1, 3, 5, 12}) {
    for (const Offset longest_warp_row : {Offset{1}, Offset{3}, Offset{1000}}) {
      INFO("window " << window << ", longest row of a warp " << longest_warp_row);
      const auto order = make_row_order(ctx, sorted_rows(drawn, window, longest_warp_row));
      const HostCsr again = download_matrix(ctx, permute(ctx, view_of(drawn), order).matrix);
      CHECK(detail::is_natural(ctx, sorted(again, window, longest_warp_row)));
    }
  }
}

TEST_CASE("K1 of the drawn matrix", "[ellwarp]") {
  const Context<Space::host> ctx(2);
  const SequencedLayout made = sorted_layout(ctx, drawn_matrix(), rules_of(4), 12);
  const detail::EllWarpLayout& layout = made.layout;
  CHECK(values_of(made.sequence.row_list) == Indices{7, 2, 4, 10, 0, 5, 8, 1, 3, 6, 11, 9});
  CHECK(layout.warps == 3);
  CHECK(layout.longest == 6);
  CHECK(values_of(layout.slot_begin) == Offsets{0, 24, 32, 36});
  CHECK(layout.row_begin.empty());
  CHECK(layout.reductions.empty());
  CHECK(values_of(layout.col) == Indices{0,  0,  4,  3, 2,  2,  7, 9, 4, 5, 10, 10, 6, 9, 10, 10, 7,  9,
                                         10, 10, 11, 9, 10, 10, 0, 5, 1, 1, 3,  6,  8, 1, 3,  6,  11, 0});
  CHECK(values_of(layout.slot_source) == Offsets{14, 3,  8,  22, 15, 4,  9,  23, 16, 5,  10, 24,
                                                 17, 6,  -1, -1, 18, -1, -1, -1, 19, -1, -1, -1,
                                                 0,  11, 20, 2,  1,  12, 21, -1, 7,  13, 25, -1});
}

TEST_CASE("K2 of the drawn matrix, threshold 3: two threads a row in the first group", "[ellwarp]") {
  const Context<Space::host> ctx(2);
  const SequencedLayout made = sorted_layout(ctx, drawn_matrix(), rules_of(4, 3), 12);
  const detail::EllWarpLayout& layout = made.layout;
  CHECK(values_of(layout.slot_begin) == Offsets{0, 12, 20, 28, 32});
  CHECK(values_of(layout.row_begin) == Indices{0, 2, 4, 8, 12});
  CHECK(values_of(layout.reductions) == std::vector<std::uint8_t>{1, 1, 0, 0});
  CHECK(Indices(layout.col.begin(), layout.col.begin() + 20) ==
        Indices{0, 2, 0, 2, 4, 6, 5, 9, 7, 11, 9, 9, 4, 7, 3, 9, 10, 10, 10, 10});
  CHECK(Offsets(layout.slot_source.begin(), layout.slot_source.begin() + 20) ==
        Offsets{14, 15, 3, 4, 16, 17, 5, 6, 18, 19, -1, -1, 8, 9, 22, 23, 10, -1, 24, -1});
  const SequencedLayout k1 = sorted_layout(ctx, drawn_matrix(), rules_of(4), 12);
  CHECK(Indices(layout.col.begin() + 20, layout.col.end()) ==
        Indices(k1.layout.col.begin() + 24, k1.layout.col.end()));
}

TEST_CASE("K2 of the drawn matrix, threshold 1: a row longer than the warp takes all of it", "[ellwarp]") {
  const Context<Space::host> ctx(2);
  const SequencedLayout made = sorted_layout(ctx, drawn_matrix(), rules_of(4, 1), 12);
  CHECK(values_of(made.layout.slot_begin) == Offsets{0, 8, 12, 16, 20, 24, 28, 32});
  CHECK(values_of(made.layout.row_begin) == Indices{0, 1, 2, 3, 4, 6, 8, 12});
  CHECK(values_of(made.layout.reductions) == std::vector<std::uint8_t>{2, 2, 2, 2, 1, 1, 0});
}

TEST_CASE("A row longer than 32 thresholds takes a whole warp of 32, one of exactly that many fits", "[ellwarp]") {
  const Context<Space::host> ctx(2);
  const auto steps_and_k = [&](Offset length) {
    const HostCsr a = random_matrix(1, 200000, 5, [&](Index) { return length; });
    const SequencedLayout made = sorted_layout(ctx, a, rules_of(32, 10), 1);
    return std::pair<Offset, int>(made.layout.slots() / 32, made.layout.reductions[0]);
  };
  CHECK(steps_and_k(160) == std::pair<Offset, int>(10, 4));
  CHECK(steps_and_k(320) == std::pair<Offset, int>(10, 5));
  CHECK(steps_and_k(1000) == std::pair<Offset, int>(32, 5));
}

TEST_CASE("A threshold at or above the longest row gives K1's arrays", "[ellwarp]") {
  const Context<Space::host> ctx(2);
  for (const HostCsr& a : {drawn_matrix(), ragged_matrix(500, 300), power_law_matrix(400)}) {
    const SequencedLayout k1 = sorted_layout(ctx, a, rules_of(32), a.rows);
    const auto longest = static_cast<Index>(k1.layout.longest);
    CHECK(same_arrays(sorted_layout(ctx, a, rules_of(32, longest), a.rows).layout, k1.layout));
    CHECK(same_arrays(sorted_layout(ctx, a, rules_of(32, longest + 7), a.rows).layout, k1.layout));
    CHECK_FALSE(same_arrays(sorted_layout(ctx, a, rules_of(32, longest - 1), a.rows).layout, k1.layout));
  }
}

TEST_CASE("The paper's permutation examples, sections 5.2 and 5.3", "[ellwarp]") {
  // Row lengths that sort rows 1 .. 7 into P = (2 5 7 3 1 4 6); row 2 is the paper's A, c.
  const HostCsr a =
      matrix_of_columns(7, {{0, 1}, {0, 1, 3, 4, 5}, {1, 2, 3}, {2, 3}, {0, 2, 4, 6}, {5}, {1, 3, 5, 6}});
  const Context<Space::host> ctx(2);
  const Indices p = {1, 4, 6, 2, 0, 3, 5};
  CHECK(sorted_rows(a, 7) == p);
  const RowOrder<Space::host> order = make_row_order(ctx, p);
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7};
  Array<double, Space::host> at_x = upload(ctx, x), renumbered(ctx, 7);
  gather<double, Space::host>(ctx, at_x.cspan(), order.old_of_new.cspan(), renumbered.span());
  CHECK(values_of(renumbered) == std::vector<double>{2, 5, 7, 3, 1, 4, 6});

  const auto permuted = permute(ctx, view_of(a), order);
  const HostCsr b = download_matrix(ctx, permuted.matrix);
  const std::vector<double> row = {7, 8, 9, 10, 2};  // the values of row 2 in the paper
  const auto values = [&](const detail::EllWarpLayout& layout) {
    std::vector<double> found;
    for (const Offset source : lane_of(layout.slot_source, layout, 0, 0)) {
      // Entry k of the matrix has the value k + 1; row 2 holds entries 2 .. 6.
      found.push_back(row[static_cast<std::size_t>(b.val[source]) - 3]);
    }
    return found;
  };
  const SequencedLayout k1r = given_layout(ctx, b, rules_of(4), p), k1rs = given_layout(ctx, b, rules_of(4));
  CHECK(lane_of(k1r.layout.col, k1r.layout, 0, 0) == Indices{4, 0, 5, 1, 6});  // c' = P^-1(c) = (5 1 6 2 7)
  CHECK(values(k1r.layout) == row);
  CHECK(lane_of(k1rs.layout.col, k1rs.layout, 0, 0) == Indices{0, 1, 4, 5, 6});  // c'' = (1 2 5 6 7)
  CHECK(values(k1rs.layout) == std::vector<double>{8, 10, 7, 9, 2});
}

TEST_CASE("A row beyond the limit is cut into chunks, a warp each", "[ellwarp]") {
  const Context<Space::host> ctx(2);
  detail::EllWarpRules rules = rules_of(4);
  rules.longest_warp_row = 3;
  rules.chunk_share = 1;
  const SequencedLayout made = sorted_layout(ctx, drawn_matrix(), rules, 12);
  CHECK(values_of(made.sequence.shared_row) == Indices{2, 7});
  CHECK(values_of(made.layout.shared_begin) == Offsets{0, 1, 3});
  CHECK(values_of(made.sequence.row_list) == Indices{4, 10, 0, 5, 8, 1, 3, 6, 11, 9});
  CHECK(values_of(made.layout.slot_begin) == Offsets{0, 4, 8, 12, 24, 32, 32 + 4});
  CHECK(Offsets(made.layout.slot_source.begin(), made.layout.slot_source.begin() + 12) ==
        Offsets{3, 4, 5, 6, 14, 15, 16, 17, 18, 19, -1, -1});
  CHECK(made.layout.longest == 6);
}

TEST_CASE("Rows as they come need a list only where shared rows stand between them", "[ellwarp]") {
  const Context<Space::host> ctx(2);
  detail::EllWarpRules rules = rules_of(4);
  rules.longest_warp_row = 3;
  const HostCsr scattered = drawn_matrix(), leading = matrix_of_columns(4, {{0, 1, 2, 3}, {0, 1, 2, 3}, {1}, {0, 1}});
  const SequencedLayout a = given_layout(ctx, scattered, rules), b = given_layout(ctx, leading, rules);
  CHECK(values_of(a.sequence.row_list) == Indices{0, 1, 3, 4, 5, 6, 8, 9, 10, 11});
  CHECK(b.sequence.row_list.empty());
  CHECK(b.sequence.first == 2);
  CHECK(b.sequence.count == 2);
  CHECK(given_layout(ctx, scattered, rules_of(4)).sequence.row_list.empty());
}

TEST_CASE("Every entry has one slot, and every share keeps to the threshold", "[ellwarp]") {
  const Context<Space::host> ctx(3), alone(1);
  for (const auto& [name, a] : awkward_matrices()) {
    for (const Index width : {4, 8, 32}) {
      for (const Index threshold : {1, 2, 5, 40, detail::no_threshold}) {
        INFO(name << ", width " << width << ", threshold " << threshold);
        detail::EllWarpRules rules = detail::EllWarpRules::of_width(width);
        rules.threshold = threshold;
        const SequencedLayout sorted = sorted_layout(ctx, a, rules, 64 * width), given = given_layout(ctx, a, rules);
        CHECK(first_flaw(a, sorted) == "");
        CHECK(first_flaw(a, given) == "");
        CHECK(same_arrays(sorted_layout(alone, a, rules, 64 * width).layout, sorted.layout));
        CHECK(same_arrays(given_layout(alone, a, rules).layout, given.layout));
      }
    }
  }
}

TEST_CASE("Padding repeats a column of its own row", "[ellwarp]") {
  const Context<Space::host> ctx(2);
  const HostCsr a = power_law_matrix(700);
  const SequencedLayout made = sorted_layout(ctx, a, rules_of(8, 6), 700);
  for (Offset warp = 0; warp < made.layout.warps; ++warp) {
    for (Offset slot = made.layout.slot_begin[warp]; slot < made.layout.slot_begin[warp + 1]; ++slot) {
      const Place place = place_of(made, warp, slot);
      if (place.row < 0 || a.row_length(place.row) == 0) {
        CHECK(made.layout.col[slot] == 0);
      } else if (place.entry >= a.row_length(place.row)) {
        CHECK(made.layout.col[slot] == a.col[a.row_ptr[place.row + 1] - 1]);
      }
    }
  }
}

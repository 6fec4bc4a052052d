// SPDX-License-Identifier: Apache-2.0
// EHYB's arrays: on a matrix that one can check by hand, and read back entry by entry on random ones.
#include "tests/catch.hpp"
#include "tests/spmv/ehyb_support.hpp"

#include "spmv/ehyb/ehyb_layout.hpp"

using detail::EhybShape;

namespace {

using EhybLayout = detail::EhybLayout<host>;
const Context<host> one_thread(1);

Pattern<host> view(const HostCsr& a) {
  Pattern<host> p;
  p.rows = a.rows;
  p.cols = a.cols;
  p.row_ptr64 = {a.row_ptr.data(), static_cast<std::int64_t>(a.row_ptr.size())};
  p.col = {a.col.data(), a.nnz()};
  return p;
}

EhybLayout layout_of(const HostCsr& a, const std::vector<Index>& part_begin, const EhybShape& shape,
                     const Context<host>& ctx = one_thread) {
  return make_ehyb_layout(ctx, view(a), part_begin, shape);
}

template <class V>
std::vector<V> values(const Array<V, host>& array) {
  return std::vector<V>(array.begin(), array.end());
}

using Entry = std::tuple<Index, Index, Offset>;  // row, column, position

// Everything that the layout says about the matrix, and that each of its numbers is in range.
class Reader {
 public:
  explicit Reader(const EhybLayout& layout) : layout_(layout) {}

  std::vector<Entry> entries() {
    for (const auto& part : layout_.part) read_part(part);
    read_extra_rows();
    read_long_rows();
    std::sort(entries_.begin(), entries_.end());
    return std::move(entries_);
  }

 private:
  // Millions of these: Catch would count each.
  static void require(bool holds) {
    if (!holds) throw std::logic_error("a number of the layout is out of range");
  }
  void add(Index row, Index column, Offset position) {
    if (position >= 0) entries_.emplace_back(row, column, position);
  }
  void read_part(const detail::EhybPart& part) {
    const Index own = part.node_end - part.node_begin, block = layout_.shape.block, lanes = layout_.shape.lanes;
    require((own + part.halo_end - part.halo_begin) * block <= layout_.shape.cached_length);
    for (Index s = part.slice_begin; s < part.slice_end; ++s) {
      for (Index k = layout_.slice_first[s]; k < layout_.slice_first[s + 1]; ++k) {
        for (Index lane = 0; lane < lanes; ++lane) {
          const Index node = part.node_begin + ((s - part.slice_begin) * lanes + lane) / layout_.shape.share;
          const Index place = layout_.column[Offset{k} * lanes + lane];
          require(place < own + part.halo_end - part.halo_begin);
          const Index from = place < own ? part.node_begin + place : layout_.halo_node[part.halo_begin + place - own];
          for (Index d = 0; d < block; ++d) {
            for (Index e = 0; e < block; ++e) {
              const Offset start = layout_.run_source[(Offset{k} * block + d) * lanes + lane];
              if (start >= 0) require(node < part.node_end);
              add(node * block + d, from * block + e, start < 0 ? start : start + e);
            }
          }
        }
      }
    }
  }
  void read_extra_rows() {
    const Index lanes = layout_.shape.lanes;
    for (Index s = 0; s + 1 < layout_.er_slice_first.size(); ++s) {
      for (Index k = layout_.er_slice_first[s]; k < layout_.er_slice_first[s + 1]; ++k) {
        for (Index lane = 0; lane < lanes; ++lane) {
          const Offset slot = Offset{k} * lanes + lane;
          const Index i = s * lanes + lane;
          if (i >= layout_.er_row.size()) {
            require(layout_.rest_source[slot] == -1);
          } else {
            add(layout_.er_row[i], layout_.er_column[slot], layout_.rest_source[slot]);
          }
        }
      }
    }
  }
  void read_long_rows() {
    for (Index i = 0; i < layout_.long_rows.size(); ++i) {
      for (Index s = layout_.long_segment[i]; s < layout_.long_segment[i + 1]; ++s) {
        require(layout_.segment_begin[s + 1] - layout_.segment_begin[s] <= EhybLayout::segment);
        for (Offset k = layout_.segment_begin[s]; k < layout_.segment_begin[s + 1]; ++k) {
          add(layout_.long_rows[i], layout_.long_column[k], layout_.rest_source[layout_.er_slots + k]);
        }
      }
    }
  }

  const EhybLayout& layout_;
  std::vector<Entry> entries_;
};

std::vector<Entry> entries_of(const HostCsr& a) {
  std::vector<Entry> entries;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) entries.emplace_back(i, a.col[k], k);
  }
  return entries;
}

}  // namespace

// Two parts of three rows, two lanes. Row 0 reads 5, row 2 reads 4, row 4 reads 0, from the other part.
//     0 1 . | . . 5
//     . 1 2 | . . .
//     . . 2 | . 4 .
//     ------+------
//     . . . | 3 4 5
//     0 . . | . 4 .
//     . . . | . . .
static const HostCsr six = pattern_matrix({{0, 1, 5}, {1, 2}, {2, 4}, {3, 4, 5}, {0, 4}, {}}, 6);

TEST_CASE("With halos every entry of a small matrix has its place behind the part's own entries", "[ehyb]") {
  const EhybLayout layout = layout_of(six, {0, 3, 6}, {1, true, 8, 2});
  REQUIRE(layout.part.size() == 2);
  CHECK(values(layout.halo_node) == std::vector<Index>{4, 5, 0});
  CHECK(layout.part[1].halo_begin == 2);
  CHECK(layout.part[1].halo_end == 3);
  CHECK(values(layout.slice_first) == std::vector<Index>{0, 3, 5, 8, 8});
  // Part 0: own 0 1 2, halo 4 5 at places 3 and 4. Rows 0 and 1 are side by side; row 1 repeats its last column.
  CHECK(values(layout.column) == std::vector<std::uint16_t>{0, 1, 1, 2, 4, 2, /* row 2 and no row */ 2, 0, 3, 0,
                                                            /* rows 3, 4 */ 0, 3, 1, 1, 2, 1});
  CHECK(values(layout.run_source) == std::vector<Offset>{0, 3, 1, 4, 2, -1, 5, -1, 6, -1, 7, 10, 8, 11, 9, -1});
  CHECK(layout.cached_entries == 12);
  CHECK(layout.longest_cache == 5);
  CHECK_FALSE(layout.has_remainder());
}

TEST_CASE("Without halos the entries outside a part are extra rows, longest first", "[ehyb]") {
  const EhybLayout layout = layout_of(six, {0, 3, 6}, {1, false, 8, 2});
  CHECK(layout.halo_node.empty());
  CHECK(values(layout.slice_first) == std::vector<Index>{0, 2, 3, 6, 6});
  CHECK(values(layout.er_row) == std::vector<Index>{0, 2, 4});
  CHECK(values(layout.er_slice_first) == std::vector<Index>{0, 1, 2});
  CHECK(values(layout.er_column) == std::vector<Index>{5, 4, 0, 0});
  CHECK(values(layout.rest_source) == std::vector<Offset>{2, 6, 10, -1});
  CHECK(layout.block_slots == 12);
  CHECK(layout.er_slots == 4);
  CHECK(layout.cached_entries == 9);
}

TEST_CASE("Where a halo does not fit, its most used entries are cached", "[ehyb]") {
  // The first part reads 2 once, 3 three times, 4 twice; there is room for one, then for two.
  const HostCsr a = pattern_matrix({{0, 2, 3, 4}, {1, 3, 4}, {}, {}, {}, {3}}, 6);
  const std::vector<Index> parts = {0, 2, 6};
  const EhybLayout one = layout_of(a, parts, {1, true, 4, 2});
  CHECK(values(one.halo_node) == std::vector<Index>{3, 4});
  CHECK(values(one.er_row) == std::vector<Index>{0});
  CHECK(values(one.er_column)[0] == 2);
  CHECK(Reader(one).entries() == entries_of(a));
  CHECK_THROWS_AS(layout_of(a, parts, {1, true, 3, 2}), InputError);
}

TEST_CASE("A node's block is one column and its values are stored lane by lane", "[ehyb]") {
  const HostCsr nodes = pattern_matrix({{0, 2}, {1}, {0, 2}}, 3);
  const HostCsr a = blown_up(nodes, 2);
  const EhybLayout layout = layout_of(a, {0, 4, 6}, {2, true, 16, 2});
  CHECK(layout.nodes == 3);
  CHECK(values(layout.halo_node) == std::vector<Index>{2, 0});
  CHECK(values(layout.slice_first) == std::vector<Index>{0, 2, 4});
  CHECK(values(layout.column) == std::vector<std::uint16_t>{0, 1, 2, 1, 1, 0, 0, 0});
  // Node 0 has rows 0 and 1 with four entries each, node 1 two: where their rows begin, block by block.
  const auto source = values(layout.run_source);
  CHECK(std::vector<Offset>(source.begin(), source.begin() + 8) == std::vector<Offset>{0, 8, 4, 10, 2, -1, 6, -1});
  CHECK(layout.longest_cache == 6);
}

TEST_CASE("A row that would fill its slice with padding leaves it, and the remainder's slices too", "[ehyb]") {
  const HostCsr arrow = arrow_matrix(3000);
  const EhybLayout layout = layout_of(arrow, {0, 1500, 3000}, {1, true, 4000, 8});
  CHECK(values(layout.long_rows) == std::vector<Index>{0});
  CHECK(layout.long_slots() == 3000);
  CHECK(layout.segment_begin.size() == 4);
  CHECK(layout.block_slots <= 2 * arrow.nnz());
  CHECK(Reader(layout).entries() == entries_of(arrow));
}

TEST_CASE("Every layout holds every entry once, whatever the parts, the room and the block", "[ehyb]") {
  for (const auto& [name, nodes] : awkward_square_matrices()) {
    if (nodes.rows > 3000) continue;
    for (const int block : {1, 2, 3, 6}) {
      if (block > 1 && nodes.nnz() > 5000) continue;
      const HostCsr a = block == 1 ? nodes : blown_up(nodes, block);
      for (const Index parts : {1, 3, 40}) {
        if (a.rows == 0) continue;
        const auto bounds = random_bounds(a.rows, parts, block, static_cast<std::uint64_t>(parts));
        Index largest = 0;
        for (std::size_t p = 0; p + 1 < bounds.size(); ++p) largest = std::max(largest, bounds[p + 1] - bounds[p]);
        for (const Index room : {0, 7 * block, 1000000}) {
          for (const auto& [halo, share] : {std::pair{false, 1}, {true, 1}, {false, 4}, {true, 2}}) {
            INFO(name << ", block " << block << ", " << parts << " parts, room " << room << ", halo " << halo
                      << ", lanes of a node " << share);
            const EhybShape shape{block, halo, largest + room, 4, share};
            const EhybLayout layout = layout_of(a, bounds, shape);
            CHECK((Reader(layout).entries() == entries_of(a)));
            const detail::EhybSizes sizes = measure_ehyb(one_thread, view(a), bounds, shape);
            CHECK(sizes.product_bytes(8) == sizes_of(layout).product_bytes(8));
          }
        }
      }
    }
  }
}

// Rows 0 and 2 have three entries: two places of their two lanes.
TEST_CASE("The blocks of a node lie in its lanes in turn, padded to the end of the slice", "[ehyb]") {
  const HostCsr four = pattern_matrix({{0, 1, 2}, {1}, {0, 2, 3}, {3}}, 4);
  const EhybLayout layout = layout_of(four, {0, 4}, {1, true, 8, 4, 2});
  CHECK(values(layout.slice_first) == std::vector<Index>{0, 2, 4});
  CHECK(values(layout.column) == std::vector<std::uint16_t>{0, 1, 1, 1, 2, 2, 1, 1, 0, 2, 3, 3, 3, 3, 3, 3});
  CHECK(values(layout.run_source) == std::vector<Offset>{0, 1, 3, -1, 2, -1, -1, -1, 4, 5, 7, -1, 6, -1, -1, -1});
}

TEST_CASE("A layout does not depend on the number of threads", "[ehyb]") {
  const HostCsr a = power_law_matrix(2000);
  const auto bounds = random_bounds(a.rows, 9, 1, 5);
  const EhybShape shape{1, true, 1200, 8};
  const EhybLayout one = layout_of(a, bounds, shape), three = layout_of(a, bounds, shape, Context<host>(3));
  CHECK(values(one.run_source) == values(three.run_source));
  CHECK(values(one.rest_source) == values(three.rest_source));
  CHECK(values(one.column) == values(three.column));
  CHECK(values(one.halo_node) == values(three.halo_node));
  CHECK(values(one.er_column) == values(three.er_column));
  CHECK(values(one.long_column) == values(three.long_column));
}

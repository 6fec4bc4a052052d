// SPDX-License-Identifier: Apache-2.0
/// Where the rows of an EHYB matrix lie, for residuals. Internal.
#pragma once

#include "spmv/ehyb/ehyb_product.hpp"
#include "spmv/residual.hpp"

namespace newel::detail {

/// The column of a cached position of a part, for entry `e` of its node.
template <class T>
struct EhybColumn {
  const EhybView<T>& a;
  const EhybPart& part;

  NEWEL_HD Index operator()(Index cached, int e) const {
    const Index own = part.node_end - part.node_begin;
    const Index node = cached < own ? part.node_begin + cached : a.halo_node[part.halo_begin + cached - own];
    return node * a.block + e;
  }
};

/// The slots of row d of the node of a lane in a slice: f(values, stride, count, column_of) for each run.
template <class T, class F>
NEWEL_HD void walk_slice_row(const EhybView<T>& a, const EhybPart& part, Index slice, int lane, int d, F& f) {
  const Offset lanes = a.lanes, first = a.slice_first[slice], count = a.slice_first[slice + 1] - first;
  const int B = a.block;
  const std::uint16_t* const column = a.column + first * lanes + lane;
  const T* const value = a.value + first * lanes * B * B + lane;
  const EhybColumn<T> column_at{a, part};
  for (int e = 0; e < B; ++e) {
    f(value + (d * B + e) * lanes, lanes * B * B, count,
      [column, lanes, column_at, e](Offset k) { return column_at(column[k * lanes], e); });
  }
}

/// The place of a row in the remainder, -1 where it has none.
template <class T>
NEWEL_HD Index rest_of(const EhybView<T>& a, Index row) {
  if (a.rest.rows == 0) return -1;
  const Index at = last_at_or_below(a.rest.row, a.rest.rows, row);
  return a.rest.row[at] == row ? a.rest.place[at] : -1;
}

/// What of a row is in the remainder at `place`; the members of a warp share long rows, and one has extra rows.
template <class T, class F>
NEWEL_HD void walk_rest(const EhybView<T>& a, Index place, int member, int members, F& f) {
  if (place >= a.extra.rows) {
    const Index i = place - a.extra.rows;
    const Offset begin = a.longs.segment_begin[a.longs.segment[i]],
                 end = a.longs.segment_begin[a.longs.segment[i + 1]];
    walk_run(a.longs.value + begin, a.longs.column + begin, 1, end - begin, member, members, f);
  } else if (place >= 0 && member == 0) {
    const Index slice = place / a.lanes;
    const Offset first = a.extra.slice_first[slice], slot = first * a.lanes + place % a.lanes;
    walk_run(a.extra.value + slot, a.extra.column + slot, a.lanes, a.extra.slice_first[slice + 1] - first, 0, 1, f);
  }
}

/// Entries of the remainder at `place`, padding included.
template <class T>
NEWEL_HD Offset rest_entries(const EhybView<T>& a, Index place) {
  if (place < 0) return 0;
  if (place < a.extra.rows) {
    const Index slice = place / a.lanes;
    return a.extra.slice_first[slice + 1] - a.extra.slice_first[slice];
  }
  const Index i = place - a.extra.rows;
  return a.longs.segment_begin[a.longs.segment[i + 1]] - a.longs.segment_begin[a.longs.segment[i]];
}

/// Places are rows.
template <class T>
struct EhybWalk {
  EhybView<T> a;

  NEWEL_HD std::int64_t places() const { return a.rows; }
  NEWEL_HD bool is_long(std::int64_t place) const { return rest_of(a, static_cast<Index>(place)) >= a.extra.rows; }
  NEWEL_HD Offset entries(std::int64_t place) const {
    const Index node = static_cast<Index>(place) / a.block;
    const Index slice = slice_of(a.part[part_of(node)], node);
    return Offset{a.slice_first[slice + 1] - a.slice_first[slice]} * a.block * a.share +
           rest_entries(a, rest_of(a, static_cast<Index>(place)));
  }
  template <class F>
  NEWEL_HD Index row(std::int64_t place, int member, int members, F& f) const {
    const Index row = static_cast<Index>(place), node = row / a.block;
    if (member == 0) {
      const EhybPart& part = a.part[part_of(node)];
      const int first = (node - part.node_begin) % slice_nodes() * a.share;
      for (int lane = first; lane < first + a.share; ++lane) {
        walk_slice_row(a, part, slice_of(part, node), lane, row % a.block, f);
      }
    }
    walk_rest(a, rest_of(a, row), member, members, f);
    return row;
  }

 private:
  NEWEL_HD Index slice_nodes() const { return a.lanes / a.share; }
  NEWEL_HD Index slice_of(const EhybPart& part, Index node) const {
    return part.slice_begin + (node - part.node_begin) / slice_nodes();
  }
  NEWEL_HD Index part_of(Index node) const {
    const EhybPart* const part = a.part;
    return last_place_at_or_below(a.parts, node, [part](Index p) { return part[p].node_begin; });
  }
};

}  // namespace newel::detail

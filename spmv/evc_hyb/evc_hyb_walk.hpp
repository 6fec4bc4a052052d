// SPDX-License-Identifier: Apache-2.0
/// Where the rows of an EVC-HYB matrix lie, for residuals. Internal.
#pragma once

#include "spmv/evc_hyb/evc_hyb.hpp"
#include "spmv/residual.hpp"

namespace newel::detail {

/// Places: those of the layout, then the rows that are cut into pieces. `slice`: rows side by side in an ELL part.
template <class T>
struct EvcHybWalk {
  EvcHybView<T> a;
  Index slice;

  NEWEL_HD std::int64_t places() const { return a.rows; }
  NEWEL_HD bool is_long(std::int64_t place) const { return place >= a.split; }
  NEWEL_HD Offset entries(std::int64_t place) const {
    if (place < a.split) return range_of(place).length;
    return end_of(place) - begin_of(place);
  }
  template <class F>
  NEWEL_HD Index row(std::int64_t place, int member, int members, F& f) const {
    if (place < a.split) {
      const EvcHybRange& range = range_of(place);
      const Offset in_range = place - range.first_place;
      const Offset slot = range.first_slot + in_range / slice * slice * range.length + in_range % slice;
      walk_run(a.val + slot, a.col + slot, slice, range.length, member, members, f);
      return row_at(place);
    }
    const Offset begin = begin_of(place), count = end_of(place) - begin;
    if (place < in_pieces()) {
      walk_run(a.val + begin, a.col + begin, 1, count, member, members, f);
      return row_at(place);
    }
    walk_run(a.piece_val + begin, a.piece_col + begin, 1, count, member, members, f);
    return a.join.row[place - in_pieces()];
  }

 private:
  NEWEL_HD std::int64_t in_pieces() const { return std::int64_t{a.split} + a.csr_rows; }
  NEWEL_HD Index row_at(std::int64_t place) const {
    return a.row_list == nullptr ? static_cast<Index>(place) : a.row_list[place];
  }
  NEWEL_HD const EvcHybRange& range_of(std::int64_t place) const {
    const EvcHybRange* const range = a.range;
    return range[last_place_at_or_below(a.ell_ranges, place, [range](Index k) { return range[k].first_place; })];
  }
  NEWEL_HD Offset begin_of(std::int64_t place) const {
    if (place < in_pieces()) return a.csr_slot[place - a.split];
    return a.piece_slot[a.join.first[place - in_pieces()]];
  }
  NEWEL_HD Offset end_of(std::int64_t place) const {
    if (place < in_pieces()) return a.csr_slot[place - a.split + 1];
    return a.piece_slot[a.join.first[place - in_pieces() + 1]];
  }
};

}  // namespace newel::detail

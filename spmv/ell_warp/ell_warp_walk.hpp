// SPDX-License-Identifier: Apache-2.0
/// Where the rows of an ELL-WARP matrix lie, for residuals. Internal.
#pragma once

#include "spmv/ell_warp/ell_warp_product.hpp"
#include "spmv/residual.hpp"

namespace newel::detail {

/// Places: positions of the rows that a warp has, then the rows that several warps share. `lanes`: of a warp.
template <class T>
struct EllWarpWalk {
  EllWarpView<T> a;
  Index lanes;

  NEWEL_HD std::int64_t places() const { return std::int64_t{a.count} + a.shared_rows; }
  NEWEL_HD bool is_long(std::int64_t place) const { return place >= a.count; }
  NEWEL_HD Offset entries(std::int64_t place) const {
    if (is_long(place)) return shared_end(place) - shared_begin(place);
    const Offset warp = a.shared_warps + warp_of(static_cast<Index>(place));
    return a.slot_begin[warp + 1] - a.slot_begin[warp];
  }
  template <class F>
  NEWEL_HD Index row(std::int64_t place, int member, int members, F& f) const {
    if (is_long(place)) {
      const Offset begin = shared_begin(place);
      walk_run(a.val + begin, a.col + begin, 1, shared_end(place) - begin, member, members, f);
      return a.shared_row[place - a.count];
    }
    const Index position = static_cast<Index>(place), warp = warp_of(position);
    const Offset begin = a.slot_begin[a.shared_warps + warp], end = a.slot_begin[a.shared_warps + warp + 1];
    const int halvings = a.reductions == nullptr ? 0 : a.reductions[warp];
    const Index first = (position - first_of(warp)) << halvings;
    for (Index lane = first; lane < first + (Index{1} << halvings); ++lane) {
      walk_run(a.val + begin + lane, a.col + begin + lane, lanes, (end - begin) / lanes, member, members, f);
    }
    return a.row_at(position);
  }

 private:
  NEWEL_HD Index warp_of(Index position) const {
    if (a.row_begin == nullptr) return position / lanes;
    return last_at_or_below(a.row_begin, static_cast<Index>(a.warps), position);
  }
  NEWEL_HD Index first_of(Index warp) const { return a.row_begin == nullptr ? warp * lanes : a.row_begin[warp]; }
  NEWEL_HD Offset shared_begin(std::int64_t place) const { return a.slot_begin[a.shared_begin[place - a.count]]; }
  NEWEL_HD Offset shared_end(std::int64_t place) const { return a.slot_begin[a.shared_begin[place - a.count + 1]]; }
};

}  // namespace newel::detail

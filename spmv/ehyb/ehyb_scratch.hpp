// SPDX-License-Identifier: Apache-2.0
/// What products in EHYB's layout write in addition to y, and the view of a layout with it. Internal.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "spmv/ehyb/ehyb_product.hpp"

namespace newel::detail {

/// Allocated once per operator.
template <class T, Space S>
struct EhybScratch {
  Array<T, S> cache;  ///< host, with halos: `longest_cache` entries for each of `threads`
  int threads = 1;    ///< host: the most that may work
  Array<T, S> segment_sum;
  Array<double, S> part_dot, slice_dot;
  Array<Index, S> rest_row, rest_place;  ///< as in EhybView

  EhybScratch() = default;
  /// `slice_sums`: of x.y, which devices add up by slices.
  EhybScratch(const Context<S>& ctx, const EhybLayout<S>& layout, bool slice_sums)
      : segment_sum(ctx, layout.segments()), part_dot(ctx, layout.part.size()) {
    if (slice_sums) slice_dot = Array<double, S>(ctx, layout.slice_first.size() - 1);
    if (layout.has_remainder()) find_rest(ctx, layout);
    if constexpr (S == Space::host) {
      threads = ctx.threads();
      if (layout.shape.halo) cache = Array<T, S>(ctx, Offset{layout.longest_cache} * threads);
    }
  }

  std::size_t bytes() const {
    return cache.bytes() + segment_sum.bytes() + part_dot.bytes() + slice_dot.bytes() + rest_row.bytes() +
           rest_place.bytes();
  }

 private:
  void find_rest(const Context<S>& ctx, const EhybLayout<S>& layout) {
    std::vector<Index> row = to_vector(ctx, layout.er_row.cspan());
    const std::vector<Index> of_long = to_vector(ctx, layout.long_rows.cspan());
    row.insert(row.end(), of_long.begin(), of_long.end());
    std::vector<std::pair<Index, Index>> places;
    for (std::size_t k = 0; k < row.size(); ++k) places.emplace_back(row[k], static_cast<Index>(k));
    std::sort(places.begin(), places.end());
    std::vector<Index> place;
    row.clear();
    for (const auto& [of_row, at] : places) {
      row.push_back(of_row);
      place.push_back(at);
    }
    rest_row = make_array(ctx, row);
    rest_place = make_array(ctx, place);
  }
};

/// The layout with its values: of cached blocks at `cached`, of extra and then of long rows at `rest`.
template <class T, Space S>
EhybView<T> view_of(const EhybLayout<S>& layout, const T* cached, const T* rest, int block_threads,
                    EhybScratch<T, S>& scratch) {
  EhybView<T> view{};
  view.rows = layout.nodes * layout.shape.block;
  view.block = layout.shape.block;
  view.lanes = layout.shape.lanes;
  view.share = layout.shape.share;
  view.parts = static_cast<Index>(layout.part.size());
  view.part = layout.part.data();
  view.beyond_node = std::numeric_limits<Index>::max();
  view.halo_node = layout.halo_node.data();
  view.slice_first = layout.slice_first.data();
  view.column = layout.column.data();
  view.value = cached;
  view.extra.rows = static_cast<Index>(layout.er_row.size());
  view.extra.slices = layout.er_slices();
  view.extra.row = layout.er_row.data();
  view.extra.slice_first = layout.er_slice_first.data();
  view.extra.column = layout.er_column.data();
  view.extra.value = rest;
  view.longs.rows = static_cast<Index>(layout.long_rows.size());
  view.longs.segments = layout.segments();
  view.longs.row = layout.long_rows.data();
  view.longs.segment = layout.long_segment.data();
  view.longs.segment_begin = layout.segment_begin.data();
  view.longs.column = layout.long_column.data();
  view.longs.value = rest + layout.er_slots;
  view.rest.rows = static_cast<Index>(scratch.rest_row.size());
  view.rest.row = scratch.rest_row.data();
  view.rest.place = scratch.rest_place.data();
  view.caches.longest = layout.longest_cache;
  view.block_threads = block_threads;
  view.caches.memory = scratch.cache.data();
  view.caches.threads = scratch.threads;
  view.longs.segment_sum = scratch.segment_sum.data();
  view.dots.of_part = scratch.part_dot.data();
  view.dots.of_slice = scratch.slice_dot.data();
  return view;
}

}  // namespace newel::detail

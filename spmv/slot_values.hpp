// SPDX-License-Identifier: Apache-2.0
/// SlotValues: the numbers of a format, slot by slot, and how they are filled and refreshed. Internal.
#pragma once

#include <purlin/core/vector_ops.hpp>
#include <purlin/spmv/operator.hpp>

namespace purlin::detail {

/// One number per slot of a layout. Slot k holds the value at position `source[k]` of the matrix, or 0 (padding).
template <class T, Space S>
class SlotValues {
 public:
  static constexpr Offset padding = -1;

  SlotValues() = default;

  /// Filled from `a.val`. Later values come in the order that the map of `a`, where it has one, points into.
  SlotValues(const Context<S>& ctx, const CsrView<T, S>& a, Span<const Offset, Space::host> source)
      : nonzeros_(a.nnz()), values_(ctx, source.size) {
    fill_rest(ctx, a, source);
  }

  /// The first slots come in runs: position i of `runs` fills slots (i / lanes) run lanes + e lanes + i % lanes with
  /// the values at positions runs[i] + e, or 0. Behind them slot k of `rest` as above. One position is kept for a run
  /// where its values follow each other in the caller's order too.
  SlotValues(const Context<S>& ctx, const CsrView<T, S>& a, Span<const Offset, Space::host> runs, int run,
             Index lanes, Span<const Offset, Space::host> rest)
      : nonzeros_(a.nnz()), values_(ctx, runs.size * run + rest.size), run_slots_(runs.size * run) {
    fill_runs(ctx, a, runs, run, lanes);
    fill_rest(ctx, a, rest);
  }

  /// One gather. Throws InputError when the count differs.
  void refresh(const Context<S>& ctx, Span<const T, S> values) {
    // Without slots there are no values: the empty map checks that.
    if (run_slots_ > 0) gather<T, S>(ctx, values, run_map_, run_span());
    if (run_slots_ < values_.size() || run_slots_ == 0) gather<T, S>(ctx, values, map_, rest_span());
  }

  /// See MatrixOperator::slots.
  Slots<T, S> open(const Context<S>& ctx) {
    std::vector<Offset> entry = positions_of(ctx, run_map_, run_slots_);
    const std::vector<Offset> rest = positions_of(ctx, map_, values_.size() - run_slots_);
    entry.insert(entry.end(), rest.begin(), rest.end());
    return {values_.span(), std::move(entry)};
  }

  const T* data() const { return values_.data(); }
  Offset nonzeros() const { return nonzeros_; }
  std::int64_t slots() const { return values_.size(); }
  std::size_t value_bytes() const { return values_.bytes(); }
  std::size_t map_bytes() const { return run_map_.bytes() + map_.bytes(); }

 private:
  Span<T, S> run_span() { return values_.span().subspan(0, run_slots_); }
  Span<T, S> rest_span() { return values_.span().subspan(run_slots_, values_.size() - run_slots_); }

  void fill_rest(const Context<S>& ctx, const CsrView<T, S>& a, Span<const Offset, Space::host> source) {
    if (source.empty()) return;
    const Array<Offset, S> positions = make_array(ctx, source);
    map_ = make_value_map(ctx, positions.cspan(), a.nnz());
    gather<T, S>(ctx, a.val, map_, rest_span());
    if (a.value_map != nullptr) map_ = make_value_map(ctx, positions.cspan(), a.nnz(), a.value_map);
  }

  void fill_runs(const Context<S>& ctx, const CsrView<T, S>& a, Span<const Offset, Space::host> runs, int run,
                 Index lanes) {
    if (runs.empty()) return;
    const Array<Offset, S> starts = make_array(ctx, runs);
    const auto map_of_runs = [&](const ValueMap<S>* through) {
      ValueMap<S> map = make_value_map(ctx, starts.cspan(), a.nnz(), through);
      map.run = run;
      map.lanes = lanes;
      return map;
    };
    run_map_ = map_of_runs(nullptr);
    gather<T, S>(ctx, a.val, run_map_, run_span());
    if (a.value_map == nullptr) return;
    if (runs_stay_together(ctx, starts.cspan(), run, *a.value_map)) {
      run_map_ = map_of_runs(a.value_map);
      return;
    }
    Array<Offset, Space::host> slots(host_context(ctx), run_slots_);
    for (Offset i = 0; i < runs.size; ++i) {
      for (int e = 0; e < run; ++e) {
        slots[i / lanes * run * lanes + Offset{e} * lanes + i % lanes] = runs[i] < 0 ? padding : runs[i] + e;
      }
    }
    const Array<Offset, S> positions = make_array(ctx, slots.cspan());
    run_map_ = make_value_map(ctx, positions.cspan(), a.nnz(), a.value_map);
  }

  Offset nonzeros_ = 0;
  Array<T, S> values_;
  Offset run_slots_ = 0;
  ValueMap<S> run_map_;  ///< of the first `run_slots_` slots
  ValueMap<S> map_;      ///< of the others
};

}  // namespace purlin::detail

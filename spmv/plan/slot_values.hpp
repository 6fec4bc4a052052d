// SPDX-License-Identifier: Apache-2.0
/// SlotValues: the values of a format, slot by slot, and how they are filled and refreshed. Internal.
#pragma once

#include <newel/core/vector_ops.hpp>
#include <newel/spmv/operator.hpp>
#include "spmv/plan/slot_gather.hpp"

namespace newel::detail {

/// What a format's estimate counts for the map of a slot: not less is kept, in either space. On the host it is 4
/// bytes.
inline std::uint64_t least_map_bytes(Offset nonzeros) {
  return nonzeros < Offset{ValueMap<Space::host>::none32} ? sizeof(std::uint16_t) : sizeof(Offset);
}

/// One number per slot of a layout. Slot k holds the value at position `source[k]` of the matrix, or 0 (padding).
template <class T, Space S>
class SlotValues {
 public:
  static constexpr Offset padding = -1;

  SlotValues() = default;

  /// Filled from `a.val`. Later values come in the order that the map of `a`, where it has one, points into.
  SlotValues(const Context<S>& ctx, const CsrView<T, S>& a, Span<const Offset, Space::host> source)
      : nonzeros_(a.nnz()), values_(ctx, source.size) {
    fill_rest(ctx, a, make_array(ctx, source));
  }

  /// The first slots come in runs: position i of `runs` fills slots (i / lanes) run lanes + e lanes + i % lanes with
  /// the values at positions runs[i] + e, or 0. Behind them slot k of `rest` as above. One position is kept for a run
  /// where its values follow each other in the caller's order too.
  SlotValues(const Context<S>& ctx, const CsrView<T, S>& a, Array<Offset, S> runs, int run, Index lanes,
             Array<Offset, S> rest)
      : nonzeros_(a.nnz()), values_(ctx, runs.size() * run + rest.size()), run_slots_(runs.size() * run) {
    fill_runs(ctx, a, std::move(runs), run, lanes);
    fill_rest(ctx, a, std::move(rest));
  }

  /// One gather. Throws InputError when the count differs.
  void refresh(const Context<S>& ctx, Span<const T, S> values) {
    // Without slots there are no values: the empty map checks that.
    if (run_slots_ > 0) run_gather_.gather(ctx, values, run_span());
    if (run_slots_ < values_.size() || run_slots_ == 0) gather_.gather(ctx, values, rest_span());
  }

  /// See MatrixOperator::slots.
  Slots<T, S> open(const Context<S>& ctx) {
    std::vector<Offset> entry = run_gather_.positions(ctx, run_slots_);
    const std::vector<Offset> rest = gather_.positions(ctx, values_.size() - run_slots_);
    entry.insert(entry.end(), rest.begin(), rest.end());
    return {values_.span(), std::move(entry)};
  }

  const T* data() const { return values_.data(); }
  Offset nonzeros() const { return nonzeros_; }
  std::int64_t slots() const { return values_.size(); }
  std::size_t value_bytes() const { return values_.bytes(); }
  std::size_t map_bytes() const { return run_gather_.bytes() + gather_.bytes(); }

 private:
  Span<T, S> run_span() { return values_.span().subspan(0, run_slots_); }
  Span<T, S> rest_span() { return values_.span().subspan(run_slots_, values_.size() - run_slots_); }

  void fill_rest(const Context<S>& ctx, const CsrView<T, S>& a, Array<Offset, S> positions) {
    if (positions.empty()) return;
    ValueMap<S> map = make_value_map(ctx, positions.cspan(), a.nnz());
    gather<T, S>(ctx, a.val, map, rest_span());
    if (a.value_map != nullptr) map = make_value_map(ctx, positions.cspan(), a.nnz(), a.value_map);
    positions = {};
    gather_ = {ctx, std::move(map)};
  }

  void fill_runs(const Context<S>& ctx, const CsrView<T, S>& a, Array<Offset, S> starts, int run, Index lanes) {
    if (starts.empty()) return;
    const auto map_of_runs = [&](const ValueMap<S>* through) {
      ValueMap<S> map = make_value_map(ctx, starts.cspan(), a.nnz(), through);
      map.run = run;
      map.lanes = lanes;
      return map;
    };
    ValueMap<S> map = map_of_runs(nullptr);
    gather<T, S>(ctx, a.val, map, run_span());
    if (a.value_map != nullptr) {
      map = runs_stay_together(ctx, starts.cspan(), run, *a.value_map) ? map_of_runs(a.value_map)
                                                                       : map_of_slots(ctx, a, starts, run, lanes);
    }
    starts = {};
    run_gather_ = {ctx, std::move(map)};
  }

  // Each slot of the runs on its own.
  ValueMap<S> map_of_slots(const Context<S>& ctx, const CsrView<T, S>& a, const Array<Offset, S>& starts, int run,
                           Index lanes) {
    const std::vector<Offset> from = to_vector(ctx, starts.cspan());
    Array<Offset, Space::host> slots(host_context(ctx), run_slots_);
    for (Offset i = 0; i < starts.size(); ++i) {
      for (int e = 0; e < run; ++e) {
        slots[i / lanes * run * lanes + Offset{e} * lanes + i % lanes] = from[i] < 0 ? padding : from[i] + e;
      }
    }
    const Array<Offset, S> positions = make_array(ctx, slots.cspan());
    return make_value_map(ctx, positions.cspan(), a.nnz(), a.value_map);
  }

  Offset nonzeros_ = 0;
  Array<T, S> values_;
  Offset run_slots_ = 0;
  SlotGather<T, S> run_gather_;  ///< of the first `run_slots_` slots
  SlotGather<T, S> gather_;      ///< of the others
};

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
/// SlotValues: the numbers of a format, slot by slot, and how they are filled and refreshed. Internal.
#pragma once

#include <purlin/core/vector_ops.hpp>

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
    const Array<Offset, S> positions = make_array(ctx, source);
    ValueMap<S> own = make_value_map(ctx, positions.cspan(), a.nnz());
    gather<T, S>(ctx, a.val, own, values_.span());
    map_ = a.value_map == nullptr ? std::move(own) : make_value_map(ctx, positions.cspan(), a.nnz(), a.value_map);
  }

  /// One gather. Throws InputError when the count differs.
  void refresh(const Context<S>& ctx, Span<const T, S> values) { gather<T, S>(ctx, values, map_, values_.span()); }

  const T* data() const { return values_.data(); }
  Offset nonzeros() const { return nonzeros_; }
  std::int64_t slots() const { return values_.size(); }
  std::size_t value_bytes() const { return values_.bytes(); }
  std::size_t map_bytes() const { return map_.bytes(); }

 private:
  Offset nonzeros_ = 0;
  Array<T, S> values_;
  ValueMap<S> map_;
};

}  // namespace purlin::detail

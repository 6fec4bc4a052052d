// SPDX-License-Identifier: Apache-2.0
// Entries of a level by their columns, on the device.
#include <algorithm>

#include "distributed/precond/amg/column_split.hpp"
#include "precond/amg/blocks/elements_device.cuh"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

// Rows with entries in columns of other ranks: the first, and the one after the last.
struct BorderRows {
  unsigned begin, end;
};

struct CountColumns {
  const Offset* row_ptr;
  const Index* col;
  Index own_columns;
  Offset *own, *others;
  BorderRows* border;

  __device__ void operator()(std::int64_t i) const {
    const Offset begin = row_ptr[i], end = row_ptr[i + 1], middle = first_column_from(col, begin, end, own_columns);
    own[i] = middle - begin;
    others[i] = end - middle;
    if (middle == end) return;
    atomicMin(&border->begin, static_cast<unsigned>(i));
    atomicMax(&border->end, static_cast<unsigned>(i) + 1);
  }
};

// Some lanes have a row.
struct TakeColumns {
  const Offset* row_ptr;
  const Index* col;
  const Offset* source;
  Index own_columns;
  const Offset *own_ptr, *others_ptr;
  Index *own_col, *others_col;
  Offset *own_source, *others_source;

  __device__ void operator()(const RowLanes& at) const {
    const Index i = at.row;
    const Offset begin = row_ptr[i], end = row_ptr[i + 1], own = own_ptr[i + 1] - own_ptr[i];
    for (Offset k = begin + at.lane; k < end; k += RowLanes::count) {
      const bool is_own = k < begin + own;
      const Offset to = is_own ? own_ptr[i] + (k - begin) : others_ptr[i] + (k - begin - own);
      (is_own ? own_col : others_col)[to] = is_own ? col[k] : col[k] - own_columns;
      (is_own ? own_source : others_source)[to] = source[k];
    }
  }
};

template <class V>
struct TakenValue {
  const V* values;
  const Offset* from;
  V* to;

  __device__ void operator()(std::int64_t k) const { to[k] = values[from[k]]; }
};

ScalarPattern<Space::device> empty_part(const DeviceContext& ctx, Index rows, Index cols, Offset entries) {
  ScalarPattern<Space::device> part;
  part.rows = rows;
  part.cols = cols;
  part.col = DeviceArray<Index>(ctx, entries);
  part.source = DeviceArray<Offset>(ctx, entries);
  return part;
}

}  // namespace

ColumnSplit<Space::device> split_columns(const DeviceContext& ctx, const ScalarPattern<Space::device>& a, Index own) {
  DeviceArray<Offset> own_ptr = zeros<Offset>(ctx, Offset{a.rows} + 1),
                      others_ptr = zeros<Offset>(ctx, Offset{a.rows} + 1);
  DeviceArray<BorderRows> border = make_array(ctx, std::vector<BorderRows>{{static_cast<unsigned>(a.rows), 0}});
  for_elements(ctx, a.rows,
               CountColumns{a.row_ptr.data(), a.col.data(), own, own_ptr.data(), others_ptr.data(), border.data()});
  exclusive_sum(ctx, own_ptr);
  exclusive_sum(ctx, others_ptr);
  const BorderRows rows = value_at(ctx, border, 0);
  const auto begin = static_cast<Index>(rows.begin), end = std::max(begin, static_cast<Index>(rows.end));
  ColumnSplit<Space::device> split;
  split.own = empty_part(ctx, a.rows, own, value_at(ctx, own_ptr, a.rows));
  split.others = empty_part(ctx, end - begin, a.cols - own, value_at(ctx, others_ptr, a.rows));
  split.others_begin = begin;
  for_rows_by_lanes(ctx, a.rows,
                    TakeColumns{a.row_ptr.data(), a.col.data(), a.source.data(), own, own_ptr.data(),
                                others_ptr.data(), split.own.col.data(), split.others.col.data(),
                                split.own.source.data(), split.others.source.data()});
  split.own.row_ptr = std::move(own_ptr);
  split.others.row_ptr = make_array(ctx, others_ptr.cspan().subspan(begin, end - begin + 1));
  return split;
}

template <class V>
DeviceArray<V> taken(const DeviceContext& ctx, Span<const V, Space::device> values,
                     Span<const Offset, Space::device> from) {
  DeviceArray<V> to(ctx, from.size);
  for_elements(ctx, from.size, TakenValue<V>{values.data, from.data, to.data()});
  return to;
}

#define X(V)                                                                        \
  template DeviceArray<V> taken(const DeviceContext&, Span<const V, Space::device>, \
                                Span<const Offset, Space::device>);
X(Offset)
X(Index)
#undef X

}  // namespace newel::detail

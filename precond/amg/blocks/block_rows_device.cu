// SPDX-License-Identifier: Apache-2.0
// Blocked matrices of a cycle on the device: their values, and products where they stand alone.
#include <algorithm>
#include <limits>

#include "precond/amg/blocks/block_rows_device.cuh"
#include "precond/amg/blocks/elements_device.cuh"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

// As many lanes as a row of usual length keeps busy.
int lanes_for(double entries_of_row, int entries_of_lane, int together) {
  int lanes = together > 1 ? 4 : 1;
  while (lanes < 32 && lanes * entries_of_lane < entries_of_row) lanes *= 2;
  return lanes;
}

struct Narrow {
  const Offset* from;
  std::int32_t* to;

  __device__ void operator()(std::int64_t i) const { to[i] = static_cast<std::int32_t>(from[i]); }
};

// Lengths of rows in their new places.
struct PlacedLength {
  const Offset* row_ptr;
  const Index* place;
  Offset* length;

  __device__ void operator()(std::int64_t i) const { length[place[i]] = row_ptr[i + 1] - row_ptr[i]; }
};

struct PlacedColumns {
  const Offset *row_ptr, *placed;
  const Index *col, *place;
  Index* to;

  __device__ void operator()(const RowLanes& at) const {
    const Offset begin = row_ptr[at.row], end = row_ptr[at.row + 1], first = placed[place[at.row]];
    for (Offset k = begin + at.lane; k < end; k += RowLanes::count) to[first + k - begin] = col[k];
  }
};

struct NewColumn {
  const Index *col, *place;
  Index* to;

  __device__ void operator()(std::int64_t k) const { to[k] = place[col[k]]; }
};

// A thread has a value, in the order of `a` (of a transpose: in its own).
template <class T>
struct PlaceValue {
  const double* from;
  const Offset* row_ptr;
  BlockRowsView<T> view;
  const Index* place;  // of rows; null: their own
  const Index* row_of;
  const Offset* source;  // of a transpose; null: not one
  int m, n;
  T* to;

  __device__ void operator()(std::int64_t t) const {
    const Offset k = t / (m * n);
    const auto e = static_cast<int>(t - k * (m * n));
    const int r = e / n, c = e % n;
    const Index i = row_of[k];
    const Offset begin = row_ptr[i], length = (row_ptr[i + 1] - begin) * n;
    const Index row = place == nullptr ? i : place[i];
    const Offset first = view.row_ptr32 != nullptr ? Offset{view.row_ptr32[row]} : view.row_ptr[row];
    const double value = source == nullptr ? from[t] : from[source[k] * (m * n) + c * m + r];
    to[first * m * n + r * length + (k - begin) * n + c] = static_cast<T>(value);
  }
};

template <class T>
__global__ void __launch_bounds__(ElementsTuning::threads)
    block_rows_kernel(BlockRowsView<T> b, const T* x, const Index* x_place, T* y, const Index* y_place) {
  const auto entry = [&](Index j) { return load_cached(x + (x_place == nullptr ? j : load_cached(x_place + j))); };
  for_rows(b, LaunchPlace(), entry, nothing_before(),
           [&](Index i, T sum, NothingBefore) { y[y_place == nullptr ? i : y_place[i]] = sum; });
}

template <class T>
__global__ void __launch_bounds__(ElementsTuning::threads)
    block_rows_add_kernel(BlockRowsView<T> b, T alpha, const T* x, const Index* place, Index own, const T* beyond,
                          T beta, T* y) {
  const auto at = [&](Index i) { return place == nullptr ? i : load_cached(place + i); };
  const auto entry = [&](Index j) { return load_cached(j < own ? x + at(j) : beyond + (j - own)); };
  const auto before = [&](Index i) { return beta == T(0) ? T(0) : beta * y[at(i)]; };
  for_rows(b, LaunchPlace(), entry, before, [&](Index i, T sum, T first) { y[at(i)] = first + alpha * sum; });
}

// What a lane has loaded of a row serves all columns, one after the other.
template <int together, class T>
__device__ __forceinline__ void multiply_rows(const BlockRowsView<T>& b, int columns, const T* x, ColumnLayout of_x,
                                              const Index* x_place, T* y, ColumnLayout of_y, const Index* y_place) {
  const LaunchPlace at;
  const Index groups = b.rows * (b.m / together), step = at.threads / b.lanes;
  const int lane = static_cast<int>(at.thread) & (b.lanes - 1);
  Index of_warp = (at.thread & ~Index{31}) / b.lanes, own = at.thread / b.lanes;
  for (; of_warp < groups; of_warp += step, own += step) {
    const LaneRows<T, together> rows(b, own, lane);
    for (int c = 0; c < columns; ++c) {
      const auto entry = [&](Index j) {
        return load_cached(x + (x_place == nullptr ? j : load_cached(x_place + j)) * of_x.entry + c * of_x.column);
      };
      finish_rows<together>(b, rows, lane, entry, nothing_before(), [&](Index i, T sum, NothingBefore) {
        y[(y_place == nullptr ? i : y_place[i]) * of_y.entry + c * of_y.column] = sum;
      });
    }
  }
}

template <class T>
__global__ void __launch_bounds__(ElementsTuning::threads)
    block_rows_columns_kernel(BlockRowsView<T> b, int columns, const T* x, ColumnLayout of_x, const Index* x_place,
                              T* y, ColumnLayout of_y, const Index* y_place) {
  if (b.together == 3) {
    multiply_rows<3>(b, columns, x, of_x, x_place, y, of_y, y_place);
  } else {
    multiply_rows<1>(b, columns, x, of_x, x_place, y, of_y, y_place);
  }
}

// A thread has two neighbouring rows, whose entries follow one another: `window` of them are under way at a time. On
// an H200 the 5.8 million rows of a prolongator with 2.7 entries each take 50 us instead of 82 (2.1 to 3.5 TB/s).
struct ShortRowsTuning {
  static constexpr int window = 6;
  static constexpr Offset most_of_row = 4;  // entries, on average
};

template <class T>
__global__ void __launch_bounds__(ElementsTuning::threads)
    short_rows_kernel(BlockRowsView<T> b, const T* x, const Index* x_place, T* y, const Index* y_place) {
  constexpr int window = ShortRowsTuning::window;
  const LaunchPlace at;
  for (Offset i = Offset{2} * at.thread; i < b.rows; i += Offset{2} * at.threads) {
    const bool two = i + 1 < b.rows;
    const Offset begin = load_cached(b.row_ptr32 + i), middle = load_cached(b.row_ptr32 + i + 1);
    const Offset end = two ? Offset{load_cached(b.row_ptr32 + i + 2)} : middle;
    T first = 0, second = 0;
    for (Offset from = begin; from < end; from += window) {
      Index column[window];
      T value[window];
#pragma unroll
      for (int u = 0; u < window; ++u) {
        const bool there = from + u < end;
        column[u] = there ? load_cached(b.col + from + u) : Index{-1};
        value[u] = there ? load_cached(b.val + from + u) : T(0);
      }
#pragma unroll
      for (int u = 0; u < window; ++u) {
        if (column[u] < 0) continue;
        const T entry = load_cached(x + (x_place == nullptr ? column[u] : load_cached(x_place + column[u])));
        (from + u < middle ? first : second) += value[u] * entry;
      }
    }
    y[y_place == nullptr ? i : y_place[i]] = first;
    if (two) y[y_place == nullptr ? i + 1 : y_place[i + 1]] = second;
  }
}

template <class T>
bool has_short_rows(const BlockRows<T>& b) {
  const BlockRowsView<T>& view = b.view();
  return view.m == 1 && view.n == 1 && view.row_ptr32 != nullptr &&
         b.entries() <= ShortRowsTuning::most_of_row * Offset{view.rows};
}

}  // namespace

template <class T>
BlockRows<T>::BlockRows(const DeviceContext& ctx, const BlockCsr<Space::device>& a,
                        const TransposedPattern<Space::device>* transposed, const Index* place)
    : blocks_(a.pattern.blocks()), place_(place) {
  const BlockPattern<Space::device>& pattern = transposed == nullptr ? a.pattern : transposed->pattern;
  view_.rows = pattern.rows;
  view_.m = transposed == nullptr ? a.row_block : a.col_block;
  view_.n = transposed == nullptr ? a.col_block : a.row_block;
  view_.magic = static_cast<unsigned>(((std::uint64_t{1} << 32) + view_.n - 1) / view_.n);
  view_.together = view_.m % 3 == 0 ? 3 : 1;
  const int of_lane = view_.together > 1 ? BlockRowsTuning::entries<T, 3> : BlockRowsTuning::entries<T, 1>;
  view_.lanes =
      lanes_for(static_cast<double>(blocks_) * view_.n / std::max<Index>(view_.rows, 1), of_lane, view_.together);
  view_.row_ptr = pattern.row_ptr.data();
  view_.col = pattern.col.data();
  if (place_ != nullptr) place_rows(ctx, pattern, transposed != nullptr);
  if (blocks_ <= std::numeric_limits<std::int32_t>::max()) {
    row_ptr32_ = Array<std::int32_t, Space::device>(ctx, pattern.row_ptr.size());
    for_elements(ctx, row_ptr32_.size(), Narrow{view_.row_ptr, row_ptr32_.data()});
    view_.row_ptr32 = row_ptr32_.data();
    view_.row_ptr = nullptr;
    row_ptr64_ = {};
  }
  val_ = Array<T, Space::device>(ctx, a.val.size());
  view_.val = val_.data();
  refresh(ctx, a, transposed);
}

// Row pointers of rows in their new places, and columns: those of such rows, or such columns.
template <class T>
void BlockRows<T>::place_rows(const DeviceContext& ctx, const BlockPattern<Space::device>& pattern, bool transposed) {
  col_ = Array<Index, Space::device>(ctx, blocks_);
  view_.col = col_.data();
  if (transposed) return for_elements(ctx, blocks_, NewColumn{pattern.col.data(), place_, col_.data()});
  row_ptr64_ = zeros<Offset>(ctx, pattern.row_ptr.size());
  for_elements(ctx, pattern.rows, PlacedLength{pattern.row_ptr.data(), place_, row_ptr64_.data()});
  exclusive_sum(ctx, row_ptr64_);
  for_rows_by_lanes(
      ctx, pattern.rows,
      PlacedColumns{pattern.row_ptr.data(), row_ptr64_.data(), pattern.col.data(), place_, col_.data()});
  view_.row_ptr = row_ptr64_.data();
}

template <class T>
void BlockRows<T>::refresh(const DeviceContext& ctx, const BlockCsr<Space::device>& a,
                           const TransposedPattern<Space::device>* transposed) {
  const BlockPattern<Space::device>& pattern = transposed == nullptr ? a.pattern : transposed->pattern;
  const Array<Index, Space::device> row_of = rows_of_blocks(ctx, pattern);
  for_elements(ctx, val_.size(),
               PlaceValue<T>{a.val.data(), pattern.row_ptr.data(), view_, transposed == nullptr ? place_ : nullptr,
                             row_of.data(), transposed == nullptr ? nullptr : transposed->source.data(), view_.m,
                             view_.n, val_.data()});
}

template <class T>
std::uint64_t BlockRows<T>::bytes_read() const {
  return val_.bytes() + static_cast<std::uint64_t>(blocks_) * sizeof(Index) +
         (static_cast<std::uint64_t>(view_.rows) + 1) * (row_ptr32_.empty() ? sizeof(Offset) : sizeof(std::int32_t));
}

template <class T>
void multiply(const DeviceContext& ctx, const BlockRows<T>& b, const T* x, const Index* x_place, T* y,
              const Index* y_place) {
  if (b.rows() == 0) return;
  if (has_short_rows(b)) {
    short_rows_kernel<<<blocks_for(ctx, (Offset{b.rows()} + 1) / 2), ElementsTuning::threads, 0,
                        ctx.state().stream()>>>(b.view(), x, x_place, y, y_place);
    NEWEL_CHECK_LAUNCH();
    return;
  }
  const unsigned blocks = blocks_for(ctx, Offset{b.rows() / b.view().together} * b.view().lanes);
  block_rows_kernel<<<blocks, ElementsTuning::threads, 0, ctx.state().stream()>>>(b.view(), x, x_place, y, y_place);
  NEWEL_CHECK_LAUNCH();
}

template <class T>
void multiply_add(const DeviceContext& ctx, const BlockRows<T>& b, T alpha, const T* x, const Index* place, Index own,
                  const T* beyond, T beta, T* y) {
  if (b.rows() == 0) return;
  const unsigned blocks = blocks_for(ctx, Offset{b.rows() / b.view().together} * b.view().lanes);
  block_rows_add_kernel<<<blocks, ElementsTuning::threads, 0, ctx.state().stream()>>>(b.view(), alpha, x, place, own,
                                                                                      beyond, beta, y);
  NEWEL_CHECK_LAUNCH();
}

template <class T>
void multiply_columns(const DeviceContext& ctx, const BlockRows<T>& b, int columns, const T* x, ColumnLayout of_x,
                      const Index* x_place, T* y, ColumnLayout of_y, const Index* y_place) {
  if (b.rows() == 0) return;
  const unsigned blocks = blocks_for(ctx, Offset{b.rows() / b.view().together} * b.view().lanes);
  block_rows_columns_kernel<<<blocks, ElementsTuning::threads, 0, ctx.state().stream()>>>(b.view(), columns, x, of_x,
                                                                                          x_place, y, of_y, y_place);
  NEWEL_CHECK_LAUNCH();
}

#define X(T)                                                                                                        \
  template class BlockRows<T>;                                                                                      \
  template void multiply(const DeviceContext&, const BlockRows<T>&, const T*, const Index*, T*, const Index*);      \
  template void multiply_add(const DeviceContext&, const BlockRows<T>&, T, const T*, const Index*, Index, const T*, \
                             T, T*);                                                                                \
  template void multiply_columns(const DeviceContext&, const BlockRows<T>&, int, const T*, ColumnLayout,            \
                                 const Index*, T*, ColumnLayout, const Index*);
X(double)
X(float)
#undef X

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// Powers of two for rows and columns on the device: a warp a row, and maxima of whole numbers, which have no order.
#include <newel/core/vector_ops.hpp>
#include "core/memory/context_device.hpp"
#include "core/memory/small_results_device.hpp"
#include "core/vectors/instantiate.hpp"
#include "reorder/scaling/scale_powers.hpp"

namespace newel::detail {
namespace {

constexpr Space device = Space::device;
using Powers = ScalePowers<device>;
constexpr int scaling_threads = 256, warp = 32;

unsigned blocks_for(const Context<device>& ctx, std::int64_t threads) {
  return blocks_to_share(ctx, threads, scaling_threads, 8);
}

// Calls f(row, lane) with a warp for each row.
template <class F>
__device__ __forceinline__ void for_each_row(Index rows, F&& f) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * (blockDim.x / warp);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp) + threadIdx.x / warp;
  for (std::int64_t i = first; i < rows; i += step) f(static_cast<Index>(i), static_cast<int>(threadIdx.x % warp));
}
template <class F>
__device__ __forceinline__ void for_each(std::int64_t n, F&& f) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) f(i);
}

// The greatest of a warp, in all of its lanes.
__device__ __forceinline__ std::int32_t warp_max(std::int32_t value) {
  for (int apart = warp / 2; apart > 0; apart /= 2) value = max(value, __shfl_xor_sync(0xffffffffu, value, apart));
  return value;
}

// The sum of a warp, in all of its lanes.
__device__ __forceinline__ long long warp_sum(long long value) {
  for (int apart = warp / 2; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
  return value;
}
// Whole numbers, so that the order in which they are added does not count.
__device__ __forceinline__ void add(std::int64_t* sum, long long value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

// A matrix as kernels read it.
template <class T, class RowPtr>
struct ScaledEntries {
  Index rows;
  const RowPtr* row_ptr;
  const Index* col;
  const T* val;

  // The greatest of f(column, exponent) over the entries of a row, in all lanes.
  template <class F>
  __device__ __forceinline__ std::int32_t row_max(Index i, int lane, F&& f) const {
    std::int32_t most = no_exponent;
    for (Offset k = row_ptr[i] + lane; k < row_ptr[i + 1]; k += warp) {
      const std::int32_t exponent = exponent_of(val[k]);
      if (exponent != no_exponent) most = max(most, f(col[k], exponent));
    }
    return warp_max(most);
  }
};

template <class T, class RowPtr>
__global__ void scale_rows_kernel(ScaledEntries<T, RowPtr> a, const std::int32_t* column, std::int32_t* row) {
  for_each_row(a.rows, [&](Index i, int lane) {
    const std::int32_t most = a.row_max(i, lane, [&](Index j, std::int32_t e) { return e + column[j]; });
    if (lane == 0 && most != no_exponent) row[i] = -most;
  });
}

template <class T, class RowPtr>
__global__ void column_max_kernel(ScaledEntries<T, RowPtr> a, const std::int32_t* row, std::int32_t* most) {
  for_each_row(a.rows, [&](Index i, int lane) {
    for (Offset k = a.row_ptr[i] + lane; k < a.row_ptr[i + 1]; k += warp) {
      const std::int32_t exponent = exponent_of(a.val[k]);
      if (exponent != no_exponent) atomicMax(&most[a.col[k]], exponent + row[i]);
    }
  });
}

// What a pass over means needs of each column, in parts of a bit.
struct ColumnMeans {
  std::int64_t *now, *before, *sum, *count;
};
__global__ void begin_means_kernel(Index n, const std::int32_t* column, ColumnMeans means) {
  for_each(n, [&](std::int64_t j) {
    means.now[j] = means.before[j] = std::int64_t{column[j]} * parts_of_bit;
    means.sum[j] = means.count[j] = 0;
  });
}
template <class T, class RowPtr>
__global__ void count_entries_kernel(ScaledEntries<T, RowPtr> a, ColumnMeans means) {
  for_each_row(a.rows, [&](Index i, int lane) {
    for (Offset k = a.row_ptr[i] + lane; k < a.row_ptr[i + 1]; k += warp) {
      if (exponent_of(a.val[k]) != no_exponent) add(&means.count[a.col[k]], 1);
    }
  });
}
// The mean of each row, and from it the sums of the columns.
template <class T, class RowPtr>
__global__ void row_means_kernel(ScaledEntries<T, RowPtr> a, ColumnMeans means) {
  for_each_row(a.rows, [&](Index i, int lane) {
    long long of_row = 0, entries = 0;
    for (Offset k = a.row_ptr[i] + lane; k < a.row_ptr[i + 1]; k += warp) {
      const std::int32_t exponent = exponent_of(a.val[k]);
      if (exponent == no_exponent) continue;
      of_row += std::int64_t{exponent} * parts_of_bit + means.now[a.col[k]];
      ++entries;
    }
    of_row = warp_sum(of_row);
    entries = warp_sum(entries);
    if (entries == 0) return;
    const long long mean = of_row / entries;
    for (Offset k = a.row_ptr[i] + lane; k < a.row_ptr[i + 1]; k += warp) {
      const std::int32_t exponent = exponent_of(a.val[k]);
      if (exponent != no_exponent) add(&means.sum[a.col[k]], mean - std::int64_t{exponent} * parts_of_bit);
    }
  });
}
__global__ void column_means_kernel(Index n, MeanStep step, ColumnMeans means) {
  for_each(n, [&](std::int64_t j) {
    if (means.count[j] == 0) return;
    const std::int64_t next = step(means.sum[j] / means.count[j], means.now[j], means.before[j]);
    means.before[j] = means.now[j];
    means.now[j] = next;
    means.sum[j] = 0;
  });
}
__global__ void take_means_kernel(Index n, const std::int64_t* parts, std::int32_t* column) {
  for_each(n, [&](std::int64_t j) { column[j] = whole_bits(static_cast<std::int32_t>(parts[j])); });
}

__global__ void add_kernel(std::int64_t n, const std::int32_t* more, std::int32_t* powers) {
  for_each(n, [&](std::int64_t i) { powers[i] += more[i]; });
}
__global__ void fill_kernel(std::int64_t n, std::int32_t value, std::int32_t* v) {
  for_each(n, [&](std::int64_t i) { v[i] = value; });
}
__global__ void take_columns_kernel(Index n, const std::int32_t* most, std::int32_t* column) {
  for_each(n, [&](std::int64_t j) {
    if (most[j] != no_exponent) column[j] = -most[j];
  });
}

__global__ void in_parts_kernel(Index n, const std::int32_t* row, std::int32_t* parts) {
  for_each(n, [&](std::int64_t i) { parts[i] = row[i] * parts_of_bit; });
}
template <class T, class RowPtr>
__global__ void ruiz_kernel(ScaledEntries<T, RowPtr> a, const std::int32_t* now, std::int32_t* next) {
  for_each_row(a.rows, [&](Index i, int lane) {
    const std::int32_t most =
        a.row_max(i, lane, [&](Index j, std::int32_t e) { return e * parts_of_bit + now[i] + now[j]; });
    if (lane == 0) next[i] = most == no_exponent ? now[i] : now[i] - most / 2;
  });
}
__global__ void take_parts_kernel(Index n, const std::int32_t* parts, std::int32_t* row, std::int32_t* column) {
  for_each(n, [&](std::int64_t i) { row[i] = column[i] = whole_bits(parts[i]); });
}

template <class T, class RowPtr>
__global__ void scale_values_kernel(ScaledEntries<T, RowPtr> a, const std::int32_t* row, const std::int32_t* column,
                                    T* scaled) {
  for_each_row(a.rows, [&](Index i, int lane) {
    for (Offset k = a.row_ptr[i] + lane; k < a.row_ptr[i + 1]; k += warp) {
      scaled[k] = ldexp(a.val[k], row[i] + column[a.col[k]]);
    }
  });
}

template <class T>
__global__ void scale_vector_kernel(std::int64_t n, const std::int32_t* powers, int sign, int shift, const T* x,
                                    T* y) {
  for_each(n, [&](std::int64_t i) { y[i] = ldexp(x[i], sign * powers[i] + shift); });
}

template <class T>
__global__ void greatest_exponent_kernel(std::int64_t n, const std::int32_t* powers, const T* x, std::int32_t* most) {
  std::int32_t mine = no_exponent;
  for_each(n, [&](std::int64_t i) {
    const std::int32_t exponent = exponent_of(x[i]);
    if (exponent != no_exponent) mine = max(mine, exponent + powers[i]);
  });
  mine = warp_max(mine);
  if (threadIdx.x % warp == 0) atomicMax(most, mine);
}

template <class T, class RowPtr>
__global__ void tiny_diagonal_kernel(ScaledEntries<T, RowPtr> a, int bits, Index* count) {
  for_each_row(a.rows, [&](Index i, int lane) {
    const std::int32_t most = a.row_max(i, lane, [](Index, std::int32_t e) { return e; });
    const std::int32_t diagonal =
        a.row_max(i, lane, [&](Index j, std::int32_t e) { return j == i ? e : no_exponent; });
    if (lane == 0 && most != no_exponent && diagonal < most - bits) atomicAdd(count, 1);
  });
}

// Calls f(entries, blocks) for a warp a row.
template <class T, class F>
void with_entries(const Context<device>& ctx, const CsrView<T, device>& a, const F& f) {
  with_row_ptr(a, [&](auto row_ptr) {
    using RowPtr = std::remove_cv_t<std::remove_reference_t<decltype(row_ptr.data[0])>>;
    f(ScaledEntries<T, RowPtr>{a.rows, row_ptr.data, a.col.data, a.val.data},
      blocks_for(ctx, std::int64_t{a.rows} * warp));
    NEWEL_CHECK_LAUNCH();
  });
}

template <class T>
void scale_symmetrically(const Context<device>& ctx, const CsrView<T, device>& a, Powers& powers) {
  Array<std::int32_t, device> now(ctx, a.rows), next(ctx, a.rows);
  const cudaStream_t stream = ctx.state().stream();
  const unsigned blocks = blocks_for(ctx, a.rows);
  in_parts_kernel<<<blocks, scaling_threads, 0, stream>>>(a.rows, powers.row.data(), now.data());
  for (int step = 0; step < ruiz_steps; ++step) {
    with_entries(ctx, a, [&](const auto& entries, unsigned by_rows) {
      ruiz_kernel<<<by_rows, scaling_threads, 0, stream>>>(entries, now.data(), next.data());
    });
    std::swap(now, next);
  }
  take_parts_kernel<<<blocks, scaling_threads, 0, stream>>>(a.rows, now.data(), powers.row.data(),
                                                            powers.column.data());
  NEWEL_CHECK_LAUNCH();
}

template <class T>
void scale_columns_by_means(const Context<device>& ctx, const CsrView<T, device>& a, Powers& powers) {
  Array<std::int64_t, device> now(ctx, a.cols), before(ctx, a.cols), sum(ctx, a.cols), count(ctx, a.cols);
  const ColumnMeans means{now.data(), before.data(), sum.data(), count.data()};
  const cudaStream_t stream = ctx.state().stream();
  const unsigned blocks = blocks_for(ctx, a.cols);
  begin_means_kernel<<<blocks, scaling_threads, 0, stream>>>(a.cols, powers.column.data(), means);
  with_entries(ctx, a, [&](const auto& entries, unsigned by_rows) {
    count_entries_kernel<<<by_rows, scaling_threads, 0, stream>>>(entries, means);
    MeanStep step;
    for (int k = 0; k < mean_steps; ++k, step = step.next()) {
      row_means_kernel<<<by_rows, scaling_threads, 0, stream>>>(entries, means);
      column_means_kernel<<<blocks, scaling_threads, 0, stream>>>(a.cols, step, means);
    }
  });
  take_means_kernel<<<blocks, scaling_threads, 0, stream>>>(a.cols, now.data(), powers.column.data());
  NEWEL_CHECK_LAUNCH();
}

template <class T>
void scale_columns(const Context<device>& ctx, const CsrView<T, device>& a, Powers& powers) {
  Array<std::int32_t, device> most(ctx, a.cols);
  const cudaStream_t stream = ctx.state().stream();
  const unsigned blocks = blocks_for(ctx, a.cols);
  fill_kernel<<<blocks, scaling_threads, 0, stream>>>(a.cols, no_exponent, most.data());
  with_entries(ctx, a, [&](const auto& entries, unsigned by_rows) {
    column_max_kernel<<<by_rows, scaling_threads, 0, stream>>>(entries, powers.row.data(), most.data());
  });
  take_columns_kernel<<<blocks, scaling_threads, 0, stream>>>(a.cols, most.data(), powers.column.data());
  NEWEL_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void equilibrate(const Context<device>& ctx, const CsrView<T, device>& a, Equilibration how, Powers& powers) {
  if (how == Equilibration::symmetric) return scale_symmetrically(ctx, a, powers);
  if (how == Equilibration::means) scale_columns_by_means(ctx, a, powers);
  with_entries(ctx, a, [&](const auto& entries, unsigned by_rows) {
    scale_rows_kernel<<<by_rows, scaling_threads, 0, ctx.state().stream()>>>(entries, powers.column.data(),
                                                                             powers.row.data());
  });
  if (how != Equilibration::rows) scale_columns(ctx, a, powers);
}

void add_powers(const Context<device>& ctx, const Powers& more, Powers& powers) {
  const auto add_to = [&](const Array<std::int32_t, device>& from, Array<std::int32_t, device>& to) {
    add_kernel<<<blocks_for(ctx, to.size()), scaling_threads, 0, ctx.state().stream()>>>(to.size(), from.data(),
                                                                                         to.data());
    NEWEL_CHECK_LAUNCH();
  };
  add_to(more.row, powers.row);
  add_to(more.column, powers.column);
}

template <class T>
void scale_values(const Context<device>& ctx, const CsrView<T, device>& a, const Powers& powers,
                  Span<T, device> scaled) {
  with_entries(ctx, a, [&](const auto& entries, unsigned by_rows) {
    scale_values_kernel<<<by_rows, scaling_threads, 0, ctx.state().stream()>>>(entries, powers.row.data(),
                                                                               powers.column.data(), scaled.data);
  });
}

template <class T>
void scale_vector(const Context<device>& ctx, Span<const std::int32_t, device> powers, int sign, int shift,
                  Span<const T, device> x, Span<T, device> y) {
  scale_vector_kernel<<<blocks_for(ctx, x.size), scaling_threads, 0, ctx.state().stream()>>>(
      x.size, powers.data, sign, shift, x.data, y.data);
  NEWEL_CHECK_LAUNCH();
}

template <class T>
int greatest_exponent(const Context<device>& ctx, Span<const std::int32_t, device> powers, Span<const T, device> x) {
  Array<std::int32_t, device> most(ctx, 1);
  fill_kernel<<<1, 1, 0, ctx.state().stream()>>>(1, no_exponent, most.data());
  greatest_exponent_kernel<<<blocks_for(ctx, x.size), scaling_threads, 0, ctx.state().stream()>>>(
      x.size, powers.data, x.data, most.data());
  NEWEL_CHECK_LAUNCH();
  return to_vector(ctx, most.cspan())[0];
}

template <class T>
Index rows_with_tiny_diagonal(const Context<device>& ctx, const CsrView<T, device>& a, int bits) {
  SmallResults results(ctx);
  Index* const count = results.take<Index>(1);
  with_entries(ctx, a, [&](const auto& entries, unsigned by_rows) {
    tiny_diagonal_kernel<<<by_rows, scaling_threads, 0, ctx.state().stream()>>>(entries, bits, count);
  });
  results.fetch();
  return results.at(count, 1)[0];
}

#define X(T, S)                                                                                           \
  template void equilibrate(const Context<S>&, const CsrView<T, S>&, Equilibration, ScalePowers<S>&);     \
  template void scale_values(const Context<S>&, const CsrView<T, S>&, const ScalePowers<S>&, Span<T, S>); \
  template void scale_vector(const Context<S>&, Span<const std::int32_t, S>, int, int, Span<const T, S>,  \
                             Span<T, S>);                                                                 \
  template int greatest_exponent(const Context<S>&, Span<const std::int32_t, S>, Span<const T, S>);       \
  template Index rows_with_tiny_diagonal(const Context<S>&, const CsrView<T, S>&, int);
NEWEL_FOR_TYPES(X, Space::device)
#undef X

}  // namespace newel::detail

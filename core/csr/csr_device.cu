// SPDX-License-Identifier: Apache-2.0
// Checks and facts of CSR matrices on the device: some lanes of a warp a row, results by order-free atomics.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/csr/asymmetry.hpp"
#include "core/memory/context_device.hpp"
#include "core/csr/csr_check.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/csr/matrix_traits_device.hpp"
#include "core/csr/sorted_row.hpp"

namespace newel {
namespace {

using detail::RowFault;

constexpr int block_threads = 256;

// Calls f(row, lane) with `lanes` threads of a warp for each row.
template <int lanes, class F>
__device__ __forceinline__ void for_each_row(Index rows, F&& f) {
  const std::int64_t group = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
  const std::int64_t groups = static_cast<std::int64_t>(gridDim.x) * blockDim.x / lanes;
  for (std::int64_t i = group; i < rows; i += groups) {
    f(static_cast<Index>(i), static_cast<int>(threadIdx.x % lanes));
  }
}

// Whether `here` is true in one of the lanes that share a row.
template <int lanes>
__device__ __forceinline__ bool any_of_row(bool here) {
  const unsigned first = threadIdx.x % 32 / lanes * lanes;
  return __any_sync(0xffffffffu >> (32 - lanes) << first, here);
}

// The sum of the values of the lanes that share a row, in a fixed order; in all of them.
template <int lanes>
__device__ __forceinline__ double sum_of_row(double value) {
  const unsigned mask = 0xffffffffu >> (32 - lanes) << threadIdx.x % 32 / lanes * lanes;
#pragma unroll
  for (int apart = lanes / 2; apart > 0; apart /= 2) value += __shfl_xor_sync(mask, value, apart);
  return value;
}

// The greatest of the values of the lanes that share a row; in all of them.
template <int lanes>
__device__ __forceinline__ double max_of_row(double value) {
  const unsigned mask = 0xffffffffu >> (32 - lanes) << threadIdx.x % 32 / lanes * lanes;
#pragma unroll
  for (int apart = lanes / 2; apart > 0; apart /= 2) value = fmax(value, __shfl_xor_sync(mask, value, apart));
  return value;
}

// Calls f(std::integral_constant<int, lanes>) with the lanes for a row of usual length: as many as keep most of them
// at work.
template <class F>
void with_row_lanes(Index rows, Offset nonzeros, F&& f) {
  const Offset length = nonzeros / std::max<Index>(rows, 1);
  if (length <= 5) return f(std::integral_constant<int, 4>());
  if (length <= 11) return f(std::integral_constant<int, 8>());
  if (length <= 22) return f(std::integral_constant<int, 16>());
  f(std::integral_constant<int, 32>());
}

unsigned grid_for(const Context<Space::device>& ctx, Index rows, int lanes) {
  return blocks_to_share(ctx, std::int64_t{rows} * lanes, block_threads, 8);
}

// What the check leaves: the code of the worst fault, and the ends of row_ptr.
struct DeviceFault {
  unsigned long long worst;
  Offset first, last;
};

template <int lanes, class RowPtr>
__global__ void check_kernel(Index rows, Index cols, Offset nnz, const RowPtr* __restrict__ row_ptr,
                             const Index* __restrict__ col, DeviceFault* found) {
  unsigned long long* const worst = &found->worst;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    found->first = row_ptr[0];
    found->last = row_ptr[rows];
  }
  for_each_row<lanes>(rows, [&](Index i, int lane) {
    const Offset begin = row_ptr[i], end = row_ptr[i + 1];
    if (begin < 0 || begin > end || end > nnz) {
      atomicMin(worst, detail::fault_code(i, RowFault::descending));
      return;
    }
    for (Offset k = begin + lane; k < end; k += lanes) {
      const Index j = col[k];
      if (j < 0 || j >= cols) {
        atomicMin(worst, detail::fault_code(i, RowFault::outside));
      } else if (k > begin && col[k - 1] >= j) {
        atomicMin(worst, detail::fault_code(i, col[k - 1] == j ? RowFault::repeated : RowFault::unsorted));
      }
    }
  });
}

// What the traits kernel leaves, from all zeros; doubles that are never negative are compared by their bits. Rows are
// counted from the last one that there can be, so that the first has the greatest number.
struct DeviceTraits {
  unsigned long long max_abs, max_asymmetry, relative_asymmetry;
  unsigned long long least_row_max;  // the complement of its bits, which is greatest for the least
  unsigned long long lower, upper, lower_matched, undamped;
  int count[4];
  int first_from_end[4];
};

// The greatest of a warp's values, or their sum, reaches `at` by one lane.
__device__ __forceinline__ void max_of_warp(unsigned long long* at, double value) {
  for (int step = 16; step > 0; step /= 2) value = fmax(value, __shfl_xor_sync(0xffffffffu, value, step));
  if (threadIdx.x % 32 == 0) atomicMax(at, static_cast<unsigned long long>(__double_as_longlong(value)));
}
__device__ __forceinline__ void max_of_warp(unsigned long long* at, unsigned long long value) {
  for (int step = 16; step > 0; step /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffffu, value, step);
    value = value > other ? value : other;
  }
  if (threadIdx.x % 32 == 0) atomicMax(at, value);
}
__device__ __forceinline__ void add_of_warp(unsigned long long* at, unsigned long long value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  if (threadIdx.x % 32 == 0) atomicAdd(at, value);
}

__device__ __forceinline__ void count_row(DeviceTraits* t, int what, Index row) {
  atomicAdd(&t->count[what], 1);
  atomicMax(&t->first_from_end[what], INT32_MAX - row);
}

// `lanes` threads of a warp for each row: its `row_scale`.
template <int lanes, class T, class RowPtr>
__global__ void scales_kernel(Index rows, const RowPtr* __restrict__ row_ptr, const T* __restrict__ val,
                              double* __restrict__ scales) {
  for_each_row<lanes>(rows, [&](Index i, int lane) {
    const Offset end = row_ptr[i + 1];
    double largest = 0;
    for (Offset k = row_ptr[i] + lane; k < end; k += lanes) largest = fmax(largest, fabs(double(val[k])));
    largest = max_of_row<lanes>(largest);
    if (lane == 0) scales[i] = detail::row_scale(largest);
  });
}

// `scales`, where the matrix is square: see `row_scale`.
template <int lanes, class T, class RowPtr>
__global__ void traits_kernel(Index rows, bool square, const RowPtr* __restrict__ row_ptr,
                              const Index* __restrict__ col, const T* __restrict__ val,
                              const double* __restrict__ scales, DeviceTraits* traits) {
  double max_abs = 0, max_asymmetry = 0, relative_asymmetry = 0;
  unsigned long long lower = 0, upper = 0, matched = 0, undamped = 0, least_row_max = 0;
  for_each_row<lanes>(rows, [&](Index i, int lane) {
    const Offset begin = row_ptr[i], end = row_ptr[i + 1];
    if (begin == end && lane == 0) count_row(traits, 0, i);
    bool diagonal = false;
    double sum = 0, of_diagonal = 0, row_max = 0;
    for (Offset k = begin + lane; k < end; k += lanes) {
      const Index j = col[k];
      const double value = val[k];
      row_max = fmax(row_max, fabs(value));
      if (!square) continue;
      sum += value;
      if (j == i) {
        diagonal = true;
        of_diagonal = value;
        if (value == 0) count_row(traits, 2, i);
        if (value < 0) count_row(traits, 3, i);
        continue;
      }
      const Offset mirrored = detail::find_column(col, row_ptr[j], row_ptr[j + 1], i);
      const double other = mirrored >= 0 ? double(val[mirrored]) : 0.0;
      if (value != other) {
        const double difference = fabs(value - other);
        max_asymmetry = fmax(max_asymmetry, difference);
        relative_asymmetry = fmax(relative_asymmetry, detail::relative_asymmetry(difference, scales[i], scales[j]));
      }
      if (j > i) {
        ++upper;
      } else {
        ++lower;
        matched += mirrored >= 0 ? 1 : 0;
      }
    }
    max_abs = fmax(max_abs, row_max);
    row_max = max_of_row<lanes>(row_max);
    if (row_max > 0) {
      const auto bits = ~static_cast<unsigned long long>(__double_as_longlong(row_max));
      least_row_max = least_row_max > bits ? least_row_max : bits;
    }
    const bool any_diagonal = any_of_row<lanes>(diagonal);
    if (square && !any_diagonal && lane == 0) count_row(traits, 1, i);
    sum = sum_of_row<lanes>(sum);
    of_diagonal = sum_of_row<lanes>(of_diagonal);
    const bool adds_up_to_nothing = fabs(sum) <= MatrixTraits::undamped * fabs(of_diagonal);
    undamped += lane == 0 && of_diagonal != 0 && adds_up_to_nothing ? 1 : 0;
  });
  // One address takes an update in some nanoseconds: those of a block come together first.
  __shared__ unsigned long long of_block[8];
  if (threadIdx.x < 8) of_block[threadIdx.x] = 0;
  __syncthreads();
  max_of_warp(&of_block[0], max_abs);
  max_of_warp(&of_block[1], max_asymmetry);
  add_of_warp(&of_block[2], lower);
  add_of_warp(&of_block[3], upper);
  add_of_warp(&of_block[4], matched);
  add_of_warp(&of_block[5], undamped);
  max_of_warp(&of_block[6], relative_asymmetry);
  max_of_warp(&of_block[7], least_row_max);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicMax(&traits->max_abs, of_block[0]);
    atomicMax(&traits->max_asymmetry, of_block[1]);
    atomicAdd(&traits->lower, of_block[2]);
    atomicAdd(&traits->upper, of_block[3]);
    atomicAdd(&traits->lower_matched, of_block[4]);
    atomicAdd(&traits->undamped, of_block[5]);
    atomicMax(&traits->relative_asymmetry, of_block[6]);
    atomicMax(&traits->least_row_max, of_block[7]);
  }
}

double from_bits(unsigned long long bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Waits for the stream once.
template <class T>
DeviceFault fault_of(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a) {
  Array<DeviceFault, Space::device> found(ctx, 1);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(found.data(), 0xff, found.bytes(), ctx.stream()));
  with_row_ptr(a, [&](auto row_ptr) {
    with_row_lanes(a.rows, a.nnz(), [&](auto lanes) {
      check_kernel<lanes.value><<<grid_for(ctx, a.rows, lanes.value), block_threads, 0, ctx.stream()>>>(
          a.rows, a.cols, a.nnz(), row_ptr.data, a.col.data, found.data());
      NEWEL_CHECK_LAUNCH();
    });
  });
  return to_vector(ctx, found.cspan())[0];
}

}  // namespace

template <class T>
std::uint64_t detail::csr_fault(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a) {
  return fault_of(ctx, a).worst;
}

template <class T>
void check_csr(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a) {
  with_row_ptr(
      a, [&](auto row_ptr) { detail::check_csr_lengths(a.rows, a.cols, row_ptr.size, a.col.size, a.val.size); });
  const DeviceFault found = fault_of(ctx, a);
  detail::check_csr_ends(found.first, found.last, a.nnz());
  detail::throw_fault(found.worst, a.cols);
}

template <class T>
std::function<MatrixTraits()> detail::start_matrix_traits(const Context<Space::device>& ctx,
                                                          const CsrView<T, Space::device>& a, SmallResults& results) {
  DeviceTraits* const found = results.take<DeviceTraits>(1);
  const bool square = a.rows == a.cols;
  Array<double, Space::device> scales(ctx, square ? a.rows : 0);  // freed in the order of the stream
  with_row_ptr(a, [&](auto row_ptr) {
    with_row_lanes(a.rows, a.nnz(), [&](auto lanes) {
      const unsigned grid = grid_for(ctx, a.rows, lanes.value);
      if (square) {
        scales_kernel<lanes.value>
            <<<grid, block_threads, 0, ctx.stream()>>>(a.rows, row_ptr.data, a.val.data, scales.data());
        NEWEL_CHECK_LAUNCH();
      }
      traits_kernel<lanes.value><<<grid, block_threads, 0, ctx.stream()>>>(a.rows, square, row_ptr.data, a.col.data,
                                                                           a.val.data, scales.data(), found);
      NEWEL_CHECK_LAUNCH();
    });
  });
  return [&results, found, square, n = a.rows] {
    const DeviceTraits t = results.at(found, 1)[0];
    const auto rows = [&](int what) {
      return RowCount{t.count[what], t.count[what] == 0 ? -1 : INT32_MAX - t.first_from_end[what]};
    };
    MatrixTraits traits;
    traits.rows = n;
    traits.square = square;
    traits.pattern_symmetric = square && t.lower == t.lower_matched && t.upper == t.lower;
    traits.max_abs = from_bits(t.max_abs);
    if (t.least_row_max != 0) traits.least_row_max = from_bits(~t.least_row_max);
    traits.max_asymmetry = from_bits(t.max_asymmetry);
    traits.relative_asymmetry = from_bits(t.relative_asymmetry);
    traits.empty_rows = rows(0);
    traits.missing_diagonal = rows(1);
    traits.zero_diagonal = rows(2);
    traits.negative_diagonal = rows(3);
    traits.undamped_rows = static_cast<Index>(t.undamped);
    return traits;
  };
}

template <class T>
MatrixTraits matrix_traits(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a) {
  detail::SmallResults results(ctx);
  const auto traits = detail::start_matrix_traits(ctx, a, results);
  results.fetch();
  return traits();
}

#define X(T, S)                                                                                               \
  template std::uint64_t detail::csr_fault(const Context<S>&, const CsrView<T, S>&);                          \
  template void check_csr(const Context<S>&, const CsrView<T, S>&);                                           \
  template std::function<MatrixTraits()> detail::start_matrix_traits(const Context<S>&, const CsrView<T, S>&, \
                                                                     SmallResults&);                          \
  template MatrixTraits matrix_traits(const Context<S>&, const CsrView<T, S>&);
NEWEL_FOR_TYPES(X, Space::device)
#undef X

}  // namespace newel

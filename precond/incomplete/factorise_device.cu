// SPDX-License-Identifier: Apache-2.0
// Incomplete factors on the device: a warp has a row, in shared memory if it fits, and waits for the rows that it
// needs. Warps take rows in the order of levels.
#include <algorithm>

#include <newel/core/vector_ops.hpp>
#include "core/csr/sorted_row.hpp"
#include "core/memory/context_device.hpp"
#include "precond/incomplete/factorise.hpp"
#include "precond/incomplete/pivot.hpp"
#include "precond/incomplete/posted_value_device.cuh"

namespace newel::detail {
namespace {

// Not measured yet.
struct FactoriseTuning {
  static constexpr int threads = 128;
  static constexpr int blocks_per_processor = 4;
  static constexpr int staged = 128;  ///< entries of a row that a warp has room for in shared memory
};

constexpr unsigned all_lanes = 0xffffffffu;

// The row of a warp: in shared memory, or where it is stored.
template <class T>
struct OwnRow {
  T *l, *u, *d;
  const Index *l_col, *u_col;
  int l_size, u_size;

  // The value of column j; null if it does not belong to the row.
  __device__ T* find(Index i, Index j) const {
    if (j == i) return d;
    if (j < i) {
      const int at = find_column<int>(l_col, 0, l_size, j);
      return at < 0 ? nullptr : l + at;
    }
    const int at = find_column<int>(u_col, 0, u_size, j);
    return at < 0 ? nullptr : u + at;
  }
};

template <class T>
struct StagedRow {
  T value[FactoriseTuning::staged + 1];
  Index col[FactoriseTuning::staged];
};

// All lanes wait until row k has been factorised, and then see its values through the second level of the cache.
__device__ __forceinline__ void wait_for_row(const std::uint64_t* done, Index k, std::uint64_t number) {
  if (threadIdx.x % 32 == 0) {
    const std::uint64_t* const from = done + k;
    std::uint64_t last;
    do {
      asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(last) : "l"(from) : "memory");
    } while (last != number);
  }
  __syncwarp();
}

// What all lanes have written of row i becomes visible, and then that it is done.
__device__ __forceinline__ void post_row(std::uint64_t* done, Index i, std::uint64_t number) {
  __threadfence();
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    std::uint64_t* const to = done + i;
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(number) : "memory");
  }
}

// A's values of row i where the factors will be, and the sum and the largest of their magnitudes in all lanes.
template <class T>
__device__ void take_row(const FactorView<T>& f, Index i, const OwnRow<T>& row, T& sum, T& largest) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  sum = largest = T(0);
  const auto take = [&](T value) {
    sum += magnitude(value);
    largest = magnitude(value) > largest ? magnitude(value) : largest;
    return value;
  };
  for (int e = lane; e < row.l_size; e += 32) row.l[e] = take(f.a_l[f.l_ptr[i] + e]);
  if (!f.symmetric) {
    for (int e = lane; e < row.u_size; e += 32) row.u[e] = take(f.a_u[f.u_ptr[i] + e]);
  }
  if (lane == 0) take(f.a_d[i]);
  for (int apart = 16; apart > 0; apart /= 2) {
    sum += __shfl_xor_sync(all_lanes, sum, apart);
    const T other = __shfl_xor_sync(all_lanes, largest, apart);
    largest = other > largest ? other : largest;
  }
}

// Row i of L, D and U: w_j -= w_k u_kj for all k < j in the row, then l_ik = w_k / d_k. Where the entries of row k go
// is found before it is waited for.
template <class T>
__device__ void eliminate_general(const FactorView<T>& f, Index i, const OwnRow<T>& row, const std::uint64_t* done,
                                  std::uint64_t number) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int e = 0; e < row.l_size; ++e) {
    const Index k = row.l_col[e];
    const Offset end = f.u_ptr[k + 1];
    Offset t = f.u_ptr[k];
    T* to = t + lane < end ? row.find(i, f.u_col[t + lane]) : nullptr;
    wait_for_row(done, k, number);
    const T factor = row.l[e];
    while (true) {
      if (to != nullptr) *to -= factor * __ldcg(f.u_val + t + lane);
      t += 32;
      if (t >= end) break;
      to = t + lane < end ? row.find(i, f.u_col[t + lane]) : nullptr;
    }
    __syncwarp();
    if (lane == 0) row.l[e] = factor * __ldcg(f.d_inv + k);
  }
}

// Row i of L and D of a symmetric matrix: w_j = a_ij - sum_{k < j} w_k l_jk, then l_ij = w_j / d_j. Returns sum_j w_j
// l_ij in all lanes.
template <class T>
__device__ T eliminate_symmetric(const FactorView<T>& f, const OwnRow<T>& row, const std::uint64_t* done,
                                 std::uint64_t number) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int e = 0; e < row.l_size; ++e) {
    const Index j = row.l_col[e];
    const Offset end = f.l_ptr[j + 1];
    Offset t = f.l_ptr[j] + lane;
    int at = t < end ? find_column<int>(row.l_col, 0, e, f.l_col[t]) : -1;
    wait_for_row(done, j, number);
    T sum = T(0);
    while (t < end) {
      if (at >= 0) sum += row.l[at] * __ldcg(f.l_val + t);
      t += 32;
      at = t < end ? find_column<int>(row.l_col, 0, e, f.l_col[t]) : -1;
    }
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(all_lanes, sum, apart);
    if (lane == 0) row.l[e] -= sum;
    __syncwarp();
  }
  T sum = T(0);
  for (int e = lane; e < row.l_size; e += 32) {
    const T w = row.l[e];
    row.l[e] = w * __ldcg(f.d_inv + row.l_col[e]);
    sum += w * row.l[e];
  }
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(all_lanes, sum, apart);
  return sum;
}

// The inverse of the pivot that is used, in all lanes, and what has to be counted of it.
template <class T>
__device__ T inverse_pivot(const FactorView<T>& f, T pivot, T diagonal, T largest, FactorVerdict* verdict) {
  const bool first = threadIdx.x % 32 == 0;
  if (f.positive) {
    if (positive_pivot(pivot, diagonal)) return T(1) / pivot;
    if (first) atomicAdd(&verdict->not_positive, 1ull);
    return T(1);
  }
  const T used = bounded_pivot(pivot, largest);
  if (first && used != pivot && is_finite(pivot)) atomicAdd(&verdict->bounded, 1ull);
  return T(1) / used;
}

template <class T>
struct FactoriseArgs {
  FactorView<T> f;
  std::uint64_t* done;
  std::uint64_t number;
  unsigned* tickets;
  FactorVerdict* verdict;
};

template <class T>
__device__ OwnRow<T> own_row(const FactorView<T>& f, Index i, StagedRow<T>& staged) {
  const Offset l = f.l_ptr[i], u = f.u_ptr[i];
  OwnRow<T> row;
  row.l_size = static_cast<int>(f.l_ptr[i + 1] - l);
  row.u_size = f.symmetric ? 0 : static_cast<int>(f.u_ptr[i + 1] - u);
  row.d = staged.value + FactoriseTuning::staged;
  if (row.l_size + row.u_size > FactoriseTuning::staged) {
    row.l = f.l_val + l;
    row.u = f.u_val + u;
    row.l_col = f.l_col + l;
    row.u_col = f.u_col + u;
    return row;
  }
  row.l = staged.value;
  row.u = staged.value + row.l_size;
  row.l_col = staged.col;
  row.u_col = staged.col + row.l_size;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int e = lane; e < row.l_size; e += 32) staged.col[e] = f.l_col[l + e];
  for (int e = lane; e < row.u_size; e += 32) staged.col[row.l_size + e] = f.u_col[u + e];
  return row;
}

template <class T>
__device__ void factorise_row(const FactoriseArgs<T>& args, Index i, StagedRow<T>& staged) {
  const FactorView<T>& f = args.f;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const OwnRow<T> row = own_row(f, i, staged);
  T sum, largest;
  take_row(f, i, row, sum, largest);
  const T diagonal = shifted(f.a_d[i], sum, f);
  if (lane == 0) *row.d = diagonal;
  __syncwarp();
  T pivot;
  if (f.symmetric) {
    pivot = diagonal - eliminate_symmetric(f, row, args.done, args.number);
  } else {
    eliminate_general(f, i, row, args.done, args.number);
    __syncwarp();
    pivot = *row.d;
  }
  const T inverse = inverse_pivot(f, pivot, diagonal, largest, args.verdict);
  T zero = inverse - inverse;
  for (int e = lane; e < row.l_size; e += 32) {
    const T value = row.l[e];
    f.l_val[f.l_ptr[i] + e] = value;
    zero += value - value;
  }
  for (int e = lane; e < row.u_size; e += 32) {
    const T value = row.u[e] * inverse;
    f.u_val[f.u_ptr[i] + e] = value;
    zero += value - value;
  }
  if (lane == 0) f.d_inv[i] = inverse;
  const bool finite = __all_sync(all_lanes, zero == T(0));
  if (lane == 0 && !finite) atomicAdd(&args.verdict->not_finite, 1ull);
  post_row(args.done, i, args.number);
}

template <class T>
__global__ void __launch_bounds__(FactoriseTuning::threads) factorise_kernel(FactoriseArgs<T> args) {
  using Staged = StagedRow<T>;
  __shared__ Staged staged[FactoriseTuning::threads / 32];
  unsigned ticket = next_ticket(args.tickets);
  while (ticket < static_cast<unsigned>(args.f.rows)) {
    factorise_row(args, static_cast<Index>(ticket), staged[threadIdx.x / 32]);
    ticket = next_ticket(args.tickets);
  }
}

// |D|, and U = L^T: a thread has an entry.
template <class T>
__global__ void __launch_bounds__(FactoriseTuning::threads) mirror_kernel(FactorView<T> f, Offset entries) {
  const Offset stride = static_cast<Offset>(gridDim.x) * blockDim.x;
  for (Offset e = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x; e < entries || e < f.rows;
       e += stride) {
    if (e < entries) f.u_val[e] = f.l_val[f.mirror[e]];
    if (e < f.rows) f.d_inv[e] = magnitude(f.d_inv[e]);
  }
}

}  // namespace

FactorWork<Space::device>::FactorWork(const DeviceContext& ctx, const FactorPattern& p)
    : done_(make_array(ctx, std::vector<std::uint64_t>(p.old_of_new.size(), 0))),
      tickets_(ctx, 1),
      verdict_(ctx, 1),
      mirrored_(p.mirror.size()) {}

template <class T>
FactorVerdict factorise(const DeviceContext& ctx, const FactorView<T>& f, const FactorWork<Space::device>& work) {
  if (f.rows == 0) return {};
  const cudaStream_t stream = ctx.state().stream();
  NEWEL_CHECK_CUDA(cudaMemsetAsync(work.tickets_.data(), 0, sizeof(unsigned), stream));
  NEWEL_CHECK_CUDA(cudaMemsetAsync(work.verdict_.data(), 0, sizeof(FactorVerdict), stream));
  const FactoriseArgs<T> args{f, work.done_.data(), ++work.number_, work.tickets_.data(), work.verdict_.data()};
  constexpr Index warps = FactoriseTuning::threads / 32;
  const Index most = ctx.multiprocessors() * FactoriseTuning::blocks_per_processor;
  const auto blocks = static_cast<unsigned>(std::min<Index>(most, f.rows / warps + 1));
  factorise_kernel<T><<<blocks, FactoriseTuning::threads, 0, stream>>>(args);
  NEWEL_CHECK_LAUNCH();
  if (f.symmetric) {
    mirror_kernel<T><<<blocks, FactoriseTuning::threads, 0, stream>>>(f, work.mirrored_);
    NEWEL_CHECK_LAUNCH();
  }
  return fetch(ctx, static_cast<const FactorVerdict*>(work.verdict_.data()));
}

#define X(T) \
  template FactorVerdict factorise(const DeviceContext&, const FactorView<T>&, const FactorWork<Space::device>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail

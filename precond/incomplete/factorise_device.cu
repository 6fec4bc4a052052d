// SPDX-License-Identifier: Apache-2.0
// Incomplete factors on the device: a warp has a row, in shared memory if it fits, and waits for the values that it
// needs, which are their own flags. A row that does not fit is computed where it is stored, and has a flag for all of
// its values. Warps take rows in the order of levels.
#include <algorithm>

#include <newel/core/vector_ops.hpp>
#include "core/csr/sorted_row.hpp"
#include "core/memory/context_device.hpp"
#include "precond/incomplete/factorise.hpp"
#include "precond/incomplete/pivot.hpp"
#include "precond/incomplete/posted_value_device.cuh"
#include "precond/incomplete/triangles.hpp"

namespace newel::detail {
namespace {

// On an H200, in microseconds: grid7:64 915 with 4 blocks, 803 with 8; elasticity:24 8,550 with one row read at a
// time, 4,296 with 4. Eight lanes a row, four rows a warp, took twice as long for rows of three to seven entries.
struct FactoriseTuning {
  static constexpr int threads = 128;
  static constexpr int blocks_per_processor = 8;
  static constexpr int rows_ahead = 4;
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

// Whether row k does not fit.
template <class T>
__device__ __forceinline__ bool is_long(const FactorView<T>& f, Index k) {
  const Offset lower = f.l_ptr[k + 1] - f.l_ptr[k];
  return lower + (f.symmetric ? 0 : f.u_ptr[k + 1] - f.u_ptr[k]) > FactoriseTuning::staged;
}

// All lanes wait until the long row k has been factorised, and then see its values through the second level of the
// cache.
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

// What a lane knows of a row k that its row needs: its first entry of U's row, where that goes in the lane's row, and
// what is there of values by now. They are read for some rows before the first of them is waited for.
template <class T>
struct NeededRow {
  Index k;
  Offset at, end;
  T* to;  // null: the entry does not belong to the row, or there is none
  T value, inverse;

  __device__ NeededRow(const FactorView<T>& f, const OwnRow<T>& row, Index i, int e)
      : k(row.l_col[e]),
        at(f.u_ptr[k] + threadIdx.x % 32),
        end(f.u_ptr[k + 1]),
        value(0),
        inverse(look(f.d_inv + k)) {
    to = at < end ? row.find(i, f.u_col[at]) : nullptr;
    if (to != nullptr) value = look(f.u_val + at);
  }
};

// Row i of L, D and U: w_j -= w_k u_kj for all k < j in the row, then l_ik = w_k / d_k.
template <class T>
class GeneralRow {
 public:
  __device__ GeneralRow(const FactorView<T>& f, Index i, const OwnRow<T>& row, const std::uint64_t* done,
                        std::uint64_t number)
      : f_(f), i_(i), row_(row), done_(done), number_(number) {}

  __device__ void eliminate() const {
    static_assert(FactoriseTuning::rows_ahead == 4);
    int e = 0;
    for (; e + 4 <= row_.l_size; e += 4) {
      NeededRow<T> needed[] = {need(e), need(e + 1), need(e + 2), need(e + 3)};
#pragma unroll
      for (int q = 0; q < 4; ++q) subtract(e + q, needed[q]);
    }
    if (e + 2 <= row_.l_size) {
      NeededRow<T> needed[] = {need(e), need(e + 1)};
      subtract(e, needed[0]);
      subtract(e + 1, needed[1]);
      e += 2;
    }
    if (e == row_.l_size) return;
    NeededRow<T> last = need(e);
    subtract(e, last);
  }

 private:
  __device__ NeededRow<T> need(int e) const { return NeededRow<T>(f_, row_, i_, e); }
  __device__ void subtract(int e, NeededRow<T>& needed) const {
    const bool flagged = is_long(f_, needed.k);  // what is there may be in the making
    if (flagged) wait_for_row(done_, needed.k, number_);
    const T factor = row_.l[e];
    if (needed.to != nullptr) {
      if (flagged || !is_there(needed.value)) needed.value = wait_for(f_.u_val + needed.at);
      *needed.to -= factor * needed.value;
    }
    for (Offset at = needed.at + 32; at < needed.end; at += 32) {
      T* const to = row_.find(i_, f_.u_col[at]);
      if (to != nullptr) *to -= factor * wait_for(f_.u_val + at);
    }
    if (!is_there(needed.inverse)) needed.inverse = wait_for(f_.d_inv + needed.k);
    __syncwarp();
    if (threadIdx.x % 32 == 0) row_.l[e] = factor * needed.inverse;
  }

  const FactorView<T>& f_;
  Index i_;
  const OwnRow<T>& row_;
  const std::uint64_t* done_;
  std::uint64_t number_;
};

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
    if (is_long(f, j)) wait_for_row(done, j, number);
    T sum = T(0);
    while (t < end) {
      if (at >= 0) sum += row.l[at] * wait_for(f.l_val + t);
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
    row.l[e] = w * wait_for(f.d_inv + row.l_col[e]);
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
    GeneralRow<T>(f, i, row, args.done, args.number).eliminate();
    __syncwarp();
    pivot = *row.d;
  }
  const T inverse = inverse_pivot(f, pivot, diagonal, largest, args.verdict);
  T zero = inverse - inverse;
  for (int e = lane; e < row.u_size; e += 32) {
    const T value = row.u[e] * inverse;
    post(f.u_val + f.u_ptr[i] + e, value);
    zero += value - value;
  }
  if (lane == 0) post(f.d_inv + i, inverse);
  for (int e = lane; e < row.l_size; e += 32) {
    const T value = row.l[e];
    post(f.l_val + f.l_ptr[i] + e, value);
    zero += value - value;
  }
  if (row.l_size + row.u_size > FactoriseTuning::staged) post_row(args.done, i, args.number);
  const bool finite = __all_sync(all_lanes, zero == T(0));
  if (lane == 0 && !finite) atomicAdd(&args.verdict->not_finite, 1ull);
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
      entries_(p.parts.upper.row_ptr[p.parts.upper.rows]) {}

template <class T>
FactorVerdict factorise(const DeviceContext& ctx, const FactorView<T>& f, const FactorWork<Space::device>& work) {
  if (f.rows == 0) return {};
  const cudaStream_t stream = ctx.state().stream();
  NEWEL_CHECK_CUDA(cudaMemsetAsync(work.tickets_.data(), 0, sizeof(unsigned), stream));
  NEWEL_CHECK_CUDA(cudaMemsetAsync(work.verdict_.data(), 0, sizeof(FactorVerdict), stream));
  prepare_vectors(ctx, f.symmetric ? f.l_val : f.u_val, work.entries_);  // of U, and of L if U is its transpose
  prepare_vectors(ctx, f.d_inv, f.rows);
  const FactoriseArgs<T> args{f, work.done_.data(), ++work.number_, work.tickets_.data(), work.verdict_.data()};
  constexpr Index warps = FactoriseTuning::threads / 32;
  const Index most = ctx.multiprocessors() * FactoriseTuning::blocks_per_processor;
  const auto blocks = static_cast<unsigned>(std::min<Index>(most, f.rows / warps + 1));
  factorise_kernel<T><<<blocks, FactoriseTuning::threads, 0, stream>>>(args);
  NEWEL_CHECK_LAUNCH();
  if (f.symmetric) {
    mirror_kernel<T><<<blocks, FactoriseTuning::threads, 0, stream>>>(f, work.entries_);
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

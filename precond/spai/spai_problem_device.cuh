// SPDX-License-Identifier: Apache-2.0
/// One local problem of SPAI on the device: the memory that it is solved in, and how a warp or a block solves it.
/// Internal.
#pragma once

#include "core/memory/context_device.hpp"
#include "core/csr/sorted_row.hpp"
#include "precond/spai/spai_numeric.hpp"
#include "spmv/product_device.cuh"

namespace newel::detail {

/// Rounded up to 8 bytes.
NEWEL_HD std::int64_t whole_words(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

/// Twice as many slots as rows, a power of two.
NEWEL_HD Index table_slots(Index rows) {
  Index slots = 32;
  while (slots < 2 * rows) slots *= 2;
  return slots;
}

/// Where a problem of m rows and n columns keeps what, from an 8-byte boundary on. The table that finds the rows is
/// done with when the matrix is filled, and lies under it.
template <class T>
struct SpaiBuffers {
  double* norm;  ///< n
  T* matrix;     ///< m x (n + 1), by columns, the right-hand side last
  Index* table;  ///< table_slots(m)
  Index* loose;  ///< m: the rows as they were found
  T* diagonal;   ///< n, of R
  Index* rows;   ///< m, ascending

  NEWEL_HD static std::int64_t middle_bytes(Index m, Index n) {
    const std::int64_t matrix = std::int64_t{m} * (n + 1) * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t table = (std::int64_t{table_slots(m)} + m) * static_cast<std::int64_t>(sizeof(Index));
    return whole_words(matrix > table ? matrix : table);
  }
  NEWEL_HD static std::int64_t bytes(Index m, Index n) {
    return std::int64_t{n} * 8 + middle_bytes(m, n) + whole_words(n * static_cast<std::int64_t>(sizeof(T))) +
           whole_words(m * static_cast<std::int64_t>(sizeof(Index)));
  }
  __device__ SpaiBuffers(char* at, Index m, Index n) {
    norm = reinterpret_cast<double*>(at);
    char* const middle = at + std::int64_t{n} * 8;
    matrix = reinterpret_cast<T*>(middle);
    table = reinterpret_cast<Index*>(middle);
    loose = table + table_slots(m);
    char* const behind = middle + middle_bytes(m, n);
    diagonal = reinterpret_cast<T*>(behind);
    rows = reinterpret_cast<Index*>(behind + whole_words(n * static_cast<std::int64_t>(sizeof(T))));
  }
};

__device__ __forceinline__ double warp_largest(double value) {
  for (int offset = 16; offset > 0; offset /= 2) value = fmax(value, __shfl_xor_sync(0xffffffffu, value, offset));
  return value;
}

/// |b_k| by a warp, as SpaiRows::norm; valid in all lanes.
template <class T>
__device__ double row_norm(const SpaiView<T>& a, Index k, int lane) {
  const Offset begin = a.b_row_ptr[k], end = a.b_row_ptr[k + 1];
  double largest = 0;
  for (Offset e = begin + lane; e < end; e += 32) largest = fmax(largest, fabs(double(a.b_val[e])));
  largest = warp_largest(largest);
  if (largest == 0) largest = 1;
  double sum = 0;
  for (Offset e = begin + lane; e < end; e += 32) {
    const double part = a.b_val[e] / largest;
    sum += part * part;
  }
  return largest * sqrt(warp_sum(sum));
}

/// Counts are added and doubles that are never negative compared by their bits: the same result in any order.
template <class T>
__device__ __forceinline__ void report(const SpaiView<T>& a, Index j, double residual, bool fell_back) {
  a.residual[j] = residual;
  if (fell_back) atomicAdd(&a.verdict->fallbacks, 1ull);
  atomicMax(reinterpret_cast<unsigned long long*>(&a.verdict->worst_residual),
            static_cast<unsigned long long>(__double_as_longlong(residual)));
}

/// A warp gives problem j a diagonal entry: all that a problem of one column needs, and what a deficient one gets.
template <class T>
__device__ void solve_diagonal(const SpaiView<T>& a, Index j, int lane, bool deficient) {
  const Offset b_begin = a.b_row_ptr[j], b_end = a.b_row_ptr[j + 1];
  const Offset at = find_column(a.b_col, b_begin, b_end, j);
  bool fell_back;
  const T value = diagonal_value<T>(row_norm(a, j, lane), at < 0 ? 0.0 : double(a.b_val[at]), &fell_back);
  double sum = 0;
  for (Offset e = b_begin + lane; e < b_end; e += 32) {
    const double product = double(value) * double(a.b_val[e]);
    const double rest = a.b_col[e] == j ? product - 1 : product;
    sum += rest * rest;
  }
  sum = warp_sum(sum) + (at < 0 ? 1.0 : 0.0);
  for (Offset k = a.row_ptr[j] + lane; k < a.row_ptr[j + 1]; k += 32) a.val[k] = a.col[k] == j ? value : T(0);
  const double residual = sqrt(sum);
  if (lane == 0) report(a, j, residual - residual == 0 ? residual : HUGE_VAL, fell_back || deficient);
}

/// One problem in the hands of a block.
template <class T>
struct SpaiBlockProblem {
  const SpaiView<T>& a;
  SpaiBuffers<T> buffers;
  Index j, m, n;
  Offset begin;  ///< of its columns in N
  T tolerance;
  T* beta;       ///< shared, of two reflectors: 0 where the rank is deficient
  Index* found;  ///< shared
  int warp, lane, warps;

  __device__ void insert(Index row, Index mask) const {
    unsigned hash = static_cast<unsigned>(row) * 2654435761u;
    hash ^= hash >> 15;
    for (Index slot = static_cast<Index>(hash & static_cast<unsigned>(mask));; slot = (slot + 1) & mask) {
      const int there = atomicCAS(&buffers.table[slot], -1, row);
      if (there == -1 || there == row) return;
    }
  }

  // The rows that the columns have entries in, ascending: found by hashing, then each put where its rank is, so that
  // the numbering does not depend on who came first.
  __device__ void number_rows() const {
    const Index slots = table_slots(m);
    for (Index s = threadIdx.x; s < slots; s += blockDim.x) buffers.table[s] = -1;
    if (threadIdx.x == 0) *found = 0;
    __syncthreads();
    for (Index c = warp; c < n; c += warps) {
      const Index k = a.col[begin + c];
      for (Offset e = a.b_row_ptr[k] + lane; e < a.b_row_ptr[k + 1]; e += 32) insert(a.b_col[e], slots - 1);
    }
    __syncthreads();
    for (Index s = threadIdx.x; s < slots; s += blockDim.x) {
      const Index row = buffers.table[s];
      if (row >= 0) buffers.loose[atomicAdd(found, 1)] = row;
    }
    __syncthreads();
    for (Index s = threadIdx.x; s < m; s += blockDim.x) {
      const Index row = buffers.loose[s];
      Index rank = 0;
      for (Index t = 0; t < m; ++t) rank += buffers.loose[t] < row ? 1 : 0;
      buffers.rows[rank] = row;
    }
    __syncthreads();
  }

  // Fills the scaled matrix and the right-hand side; *found = -1 where a column is empty or e_j out of reach.
  __device__ void fill() const {
    for (std::int64_t s = threadIdx.x; s < std::int64_t{m} * (n + 1); s += blockDim.x) buffers.matrix[s] = T(0);
    __syncthreads();
    for (Index c = warp; c < n; c += warps) {
      const Index k = a.col[begin + c];
      const double norm = row_norm(a, k, lane);
      if (lane == 0) buffers.norm[c] = norm;
      if (!usable(norm)) {
        if (lane == 0) atomicExch(found, -1);
        continue;
      }
      for (Offset e = a.b_row_ptr[k] + lane; e < a.b_row_ptr[k + 1]; e += 32) {
        const Index at = find_column(buffers.rows, Index{0}, m, a.b_col[e]);
        column(c)[at] = static_cast<T>(a.b_val[e] / norm);
      }
    }
    if (threadIdx.x == 0) {
      const Index at = find_column(buffers.rows, Index{0}, m, j);
      if (at < 0)
        atomicExch(found, -1);
      else
        column(n)[at] = T(1);
    }
    __syncthreads();
  }

  __device__ T* column(Index c) const { return buffers.matrix + static_cast<std::int64_t>(c) * m; }

  // A warp turns column c into its reflector; see LocalProblem::reflector.
  __device__ void reflector(Index c) const {
    T* const x = column(c);
    T sum = 0;
    for (Index i = c + lane; i < m; i += 32) sum += x[i] * x[i];
    const T norm = sqrt(warp_sum(sum));
    const T head = x[c];
    const T r = head > T(0) ? -norm : norm;
    __syncwarp();
    if (lane != 0) return;
    const bool full = norm > tolerance;
    beta[c & 1] = full ? T(1) / (norm * (norm + fabs(head))) : T(0);
    buffers.diagonal[c] = r;
    x[c] = head - r;
  }

  __device__ void reflect(Index c, Index other, T factor) const {
    const T* const v = column(c);
    T* const y = column(other);
    T dot = 0;
    for (Index i = c + lane; i < m; i += 32) dot += v[i] * y[i];
    dot = warp_sum(dot) * factor;
    for (Index i = c + lane; i < m; i += 32) y[i] -= dot * v[i];
  }

  // The warps share the columns behind c; the first makes the next reflector as soon as its column is ready, so that
  // a column costs one barrier. False where the rank is deficient, in all threads.
  __device__ bool factor() const {
    if (warp == 0) reflector(0);
    __syncthreads();
    for (Index c = 0; c < n; ++c) {
      const T now = beta[c & 1];
      if (now == T(0)) return false;
      for (Index other = c + 1 + warp; other <= n; other += warps) {
        reflect(c, other, now);
        if (other != c + 1 || other == n) continue;
        __syncwarp();
        reflector(other);
      }
      __syncthreads();
    }
    return true;
  }

  // A warp solves R z = y and writes the solution; false where it is none, in all lanes.
  __device__ bool substitute(double* residual) const {
    T* const y = column(n);
    double inside = 0, outside = 0;
    for (Index i = lane; i < n; i += 32) inside += double(y[i]) * double(y[i]);
    for (Index i = n + lane; i < m; i += 32) outside += double(y[i]) * double(y[i]);
    inside = warp_sum(inside);
    *residual = sqrt(warp_sum(outside));
    if (!(sqrt(inside) > double(tolerance))) return false;
    for (Index c = n - 1; c >= 0; --c) {
      const T z = y[c] / buffers.diagonal[c];
      const T* const r = column(c);
      __syncwarp();
      for (Index i = lane; i < c; i += 32) y[i] -= r[i] * z;
      if (lane == 0) y[c] = z;
      __syncwarp();
    }
    bool finite = true;
    for (Index c = lane; c < n; c += 32) {
      const T value = static_cast<T>(y[c] / buffers.norm[c]);
      finite = finite && value - value == T(0);
      a.val[begin + c] = value;
    }
    return __all_sync(0xffffffffu, finite);
  }

  __device__ void solve() const {
    bool solved = m >= n;
    if (solved) {
      number_rows();
      fill();
      solved = *found == m && factor();
    }
    if (warp != 0) return;
    double residual = 0;
    solved = solved && substitute(&residual);
    __syncwarp();
    if (!solved)
      solve_diagonal(a, j, lane, true);
    else if (lane == 0)
      report(a, j, residual, false);
  }
};

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// SPAI's numeric phase on the device: a block for each local problem, problems of a size launched together; the dense
// matrix in shared memory, or, where that is too small, in one of a bounded number of places in global memory.
#include <algorithm>
#include <limits>

#include <purlin/core/context_device.hpp>
#include <purlin/core/machine.hpp>
#include <purlin/precond/spai/spai_numeric.hpp>
#include <purlin/spmv/product_device.cuh>

namespace purlin::detail {
namespace {

// Not measured yet. The steps of shared memory are those at which one block more fits a multiprocessor of 227 KB.
struct SpaiTuning {
  struct Size {
    std::int64_t most_bytes;
    int threads;
  };
  static constexpr Size sizes[] = {{2 << 10, 32},   {4 << 10, 32},   {8 << 10, 64},
                                   {14 << 10, 64},  {28 << 10, 128}, {45 << 10, 128},
                                   {56 << 10, 128}, {74 << 10, 128}, {112 << 10, 256}};
  static constexpr int most_threads = 256;
  static constexpr std::int64_t places_bytes = std::int64_t{1} << 30;  ///< global memory for the largest problems
  static constexpr int places_per_multiprocessor = 2;                  ///< so few stay in the second-level cache
  static constexpr int diagonal_threads = 256;
};

// Problems order[first] .. order[first + count - 1], solved by blocks of so many threads.
struct SpaiClass {
  std::int64_t first = 0;
  Index count = 0;
  int threads = 0;
  std::int64_t room_bytes = 0;  ///< of the largest one
  unsigned places = 0;          ///< in global memory; 0: the problems live in shared memory
};

PURLIN_HD std::int64_t rounded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

// Twice as many slots as rows, a power of two.
PURLIN_HD Index table_slots(Index rows) {
  Index slots = 32;
  while (slots < 2 * rows) slots *= 2;
  return slots;
}

// Where a problem of m rows and n columns keeps what, from an 8-byte boundary on. The table that finds the rows is
// done with when the matrix is filled, and lies under it.
template <class T>
struct Room {
  double* norm;  ///< n
  T* matrix;     ///< m x (n + 1), by columns, the right-hand side last
  Index* table;  ///< table_slots(m)
  Index* loose;  ///< m: the rows as they were found
  T* diagonal;   ///< n, of R
  Index* rows;   ///< m, ascending

  PURLIN_HD static std::int64_t middle_bytes(Index m, Index n) {
    const std::int64_t matrix = std::int64_t{m} * (n + 1) * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t table = (std::int64_t{table_slots(m)} + m) * static_cast<std::int64_t>(sizeof(Index));
    return rounded(matrix > table ? matrix : table);
  }
  PURLIN_HD static std::int64_t bytes(Index m, Index n) {
    return std::int64_t{n} * 8 + middle_bytes(m, n) + rounded(n * static_cast<std::int64_t>(sizeof(T))) +
           rounded(m * static_cast<std::int64_t>(sizeof(Index)));
  }
  __device__ Room(char* at, Index m, Index n) {
    norm = reinterpret_cast<double*>(at);
    char* const middle = at + std::int64_t{n} * 8;
    matrix = reinterpret_cast<T*>(middle);
    table = reinterpret_cast<Index*>(middle);
    loose = table + table_slots(m);
    char* const behind = middle + middle_bytes(m, n);
    diagonal = reinterpret_cast<T*>(behind);
    rows = reinterpret_cast<Index*>(behind + rounded(n * static_cast<std::int64_t>(sizeof(T))));
  }
};

__device__ __forceinline__ double warp_largest(double value) {
  for (int offset = 16; offset > 0; offset /= 2) value = fmax(value, __shfl_xor_sync(0xffffffffu, value, offset));
  return value;
}

// |b_k| by a warp, as SpaiRows::norm; valid in all lanes.
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

// Where `wanted` stands in `count` ascending numbers, -1 where it does not.
template <class Count>
__device__ __forceinline__ Count find_in(const Index* numbers, Count count, Index wanted) {
  Count low = 0, high = count;
  while (low < high) {
    const Count middle = low + (high - low) / 2;
    if (numbers[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && numbers[low] == wanted ? low : Count{-1};
}

// Counts are added and doubles that are never negative compared by their bits: the same result in any order.
template <class T>
__device__ __forceinline__ void report(const SpaiView<T>& a, Index j, double residual, bool fell_back) {
  a.residual[j] = residual;
  if (fell_back) atomicAdd(&a.verdict->fallbacks, 1ull);
  atomicMax(reinterpret_cast<unsigned long long*>(&a.verdict->worst_residual),
            static_cast<unsigned long long>(__double_as_longlong(residual)));
}

// A warp gives problem j a diagonal entry: all that a problem of one column needs, and what a deficient one gets.
template <class T>
__device__ void solve_diagonal(const SpaiView<T>& a, Index j, int lane, bool deficient) {
  const Offset b_begin = a.b_row_ptr[j], b_end = a.b_row_ptr[j + 1];
  const Offset at = find_in<Offset>(a.b_col + b_begin, b_end - b_begin, j);
  bool fell_back;
  const T value = diagonal_value<T>(row_norm(a, j, lane), at < 0 ? 0.0 : double(a.b_val[b_begin + at]), &fell_back);
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

// A warp for each problem of one column.
template <class T>
__global__ void __launch_bounds__(SpaiTuning::diagonal_threads)
    spai_diagonal_kernel(const SpaiView<T> a, const Index* order, Index count) {
  const std::int64_t q = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (q < count) solve_diagonal(a, order[q], static_cast<int>(threadIdx.x % 32), false);
}

// One problem in the hands of a block.
template <class T>
struct BlockProblem {
  const SpaiView<T>& a;
  Room<T> room;
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
      const int there = atomicCAS(&room.table[slot], -1, row);
      if (there == -1 || there == row) return;
    }
  }

  // The rows that the columns have entries in, ascending: found by hashing, then each put where its rank is, so that
  // the numbering does not depend on who came first.
  __device__ void number_rows() const {
    const Index slots = table_slots(m);
    for (Index s = threadIdx.x; s < slots; s += blockDim.x) room.table[s] = -1;
    if (threadIdx.x == 0) *found = 0;
    __syncthreads();
    for (Index c = warp; c < n; c += warps) {
      const Index k = a.col[begin + c];
      for (Offset e = a.b_row_ptr[k] + lane; e < a.b_row_ptr[k + 1]; e += 32) insert(a.b_col[e], slots - 1);
    }
    __syncthreads();
    for (Index s = threadIdx.x; s < slots; s += blockDim.x) {
      const Index row = room.table[s];
      if (row >= 0) room.loose[atomicAdd(found, 1)] = row;
    }
    __syncthreads();
    for (Index s = threadIdx.x; s < m; s += blockDim.x) {
      const Index row = room.loose[s];
      Index rank = 0;
      for (Index t = 0; t < m; ++t) rank += room.loose[t] < row ? 1 : 0;
      room.rows[rank] = row;
    }
    __syncthreads();
  }

  // Fills the scaled matrix and the right-hand side; *found = -1 where a column is empty or e_j out of reach.
  __device__ void fill() const {
    for (std::int64_t s = threadIdx.x; s < std::int64_t{m} * (n + 1); s += blockDim.x) room.matrix[s] = T(0);
    __syncthreads();
    for (Index c = warp; c < n; c += warps) {
      const Index k = a.col[begin + c];
      const double norm = row_norm(a, k, lane);
      if (lane == 0) room.norm[c] = norm;
      if (!usable(norm)) {
        if (lane == 0) atomicExch(found, -1);
        continue;
      }
      for (Offset e = a.b_row_ptr[k] + lane; e < a.b_row_ptr[k + 1]; e += 32) {
        const Index at = find_in<Index>(room.rows, m, a.b_col[e]);
        column(c)[at] = static_cast<T>(a.b_val[e] / norm);
      }
    }
    if (threadIdx.x == 0) {
      const Index at = find_in<Index>(room.rows, m, j);
      if (at < 0)
        atomicExch(found, -1);
      else
        column(n)[at] = T(1);
    }
    __syncthreads();
  }

  __device__ T* column(Index c) const { return room.matrix + static_cast<std::int64_t>(c) * m; }

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
    room.diagonal[c] = r;
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
      const T z = y[c] / room.diagonal[c];
      const T* const r = column(c);
      __syncwarp();
      for (Index i = lane; i < c; i += 32) y[i] -= r[i] * z;
      if (lane == 0) y[c] = z;
      __syncwarp();
    }
    bool finite = true;
    for (Index c = lane; c < n; c += 32) {
      const T value = static_cast<T>(y[c] / room.norm[c]);
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

// A block for each problem, in its shared memory; or, with `in_global`, block b has place b of global memory and
// takes every (grid size)-th problem. One template, so that the compiler knows which memory a pointer means.
template <class T, bool in_global>
__global__ void __launch_bounds__(SpaiTuning::most_threads)
    spai_kernel(const SpaiView<T> a, const Index* order, Index count, char* places, std::int64_t room_bytes, T eps) {
  __shared__ T beta[2];
  __shared__ Index found;
  char* at;
  if constexpr (in_global) {
    at = places + blockIdx.x * room_bytes;
  } else {
    extern __shared__ double shared_room[];
    at = reinterpret_cast<char*>(shared_room);
  }
  for (Index q = static_cast<Index>(blockIdx.x); q < count; q += static_cast<Index>(gridDim.x)) {
    const Index j = order[q];
    const Offset begin = a.row_ptr[j];
    const Index m = a.touched[j], n = static_cast<Index>(a.row_ptr[j + 1] - begin);
    const BlockProblem<T> problem{a,
                                  Room<T>(at, m, n),
                                  j,
                                  m,
                                  n,
                                  begin,
                                  eps * T(m),
                                  beta,
                                  &found,
                                  static_cast<int>(threadIdx.x / 32),
                                  static_cast<int>(threadIdx.x % 32),
                                  static_cast<int>(blockDim.x / 32)};
    problem.solve();
    __syncthreads();
  }
}

}  // namespace

template <class T>
class SpaiScratch<T, Space::device> {
 public:
  SpaiScratch(const Context<Space::device>& ctx, const SpaiLayout& layout) {
    allow_shared_memory(ctx);
    const std::int64_t last = static_cast<std::int64_t>(std::size(SpaiTuning::sizes)) + 2;
    classes.resize(static_cast<std::size_t>(last) + 1);
    const Index n = layout.pattern.rows;
    for (Index j = 0; j < n; ++j) {
      SpaiClass& of = classes[class_of(layout, j)];
      ++of.count;
      of.room_bytes = std::max(of.room_bytes, room_bytes(layout, j));
    }
    for (std::size_t c = 1; c < classes.size(); ++c) classes[c].first = classes[c - 1].first + classes[c - 1].count;
    std::vector<std::int64_t> next;
    for (const SpaiClass& c : classes) next.push_back(c.first);
    std::vector<Index> by_class(static_cast<std::size_t>(n));
    for (Index j = 0; j < n; ++j) by_class[static_cast<std::size_t>(next[class_of(layout, j)]++)] = j;
    order = make_array(ctx, by_class);
    for (std::size_t c = 1; c < classes.size(); ++c) {
      classes[c].threads =
          c <= std::size(SpaiTuning::sizes) ? SpaiTuning::sizes[c - 1].threads : SpaiTuning::most_threads;
    }
    SpaiClass& largest = classes.back();
    if (largest.count == 0) return;
    const std::int64_t most = std::min<std::int64_t>(
        largest.count, std::int64_t{ctx.multiprocessors()} * SpaiTuning::places_per_multiprocessor);
    largest.places = static_cast<unsigned>(
        std::max<std::int64_t>(1, std::min(most, SpaiTuning::places_bytes / largest.room_bytes)));
    places = Array<double, Space::device>(ctx, largest.places * (largest.room_bytes / 8));
  }

  std::vector<SpaiClass> classes;  ///< of one column; by size; up to all of shared memory; in global memory
  Array<Index, Space::device> order;
  Array<double, Space::device> places;

 private:
  void allow_shared_memory(const Context<Space::device>& ctx) {
    const auto shared_kernel = spai_kernel<T, false>;
    cudaFuncAttributes attributes;
    PURLIN_CHECK_CUDA(cudaFuncGetAttributes(&attributes, shared_kernel));
    shared_bytes_ = static_cast<std::int64_t>(machine_of(ctx).cache_bytes) -
                    static_cast<std::int64_t>(attributes.sharedSizeBytes);
    PURLIN_CHECK_CUDA(cudaFuncSetAttribute(shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(shared_bytes_)));
  }

  static Index columns(const SpaiLayout& layout, Index j) { return static_cast<Index>(layout.pattern.row_length(j)); }
  static std::int64_t room_bytes(const SpaiLayout& layout, Index j) {
    return Room<T>::bytes(layout.touched[j], columns(layout, j));
  }
  std::size_t class_of(const SpaiLayout& layout, Index j) const {
    if (columns(layout, j) == 1) return 0;
    const std::int64_t bytes = room_bytes(layout, j);
    if (bytes > shared_bytes_) return std::size(SpaiTuning::sizes) + 2;
    std::size_t c = 0;
    while (c < std::size(SpaiTuning::sizes) && bytes > SpaiTuning::sizes[c].most_bytes) ++c;
    return c + 1;
  }

  std::int64_t shared_bytes_ = 0;
};

template <class T>
SpaiScratchPtr<T, Space::device> make_spai_scratch(const Context<Space::device>& ctx, const SpaiLayout& layout) {
  return std::make_shared<SpaiScratch<T, Space::device>>(ctx, layout);
}

template <class T>
std::size_t bytes_of(const SpaiScratch<T, Space::device>& scratch) {
  return scratch.order.bytes() + scratch.places.bytes();
}

template <class T>
void solve_spai(const Context<Space::device>& ctx, const SpaiView<T>& a, SpaiScratch<T, Space::device>& scratch) {
  const cudaStream_t stream = ctx.state().stream();
  PURLIN_CHECK_CUDA(cudaMemsetAsync(a.verdict, 0, sizeof(SpaiVerdict), stream));
  const Index* const order = scratch.order.data();
  // The largest first: they take the longest.
  for (std::size_t c = scratch.classes.size(); c-- > 1;) {
    const SpaiClass& of = scratch.classes[c];
    if (of.count == 0) continue;
    const T eps = std::numeric_limits<T>::epsilon();
    if (of.places > 0) {
      char* const places = reinterpret_cast<char*>(scratch.places.data());
      spai_kernel<T, true>
          <<<of.places, of.threads, 0, stream>>>(a, order + of.first, of.count, places, of.room_bytes, eps);
    } else {
      spai_kernel<T, false>
          <<<static_cast<unsigned>(of.count), of.threads, static_cast<std::size_t>(of.room_bytes), stream>>>(
              a, order + of.first, of.count, nullptr, 0, eps);
    }
    PURLIN_CHECK_LAUNCH();
  }
  const SpaiClass& single = scratch.classes.front();
  if (single.count == 0) return;
  constexpr Index warps = SpaiTuning::diagonal_threads / 32;
  spai_diagonal_kernel<T>
      <<<static_cast<unsigned>((single.count + warps - 1) / warps), SpaiTuning::diagonal_threads, 0, stream>>>(
          a, order + single.first, single.count);
  PURLIN_CHECK_LAUNCH();
}

#define X(T)                                                                                                        \
  template SpaiScratchPtr<T, Space::device> make_spai_scratch<T>(const Context<Space::device>&, const SpaiLayout&); \
  template std::size_t bytes_of(const SpaiScratch<T, Space::device>&);                                              \
  template void solve_spai(const Context<Space::device>&, const SpaiView<T>&, SpaiScratch<T, Space::device>&);
X(double)
X(float)
#undef X

}  // namespace purlin::detail

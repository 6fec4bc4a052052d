// SPDX-License-Identifier: Apache-2.0
// FSAI's local problems on the device: a warp or a block has a piece of rows, and the triangle of the last of them
// column by column in shared memory, or in global scratch where it does not fit.
#include <algorithm>

#include "core/memory/context_device.hpp"
#include "core/memory/shared_memory_device.hpp"
#include "precond/fsai/fsai.hpp"
#include "precond/fsai/fsai_pattern.hpp"

namespace newel::detail {
namespace {

// Warps suffice while a triangle's update has some hundred entries; beyond, a block hides the waits between its steps
// with more of them.
struct FsaiTuning {
  static constexpr Index most_of_warp = 64;    // unknowns
  static constexpr Index most_of_small = 128;  // unknowns for a block of `small` threads
  static constexpr int warps = 4;              // of a block whose warps have pieces of their own
  static constexpr int small = 128;
  static constexpr int large = 512;
  static constexpr int blocks_per_processor = 16;  // at most: a persistent grid
};

/// The threads that share a piece: a warp of a block, or all of it.
template <int threads>
struct Group {
  static constexpr bool warp = threads == 32;
  // Tiles for updates of the triangle: `wide` threads along a column.
  static constexpr int wide = threads == 32 ? 8 : threads <= 128 ? 16 : 32;
  static constexpr int high = threads / wide;

  __device__ static int rank() { return static_cast<int>(threadIdx.x) % threads; }
  __device__ static void sync() {
    if constexpr (warp) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
};

// Where entry (i, j), i >= j, of a triangle of order m stands that is packed by columns.
__device__ __forceinline__ int entry_at(int m, int i, int j) { return j * (2 * m - j - 1) / 2 + i; }

// Where column j stands in J[0 .. last], -1 where it does not.
__device__ __forceinline__ int place_of(const Index* J, int last, Index j) {
  int low = 0, high = last;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (J[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return J[low] == j ? low : -1;
}

// The lower triangle of A(J, J), J ascending, and its diagonal: each warp has a row of A at a time.
template <class T, int threads>
__device__ void assemble(const FsaiView<T>& a, const Index* J, int m, double* triangle, double* diagonal) {
  using G = Group<threads>;
  const int rank = G::rank(), slots = m * (m + 1) / 2;
  for (int e = rank; e < slots; e += threads) triangle[e] = 0;
  for (int k = rank; k < m; k += threads) diagonal[k] = 0;
  G::sync();
  for (int r = rank / 32; r < m; r += threads / 32) {
    const Index row = J[r];
    const Offset end = a.a_row_ptr[row + 1];
    for (Offset k = a.a_row_ptr[row] + rank % 32; k < end; k += 32) {
      const int c = place_of(J, r, a.a_col[k]);
      if (c < 0) continue;
      const double value = static_cast<double>(a.a_val[k]);
      triangle[entry_at(m, r, c)] = value;
      if (c == r) diagonal[r] = value;
    }
  }
  G::sync();
}

// L of A = L L^T in its place, but for the diagonal, whose inverse replaces `diagonal`. Returns, in all threads, how
// many columns of L there are: fewer than m where A is not positive definite.
template <int threads>
__device__ int factorise(int m, double* triangle, double* diagonal) {
  using G = Group<threads>;
  const int rank = G::rank(), along = rank % G::wide, across = rank / G::wide;
  for (int k = 0; k < m; ++k) {
    double* column = triangle + entry_at(m, k, k) - k;  // column[i]: entry (i, k)
    const double pivot = column[k];
    if (!(pivot > fsai_zero_pivot * diagonal[k])) return k;
    const double inverse = 1 / sqrt(pivot);
    for (int i = k + 1 + rank; i < m; i += threads) column[i] *= inverse;
    G::sync();
    if (rank == 0) diagonal[k] = inverse;
    for (int j = k + 1 + across; j < m; j += G::high) {
      double* to = triangle + entry_at(m, j, j) - j;
      const double factor = column[j];
      for (int i = j + along; i < m; i += G::wide) to[i] -= column[i] * factor;
    }
    G::sync();
  }
  return m;
}

// y in L^T y = e_n, L being the first n rows of the factor of order m, written to g. The triangle's diagonal holds
// what is left of the right-hand side. Whether all of y is finite in T, in the first thread.
template <class T, int threads>
__device__ bool solve_transposed(int m, int n, double* triangle, const double* inverse, T* g) {
  using G = Group<threads>;
  const int rank = G::rank();
  for (int k = rank; k < n; k += threads) triangle[entry_at(m, k, k)] = k == n - 1 ? 1 : 0;
  G::sync();
  bool finite = true;
  for (int k = n - 1; k >= 0; --k) {
    const double y = triangle[entry_at(m, k, k)] * inverse[k];
    if (rank == 0) {
      const T rounded = static_cast<T>(y);
      g[k] = rounded;
      finite = finite && rounded - rounded == T(0);
    }
    for (int j = rank; j < k; j += threads) triangle[entry_at(m, j, j)] -= triangle[entry_at(m, k, j)] * y;
    G::sync();
  }
  return finite;
}

template <class T>
__device__ void report(const FsaiView<T>& a, Index i) {
  const Index user = a.user_row == nullptr ? i : a.user_row[i];
  atomicMin(&a.verdict->first, static_cast<unsigned long long>(user));
  atomicAdd(&a.verdict->count, 1ull);
}

// A persistent grid: each group takes every n-th piece of the class. `room` doubles for each group are in shared
// memory, or in the view's scratch.
template <class T, int threads, bool in_shared>
__global__ void __launch_bounds__(threads == 32 ? 32 * FsaiTuning::warps : threads)
    fsai_kernel(const FsaiView<T> a, const FsaiClass pieces, std::int64_t length) {
  using G = Group<threads>;
  const int groups = static_cast<int>(blockDim.x) / threads, group = static_cast<int>(threadIdx.x) / threads;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * groups + group;
  double* triangle;
  if constexpr (in_shared) {
    extern __shared__ double fsai_shared[];
    triangle = fsai_shared + group * length;
  } else {
    triangle = a.scratch + first * length;
  }
  for (std::int64_t n = pieces.begin + first; n < pieces.end; n += static_cast<std::int64_t>(gridDim.x) * groups) {
    const FsaiPiece piece = a.pieces[n];
    const Offset begin = a.g_row_ptr[piece.last];
    const auto m = static_cast<int>(a.g_row_ptr[piece.last + 1] - begin);
    double* diagonal = triangle + m * (m + 1) / 2;
    assemble<T, threads>(a, a.g_col + begin, m, triangle, diagonal);
    const int sound = factorise<threads>(m, triangle, diagonal);
    for (int before = 0; before < piece.count; ++before) {
      const Index i = piece.last - before;
      const int own = m - before;
      const bool solved =
          own <= sound && solve_transposed<T, threads>(m, own, triangle, diagonal, a.g_val + a.g_row_ptr[i]);
      if (G::rank() == 0 && !solved) report(a, i);
    }
    G::sync();  // the next piece takes the same room
  }
}

template <class T, int threads>
void launch_shared(const Context<Space::device>& ctx, const FsaiView<T>& a, const FsaiClass& pieces) {
  const auto kernel = fsai_kernel<T, threads, true>;
  const std::size_t most = allow_all_shared_memory(ctx, kernel);
  const std::int64_t length = fsai_scratch_length(pieces.largest);
  const std::size_t bytes = static_cast<std::size_t>(length) * sizeof(double);
  const int groups = threads > 32 ? 1 : std::clamp(static_cast<int>(most / bytes), 1, FsaiTuning::warps);
  const std::size_t shared = bytes * static_cast<std::size_t>(groups);
  const auto& state = ctx.state();
  const unsigned blocks = blocks_to_share(ctx, pieces.end - pieces.begin, groups, FsaiTuning::blocks_per_processor);
  kernel<<<blocks, threads * groups, shared, state.stream()>>>(a, pieces, length);
  NEWEL_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void fsai_numeric(const Context<Space::device>& ctx, const FsaiView<T>& a, const std::vector<FsaiClass>& classes) {
  const auto& state = ctx.state();
  NEWEL_CHECK_CUDA(cudaMemsetAsync(&a.verdict->first, 0xff, sizeof a.verdict->first, state.stream()));
  NEWEL_CHECK_CUDA(cudaMemsetAsync(&a.verdict->count, 0, sizeof a.verdict->count, state.stream()));
  // The largest problems take the longest: they come first.
  for (std::size_t k = classes.size(); k-- > 0;) {
    const FsaiClass& pieces = classes[k];
    if (pieces.begin == pieces.end) continue;
    if (k + 1 == classes.size()) {
      fsai_kernel<T, FsaiTuning::large, false>
          <<<static_cast<unsigned>(a.scratch_groups), FsaiTuning::large, 0, state.stream()>>>(a, pieces,
                                                                                              a.scratch_length);
      NEWEL_CHECK_LAUNCH();
    } else if (pieces.largest <= FsaiTuning::most_of_warp) {
      launch_shared<T, 32>(ctx, a, pieces);
    } else if (pieces.largest <= FsaiTuning::most_of_small) {
      launch_shared<T, FsaiTuning::small>(ctx, a, pieces);
    } else {
      launch_shared<T, FsaiTuning::large>(ctx, a, pieces);
    }
  }
}

template void fsai_numeric(const Context<Space::device>&, const FsaiView<double>&, const std::vector<FsaiClass>&);
template void fsai_numeric(const Context<Space::device>&, const FsaiView<float>&, const std::vector<FsaiClass>&);

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// Block Jacobi on the device: a warp inverts a block in shared memory.
#include "core/memory/context_device.hpp"
#include "core/vectors/rank_step_device.cuh"
#include "precond/block_jacobi/block_inverse.hpp"
#include "precond/block_jacobi/block_jacobi_steps.hpp"
#include "precond/block_jacobi/block_layout.hpp"

NEWEL_BLOCK_JACOBI_STEPS(NEWEL_SWEEP_RANKS_DEVICE)

namespace newel::detail {
namespace {

struct BlockTuning {
  static constexpr int warps = 4;  ///< 35 KiB of shared memory
};

/// What a warp keeps of its block. Rows are padded, so that a column lies in all banks.
struct WarpBlock {
  double entry[most_block_rows][most_block_rows + 1];
  double of_row[most_block_rows], of_column[most_block_rows], diagonal[most_block_rows];
  int pivot[most_block_rows];
};

// Lane i looks at row i and column i.
__device__ void measure_lines(WarpBlock& a, int n, int lane) {
  if (lane >= n) return;
  double of_row = 0, of_column = 0;
  for (int j = 0; j < n; ++j) {
    of_row = fmax(of_row, fabs(a.entry[lane][j]));
    of_column = fmax(of_column, fabs(a.entry[j][lane]));
  }
  a.of_row[lane] = of_row;
  a.of_column[lane] = of_column;
  a.diagonal[lane] = a.entry[lane][lane];
}

__device__ bool is_symmetric(const WarpBlock& a, int n, int lane) {
  bool same = true;
  if (lane < n) {
    for (int j = 0; j < n; ++j) same = same && a.entry[lane][j] == a.entry[j][lane];
  }
  return __all_sync(0xffffffffu, same);
}

// The row at or below k with the largest entry in column k, the first of equal ones; -1 if that is rounding.
__device__ int pivot_row(const WarpBlock& a, int n, int k, int lane) {
  double size = lane >= k && lane < n ? fabs(a.entry[lane][k]) : -1.0;
  int row = lane;
  for (int offset = 16; offset > 0; offset /= 2) {
    const double other = __shfl_xor_sync(0xffffffffu, size, offset);
    const int other_row = __shfl_xor_sync(0xffffffffu, row, offset);
    if (other > size || (other == size && other_row < row)) {
      size = other;
      row = other_row;
    }
  }
  size = __shfl_sync(0xffffffffu, size, 0);
  row = __shfl_sync(0xffffffffu, row, 0);
  const bool sound = row < n && size > least_block_pivot * fmin(a.of_row[row], a.of_column[k]);
  return sound ? row : -1;
}

// Lane j works on column j.
__device__ void eliminate(WarpBlock& a, int n, int k, int lane) {
  const double per_pivot = 1 / a.entry[k][k];
  __syncwarp();
  if (lane < n) a.entry[k][lane] = (lane == k ? 1.0 : a.entry[k][lane]) * per_pivot;
  __syncwarp();
  for (int i = 0; i < n; ++i) {
    if (i == k) continue;
    const double factor = a.entry[i][k];
    __syncwarp();
    if (lane < n) a.entry[i][lane] = (lane == k ? 0.0 : a.entry[i][lane]) - factor * a.entry[k][lane];
  }
  __syncwarp();
}

// False: it is singular.
__device__ bool invert(WarpBlock& a, int n, int lane) {
  for (int k = 0; k < n; ++k) {
    const int p = pivot_row(a, n, k, lane);
    if (p < 0) return false;
    __syncwarp();
    if (lane < n && p != k) {
      const double upper = a.entry[k][lane];
      a.entry[k][lane] = a.entry[p][lane];
      a.entry[p][lane] = upper;
    }
    if (lane == 0) {
      const double of_upper = a.of_row[k];
      a.of_row[k] = a.of_row[p];
      a.of_row[p] = of_upper;
      a.pivot[k] = p;
    }
    __syncwarp();
    eliminate(a, n, k, lane);
  }
  if (lane < n) {
    for (int k = n - 1; k >= 0; --k) {  // rows were exchanged, so columns of the inverse are
      const double left = a.entry[lane][k];
      a.entry[lane][k] = a.entry[lane][a.pivot[k]];
      a.entry[lane][a.pivot[k]] = left;
    }
  }
  __syncwarp();
  return true;
}

// False: an entry is not finite in T.
template <class T>
__device__ bool store(const WarpBlock& a, int n, int lane, bool symmetric, T* inverse) {
  bool finite = true;
  for (int e = lane; e < n * n; e += 32) {
    const int i = e % n, j = e / n;
    const double value = symmetric ? 0.5 * (a.entry[i][j] + a.entry[j][i]) : a.entry[i][j];
    inverse[e] = static_cast<T>(value);
    finite = finite && inverse[e] - inverse[e] == T(0);
  }
  return __all_sync(0xffffffffu, finite);
}

template <class T, class Position>
__global__ void __launch_bounds__(32 * BlockTuning::warps) invert_blocks_kernel(BlockInverses<T, Position> of) {
  __shared__ WarpBlock blocks[BlockTuning::warps];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t b = static_cast<std::int64_t>(blockIdx.x) * BlockTuning::warps + warp;
  if (b >= of.blocks) return;
  WarpBlock& a = blocks[warp];
  const int n = static_cast<int>(of.first[b + 1] - of.first[b]);
  for (int e = lane; e < n * n; e += 32) a.entry[e % n][e / n] = of.entry(of.offset[b] + e);
  __syncwarp();
  measure_lines(a, n, lane);
  const bool symmetric = is_symmetric(a, n, lane);
  __syncwarp();
  T* const inverse = of.inverse + of.offset[b];
  if (invert(a, n, lane) && store(a, n, lane, symmetric, inverse)) return;
  __syncwarp();
  for (int e = lane; e < n * n; e += 32) {
    inverse[e] = e % n == e / n ? static_cast<T>(inverse_of_diagonal(a.diagonal[e % n])) : T(0);
  }
  if (lane == 0) atomicAdd(of.singular, 1);
}

}  // namespace

template <class T, class Position>
void invert_blocks(const Context<Space::device>& ctx, const BlockInverses<T, Position>& of) {
  if (of.blocks == 0) return;
  const auto launched = static_cast<unsigned>((of.blocks + BlockTuning::warps - 1) / BlockTuning::warps);
  invert_blocks_kernel<<<launched, 32 * BlockTuning::warps, 0, ctx.stream()>>>(of);
  NEWEL_CHECK_LAUNCH();
}

#define X(T, P) template void invert_blocks(const Context<Space::device>&, const BlockInverses<T, P>&);
NEWEL_BLOCK_INVERSES(X)
#undef X

}  // namespace newel::detail

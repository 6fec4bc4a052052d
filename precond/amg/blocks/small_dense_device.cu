// SPDX-License-Identifier: Apache-2.0
// The inverse of the coarsest matrix by elimination (Gauss and Jordan): of symmetric positive definite ones in tiles,
// a launch for each tile of the diagonal, of others by one block with partial pivoting. What that finds singular, or
// what is large for one block, is inverted on the host.
#include "precond/amg/blocks/elements_device.cuh"
#include "precond/amg/blocks/small_dense.hpp"

namespace newel::detail {
namespace {

struct EliminationTuning {
  static constexpr int threads = 1024;   // of the one block
  static constexpr int most_rows = 512;  // that it takes
  static constexpr int side = 32;        // of a tile
  static constexpr int tile_threads = 256;
};

// What is known of a dense matrix before it is inverted. The bits of doubles that are not negative ascend with them.
struct Examined {
  unsigned long long largest, difference;  // bits of the largest |a_ij| and |a_ij - a_ji|
  int zero_rows;
  int definite;  // after the elimination

  __device__ double largest_value() const { return __longlong_as_double(static_cast<long long>(largest)); }
  // Up to rounding.
  __device__ bool symmetric() const {
    return __longlong_as_double(static_cast<long long>(difference)) <= 1e-10 * largest_value();
  }
};

// A lane has some values of a row of blocks.
struct DenseRow {
  static constexpr int lanes = 32;
  BlockView a;
  int n;
  double* dense;

  __device__ void operator()(std::int64_t thread) const {
    const auto i = static_cast<Index>(thread / lanes);
    const int size = a.m * a.m;
    const Offset first = a.pattern.begin(i), values = (a.pattern.end(i) - first) * size;
    for (Offset t = thread % lanes; t < values; t += lanes) {
      const Offset k = first + t / size;
      const auto e = static_cast<int>(t % size);
      dense[(i * a.m + e / a.m) * n + a.pattern.col[k] * a.m + e % a.m] = a.block(k)[e];
    }
  }
};

// The largest value of the block's threads, and the least place that goes with it; in all threads.
struct Largest {
  double value;
  int place;
};
__device__ Largest largest_of_block(Largest mine) {
  __shared__ Largest of_warp[EliminationTuning::threads / 32];
  const auto larger = [](const Largest& a, const Largest& b) {
    return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a;
  };
  const auto of_lanes = [&](Largest l) {
    for (int apart = 16; apart > 0; apart /= 2) {
      const Largest other{__shfl_xor_sync(0xffffffffu, l.value, apart), __shfl_xor_sync(0xffffffffu, l.place, apart)};
      l = larger(l, other);
    }
    return l;
  };
  mine = of_lanes(mine);
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  return of_lanes(of_warp[threadIdx.x % 32]);
}

// A square of a matrix in shared memory, by a block: a thread has one column and every eighth row.
struct Tile {
  static constexpr int side = EliminationTuning::side, high = EliminationTuning::tile_threads / side;
  static constexpr int rows = side / high;  // of a thread
  alignas(16) double at[side][side + 2];    // rows begin at multiples of 16 bytes

  __device__ static int column() { return static_cast<int>(threadIdx.x) % side; }
  __device__ static int first_row() { return static_cast<int>(threadIdx.x) / side; }

  __device__ void load(const double* from) {
    for (int r = first_row(); r < side; r += high) at[r][column()] = from[r * side + column()];
  }
  __device__ void store(double* to) const {
    for (int r = first_row(); r < side; r += high) to[r * side + column()] = at[r][column()];
  }
  // Of tile (i, j) of a, which has n rows and columns; `beyond` on the diagonal behind them.
  __device__ void load(const double* a, int n, int i, int j, double beyond = 0) {
    const int c = j * side + column();
    for (int r = first_row(); r < side; r += high) {
      const int row = i * side + r;
      at[r][column()] = row < n && c < n ? a[row * n + c] : (row == c ? beyond : 0);
    }
  }
  // The entries of the calling thread in the product of two, its first row's at product[0]. What it needs of `right`
  // is read once for all of them, of `left` two values at once.
  __device__ static void multiply(const Tile& left, const Tile& right, double (&product)[rows]) {
    for (double& entry : product) entry = 0;
#pragma unroll 4
    for (int e = 0; e < side; e += 2) {
      const double first = right.at[e][column()], second = right.at[e + 1][column()];
#pragma unroll
      for (int q = 0; q < rows; ++q) {
        const double2 pair = *reinterpret_cast<const double2*>(&left.at[first_row() + q * high][e]);
        product[q] += pair.x * first;
        product[q] += pair.y * second;
      }
    }
  }
  // Its inverse in its place, without pivoting, by two rows and columns at once. False, in all threads: a pivot is
  // not above `tolerance` times the largest one, which is the larger of `largest` and those here.
  __device__ bool invert(double tolerance, double& largest) {
    const int c = column();
    for (int k = 0; k < side; k += 2) {
      const double a = at[k][k], b = at[k][k + 1], under = at[k + 1][k], d = at[k + 1][k + 1];
      const double determinant = a * d - b * under, second = determinant / a;
      const double inverse = 1 / determinant;
      largest = fmax(largest, a);
      bool regular = a > tolerance * largest;
      largest = fmax(largest, second);
      regular = regular && second > tolerance * largest;
      if (!regular) return false;
      const double upper = c == k ? 1 : (c == k + 1 ? 0 : at[k][c]);
      const double lower = c == k + 1 ? 1 : (c == k ? 0 : at[k + 1][c]);
      const double first_row_entry = inverse * (d * upper - b * lower);
      const double second_row_entry = inverse * (a * lower - under * upper);
      double first_factor[rows], second_factor[rows];
      for (int q = 0; q < rows; ++q) {
        first_factor[q] = at[first_row() + q * high][k];
        second_factor[q] = at[first_row() + q * high][k + 1];
      }
      __syncthreads();
      for (int q = 0; q < rows; ++q) {
        const int r = first_row() + q * high;
        const double before = c == k || c == k + 1 ? 0 : at[r][c];
        const double after = before - first_factor[q] * first_row_entry - second_factor[q] * second_row_entry;
        at[r][c] = r == k ? first_row_entry : (r == k + 1 ? second_row_entry : after);
      }
      __syncthreads();
    }
    return true;
  }
};

// A block has two tiles that mirror each other.
__global__ void __launch_bounds__(EliminationTuning::tile_threads)
    examine_kernel(int n, const double* a, Examined* examined) {
  __shared__ Tile tile, mirrored;
  const int i = static_cast<int>(blockIdx.y), j = static_cast<int>(blockIdx.x);
  if (i > j) return;
  tile.load(a, n, i, j);
  mirrored.load(a, n, j, i);
  __syncthreads();
  double largest = 0, difference = 0;
  for (int r = Tile::first_row(); r < Tile::side; r += Tile::high) {
    const int c = Tile::column();
    if (i * Tile::side + r >= n || j * Tile::side + c >= n) continue;
    const double here = tile.at[r][c], there = mirrored.at[c][r];
    largest = fmax(largest, fmax(fabs(here), fabs(there)));
    difference = fmax(difference, fabs(here - there));
  }
  for (int apart = 16; apart > 0; apart /= 2) {
    largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, apart));
    difference = fmax(difference, __shfl_xor_sync(0xffffffffu, difference, apart));
  }
  if (threadIdx.x % 32 != 0) return;
  atomicMax(&examined->largest, static_cast<unsigned long long>(__double_as_longlong(largest)));
  atomicMax(&examined->difference, static_cast<unsigned long long>(__double_as_longlong(difference)));
}

// A warp has a row. Rows of zeros, as vectors that are missing in an aggregate leave them, get a diagonal entry, and
// are marked.
__global__ void __launch_bounds__(EliminationTuning::tile_threads)
    mark_zero_rows(int n, double* a, unsigned char* zero, Examined* examined) {
  const int i = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (i >= n) return;
  bool zeros = true;
  for (int j = lane; j < n; j += 32) zeros = zeros && a[i * n + j] == 0;
  zeros = __all_sync(0xffffffffu, zeros);
  if (lane != 0) return;
  zero[i] = zeros ? 1 : 0;
  if (!zeros) return;
  a[i * n + i] = examined->largest_value();
  atomicAdd(&examined->zero_rows, 1);
}

// The inverse of tile k of the diagonal goes to `inverse`, and to *pivot the largest pivot, that and the tiles
// before; below 0 where one was too small.
__device__ void invert_diagonal_tile(Tile& tile, double tolerance, double largest, double* inverse, double* pivot) {
  const bool regular = tile.invert(tolerance, largest);
  if (threadIdx.x == 0) *pivot = regular ? largest : -1;
  if (regular) tile.store(inverse);
}

// The first tile, of symmetric matrices only.
__global__ void __launch_bounds__(EliminationTuning::tile_threads)
    begin_elimination(int n, double tolerance, const Examined* examined, double* pivots, const double* a,
                      double* inverse) {
  __shared__ Tile tile;
  tile.load(a, n, 0, 0, examined->largest_value());
  __syncthreads();
  if (examined->symmetric()) {
    invert_diagonal_tile(tile, tolerance, 0, inverse, pivots);
  } else if (threadIdx.x == 0) {
    pivots[0] = -1;
  }
}

// Eliminates the rows and columns of tile k of the diagonal, whose inverse is there, from a matrix into another: a
// block has a tile of it. The one that has the next tile of the diagonal comes first, and inverts it.
__global__ void __launch_bounds__(EliminationTuning::tile_threads)
    eliminate_kernel(int n, int tiles, int k, double tolerance, double* pivots, const double* inverse,
                     double* next_inverse, const double* from, double* to) {
  __shared__ Tile diagonal, left, right;
  const int next = k + 1 < tiles ? (k + 1) * (tiles + 1) : 0;
  const int tile = (static_cast<int>(blockIdx.x) + next) % (tiles * tiles);
  const int i = tile / tiles, j = tile % tiles, c = Tile::column();
  const bool inverts = k + 1 < tiles && tile == next;
  const double largest = pivots[k];
  if (largest < 0) {
    if (inverts && threadIdx.x == 0) pivots[k + 1] = -1;
    return;
  }
  diagonal.load(inverse);
  left.load(from, n, i, k);
  right.load(from, n, k, j);
  __syncthreads();
  double own[Tile::rows];  // of the row of tiles k: what it becomes
  if (j == k) {
    for (int q = 0; q < Tile::rows; ++q) own[q] = diagonal.at[Tile::first_row() + q * Tile::high][c];
  } else {
    Tile::multiply(diagonal, right, own);
  }
  __syncthreads();
  for (int q = 0; q < Tile::rows; ++q) right.at[Tile::first_row() + q * Tile::high][c] = own[q];
  __syncthreads();
  double gone[Tile::rows];
  if (i != k) Tile::multiply(left, right, gone);
  for (int q = 0; q < Tile::rows; ++q) {
    const int r = Tile::first_row() + q * Tile::high, row = i * Tile::side + r, column = j * Tile::side + c;
    const bool exists = row < n && column < n;
    const double before = j == k || !exists ? 0 : from[row * n + column];
    const double after = i == k ? own[q] : before - gone[q];
    if (exists) to[row * n + column] = after;
    if (inverts) diagonal.at[r][c] = exists ? after : (row == column ? largest : 0);
  }
  if (!inverts) return;
  __syncthreads();
  invert_diagonal_tile(diagonal, tolerance, largest, next_inverse, pivots + k + 1);
}

// Gauss' and Jordan's elimination in place with partial pivoting. `regular` is 0 where a pivot is not above the
// tolerance; `a` is then of no use.
__global__ void __launch_bounds__(EliminationTuning::threads)
    invert_kernel(int n, double tolerance, double* a, int* regular) {
  __shared__ double column[EliminationTuning::most_rows];
  __shared__ double row[EliminationTuning::most_rows];
  __shared__ int pivot_of[EliminationTuning::most_rows];
  const int thread = static_cast<int>(threadIdx.x);
  const auto at = [&](int i, int j) -> double& { return a[i * n + j]; };
  double largest_pivot = 0;
  for (int k = 0; k < n; ++k) {
    Largest mine{-1, n};
    for (int i = k + thread; i < n; i += EliminationTuning::threads) {
      if (fabs(at(i, k)) > mine.value) mine = {fabs(at(i, k)), i};
    }
    const Largest pivot = largest_of_block(mine);
    largest_pivot = fmax(largest_pivot, pivot.value);
    if (!(pivot.value > tolerance * largest_pivot)) {
      if (thread == 0) *regular = 0;
      return;
    }
    const int other = pivot.place;
    // The pivot's row, divided; its place takes the row that was here.
    const double inverse = 1 / at(other, k);
    __syncthreads();
    for (int j = thread; j < n; j += EliminationTuning::threads) {
      const double divided = (j == k ? 1.0 : at(other, j)) * inverse;
      if (other != k) at(other, j) = at(k, j);
      row[j] = divided;
    }
    if (thread == 0) pivot_of[k] = other;
    __syncthreads();
    for (int i = thread; i < n; i += EliminationTuning::threads) column[i] = at(i, k);
    __syncthreads();
    for (int e = thread; e < n * n; e += EliminationTuning::threads) {
      const int i = e / n, j = e % n;
      if (i == k) {
        a[e] = row[j];
      } else {
        a[e] = (j == k ? 0.0 : a[e]) - column[i] * row[j];
      }
    }
    __syncthreads();
  }
  // Rows were exchanged: columns are, in reverse.
  for (int k = n - 1; k >= 0; --k) {
    if (pivot_of[k] == k) continue;
    for (int i = thread; i < n; i += EliminationTuning::threads) {
      const double value = at(i, k);
      at(i, k) = at(i, pivot_of[k]);
      at(i, pivot_of[k]) = value;
    }
    __syncthreads();
  }
  if (thread == 0) *regular = 1;
}

// Rows and columns of zeros are so again, and the inverse of a symmetric matrix is symmetric. `pivot` is the last of
// the elimination in tiles; null: it was another one.
struct FinishInverse {
  int n;
  const double* pivot;
  Examined* examined;
  const unsigned char* zero;
  double* a;

  __device__ void operator()(std::int64_t e) const {
    const auto i = static_cast<int>(e / n), j = static_cast<int>(e % n);
    if (e == 0) examined->definite = pivot != nullptr && *pivot >= 0 ? 1 : 0;
    double& mirrored = a[std::int64_t{j} * n + i];
    if (i == j && zero[i] != 0) a[e] = 0;
    if (i > j && examined->symmetric()) a[e] = mirrored = 0.5 * (a[e] + mirrored);
  }
};

// Eliminates all tiles, for a symmetric positive definite matrix: its inverse in its place. Returns the pivots.
DeviceArray<double> eliminate(const DeviceContext& ctx, int n, double tolerance,
                              const DeviceArray<Examined>& examined, DeviceArray<double>& a) {
  constexpr int side = EliminationTuning::side, threads = EliminationTuning::tile_threads;
  const int tiles = (n + side - 1) / side;
  const auto stream = ctx.state().stream();
  DeviceArray<double> pivots(ctx, tiles), work(ctx, a.size()), inverses(ctx, 2 * side * side);
  const auto inverse_of = [&](int k) { return inverses.data() + k % 2 * side * side; };
  begin_elimination<<<1, threads, 0, stream>>>(n, tolerance, examined.data(), pivots.data(), a.data(), inverse_of(0));
  NEWEL_CHECK_LAUNCH();
  for (int k = 0; k < tiles; ++k) {
    eliminate_kernel<<<static_cast<unsigned>(tiles * tiles), threads, 0, stream>>>(
        n, tiles, k, tolerance, pivots.data(), inverse_of(k), inverse_of(k + 1), a.data(), work.data());
    NEWEL_CHECK_LAUNCH();
    std::swap(a, work);
  }
  return pivots;
}

// The matrix with diagonal entries in rows of zeros, and what is known of it.
struct ExaminedMatrix {
  DeviceArray<double> values;
  DeviceArray<unsigned char> zero;
  DeviceArray<Examined> examined;
};

DeviceArray<double> dense_values(const DeviceContext& ctx, const BlockCsr<Space::device>& a) {
  const auto n = static_cast<int>(a.scalar_rows());
  DeviceArray<double> dense = zeros<double>(ctx, std::int64_t{n} * n);
  for_elements(ctx, std::int64_t{a.pattern.rows} * DenseRow::lanes, DenseRow{a, n, dense.data()});
  return dense;
}

ExaminedMatrix examine(const DeviceContext& ctx, const BlockCsr<Space::device>& a) {
  constexpr int threads = EliminationTuning::tile_threads;
  const auto n = static_cast<int>(a.scalar_rows());
  const auto tiles = static_cast<unsigned>((n + EliminationTuning::side - 1) / EliminationTuning::side);
  ExaminedMatrix m{dense_values(ctx, a), DeviceArray<unsigned char>(ctx, n), zeros<Examined>(ctx, 1)};
  examine_kernel<<<dim3(tiles, tiles), threads, 0, ctx.state().stream()>>>(n, m.values.data(), m.examined.data());
  NEWEL_CHECK_LAUNCH();
  mark_zero_rows<<<static_cast<unsigned>((n * 32 + threads - 1) / threads), threads, 0, ctx.state().stream()>>>(
      n, m.values.data(), m.zero.data(), m.examined.data());
  NEWEL_CHECK_LAUNCH();
  return m;
}

Examined finish_inverse(const DeviceContext& ctx, int n, const double* last_pivot, ExaminedMatrix& m) {
  for_elements(ctx, std::int64_t{n} * n,
               FinishInverse{n, last_pivot, m.examined.data(), m.zero.data(), m.values.data()});
  return value_at(ctx, m.examined, 0);
}

}  // namespace

std::optional<int> invert_if_definite(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double tolerance,
                                      DeviceArray<double>& inverse) {
  const auto n = static_cast<int>(a.scalar_rows());
  ExaminedMatrix m = examine(ctx, a);
  const DeviceArray<double> pivots = eliminate(ctx, n, tolerance, m.examined, m.values);
  const Examined found = finish_inverse(ctx, n, pivots.data() + pivots.size() - 1, m);
  if (found.definite == 0) return std::nullopt;
  inverse = std::move(m.values);
  return found.zero_rows;
}

int invert_dense(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double tolerance,
                 DeviceArray<double>& inverse) {
  const auto n = static_cast<int>(a.scalar_rows());
  if (n == 0) {
    inverse = {};
    return 0;
  }
  if (const std::optional<int> zero_rows = invert_if_definite(ctx, a, tolerance, inverse)) return *zero_rows;
  if (n <= EliminationTuning::most_rows) {
    ExaminedMatrix m = examine(ctx, a);
    DeviceArray<int> found = zeros<int>(ctx, 1);
    invert_kernel<<<1, EliminationTuning::threads, 0, ctx.state().stream()>>>(n, tolerance, m.values.data(),
                                                                              found.data());
    NEWEL_CHECK_LAUNCH();
    if (value_at(ctx, found, 0) == 1) {
      const int zero_rows = finish_inverse(ctx, n, nullptr, m).zero_rows;
      inverse = std::move(m.values);
      return zero_rows;
    }
  }
  const DenseInverse result = dense_inverse(n, to_vector(ctx, dense_values(ctx, a).cspan()), tolerance);
  inverse = make_array(ctx, result.values);
  return result.null_vectors;
}

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// The inverse of the coarsest matrix: one block eliminates in place (Gauss and Jordan) with partial pivoting. What it
// finds singular, or what is large for one block, is inverted on the host.
#include <purlin/precond/amg/elements_device.cuh>
#include <purlin/precond/amg/small_dense.hpp>

namespace purlin::detail {
namespace {

struct EliminationTuning {
  static constexpr int threads = 1024;
  static constexpr int most_rows = 512;
};

struct DenseRow {
  BlockView a;
  int n;
  double* dense;

  __device__ void operator()(std::int64_t node) const {
    const auto i = static_cast<Index>(node);
    for (Offset k = a.pattern.begin(i); k < a.pattern.end(i); ++k) {
      for (int e = 0; e < a.m * a.m; ++e) {
        dense[(i * a.m + e / a.m) * n + a.pattern.col[k] * a.m + e % a.m] = a.block(k)[e];
      }
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

// Whether row i is one of zeros, as vectors that are missing in an aggregate leave them.
__device__ bool is_zero_row(const double* a, int n, int i) {
  bool zero = true;
  for (int j = 0; j < n && zero; ++j) zero = a[i * n + j] == 0;
  return zero;
}

// `a`, n x n, becomes its inverse; rows and columns of zeros stay so, and are counted in `zeros`; where `a` is
// symmetric up to rounding, the inverse is so exactly. `regular` is 0 where a pivot is not above the tolerance; `a`
// is then of no use.
__global__ void __launch_bounds__(EliminationTuning::threads)
    invert_kernel(int n, double tolerance, double* a, int* regular, int* zeros) {
  __shared__ double column[EliminationTuning::most_rows];
  __shared__ double row[EliminationTuning::most_rows];
  __shared__ int pivot_of[EliminationTuning::most_rows];
  __shared__ bool zero[EliminationTuning::most_rows];
  const int thread = static_cast<int>(threadIdx.x);
  const auto at = [&](int i, int j) -> double& { return a[i * n + j]; };
  Largest size{0, 0}, difference{0, 0};
  for (int e = thread; e < n * n; e += EliminationTuning::threads) {
    size.value = fmax(size.value, fabs(a[e]));
    difference.value = fmax(difference.value, fabs(a[e] - at(e % n, e / n)));
  }
  const double largest = largest_of_block(size).value;
  const bool symmetric = largest_of_block(difference).value <= 1e-10 * largest;
  for (int i = thread; i < n; i += EliminationTuning::threads) zero[i] = is_zero_row(a, n, i);
  __syncthreads();
  for (int i = thread; i < n; i += EliminationTuning::threads) {
    if (!zero[i]) continue;
    at(i, i) = largest;
    atomicAdd(zeros, 1);
  }
  __syncthreads();
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
  __syncthreads();
  for (int e = thread; symmetric && e < n * n; e += EliminationTuning::threads) {
    const int i = e / n, j = e % n;
    if (i > j) a[e] = at(j, i) = 0.5 * (a[e] + at(j, i));
  }
  for (int i = thread; i < n; i += EliminationTuning::threads) {
    if (zero[i]) at(i, i) = 0;
  }
  if (thread == 0) *regular = 1;
}

}  // namespace

int invert_dense(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double tolerance,
                 DeviceArray<double>& inverse) {
  const auto n = static_cast<int>(a.scalar_rows());
  DeviceArray<double> dense = zeros<double>(ctx, std::int64_t{n} * n);
  for_elements(ctx, a.pattern.rows, DenseRow{a, n, dense.data()});
  if (n > 0 && n <= EliminationTuning::most_rows) {
    DeviceArray<double> work = make_array(ctx, dense.cspan());
    DeviceArray<int> regular = zeros<int>(ctx, 1), zero_rows = zeros<int>(ctx, 1);
    invert_kernel<<<1, EliminationTuning::threads, 0, ctx.state().stream()>>>(n, tolerance, work.data(),
                                                                              regular.data(), zero_rows.data());
    PURLIN_CHECK_LAUNCH();
    if (value_at(ctx, regular, 0) == 1) {
      inverse = std::move(work);
      return value_at(ctx, zero_rows, 0);
    }
  }
  DenseInverse result = dense_inverse(n, to_vector(ctx, dense.cspan()), tolerance);
  inverse = make_array(ctx, result.values);
  return result.null_vectors;
}

}  // namespace purlin::detail

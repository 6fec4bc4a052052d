// SPDX-License-Identifier: Apache-2.0
/// Inverses of small dense matrices, also of singular ones: of the coarsest level, and of what prolongators need.
/// Internal.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "core/vectors/host_device.hpp"
#include "precond/amg/blocks/block_csr.hpp"

namespace newel::detail {

/// The pseudo-inverse of a symmetric positive semidefinite n x n matrix of a few rows, by an eigendecomposition.
std::vector<double> semidefinite_inverse(int n, std::vector<double> a);

/// Values `stride` places apart, as threads of a block keep theirs in shared memory.
struct SmallDense {
  double* first;
  int stride;
  NEWEL_HD double& operator[](int e) const { return first[e * stride]; }
};

/// The inverse of a matrix whose n pivots are all above 1e-6 of the diagonal, far above the rounding of a Gram
/// matrix, which is squared in it; by Cholesky's factorisation, for host and device. False, and `inverse` is of no
/// use: one is not. `work` is n x n too.
NEWEL_HD bool definite_inverse(int n, SmallDense a, SmallDense inverse, SmallDense work) {
  constexpr double least_pivot = 1e-6;
  for (int e = 0; e < n * n; ++e) inverse[e] = a[e];
  for (int i = 0; i < n; ++i) {  // L, and L^-1 beside it
    for (int j = 0; j <= i; ++j) {
      double sum = inverse[i * n + j];
      for (int l = 0; l < j; ++l) sum -= inverse[i * n + l] * inverse[j * n + l];
      if (j < i) {
        inverse[i * n + j] = sum / inverse[j * n + j];
      } else {
        if (!(sum > least_pivot * inverse[i * n + i])) return false;
        inverse[i * n + i] = sqrt(sum);
      }
    }
    for (int j = 0; j <= i; ++j) {
      double sum = i == j ? 1 : 0;
      for (int l = j; l < i; ++l) sum -= inverse[i * n + l] * work[l * n + j];
      work[i * n + j] = sum / inverse[i * n + i];
    }
  }
  for (int i = 0; i < n; ++i) {  // L^-T L^-1
    for (int j = 0; j <= i; ++j) {
      double sum = 0;
      for (int l = i; l < n; ++l) sum += work[l * n + i] * work[l * n + j];
      inverse[i * n + j] = inverse[j * n + i] = sum;
    }
  }
  return true;
}

/// The pseudo-inverse as above, for host and device: `a`, n x n, is overwritten, and so is `vectors`, for the
/// eigenvectors.
NEWEL_HD void semidefinite_inverse(int n, SmallDense a, SmallDense vectors, SmallDense inverse) {
  if (n == 1) {
    inverse[0] = a[0] > 0 ? 1 / a[0] : 0.0;
    return;
  }
  for (int e = 0; e < n * n; ++e) vectors[e] = e % (n + 1) == 0 ? 1 : 0;
  constexpr int most_sweeps = 30;
  bool rotated = true;
  for (int sweep = 0; sweep < most_sweeps && rotated; ++sweep) {
    rotated = false;
    for (int p = 0; p < n; ++p) {
      for (int q = p + 1; q < n; ++q) {
        const double off = a[p * n + q];
        if (off * off <= 1e-32 * fabs(a[p * n + p] * a[q * n + q])) continue;
        rotated = true;
        const double angle = 0.5 * atan2(2 * off, a[p * n + p] - a[q * n + q]);
        const double c = cos(angle), s = sin(angle);
        const auto rotate = [&](double& x, double& y) {
          const double old = x;
          x = c * old + s * y;
          y = c * y - s * old;
        };
        for (int i = 0; i < n; ++i) rotate(a[i * n + p], a[i * n + q]);
        for (int i = 0; i < n; ++i) rotate(a[p * n + i], a[q * n + i]);
        for (int i = 0; i < n; ++i) rotate(vectors[i * n + p], vectors[i * n + q]);
      }
    }
  }
  double largest = 0;
  for (int i = 0; i < n; ++i) largest = fmax(largest, a[i * n + i]);
  for (int e = 0; e < n * n; ++e) inverse[e] = 0;
  for (int v = 0; v < n; ++v) {
    const double value = a[v * n + v];
    if (!(value > 1e-12 * largest)) continue;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) inverse[i * n + j] += vectors[i * n + v] * vectors[j * n + v] / value;
    }
  }
}

/// An inverse of a dense matrix, and how much was missing.
struct DenseInverse {
  std::vector<double> values;  ///< n x n, row by row
  int null_vectors = 0;        ///< the dimension of the null space that was found
};

/// The inverse of the n x n matrix `a`, given row by row; of a singular one the pseudo-inverse, which is 0 on the
/// null spaces. Cholesky's factorisation of symmetric positive definite ones, rows of zeros apart, and elimination
/// with complete pivoting of others; pivots below `tolerance` times the largest count as 0. Where `a` is symmetric,
/// bit for bit or up to rounding, so is the inverse, bit for bit. O(n^3), one thread.
DenseInverse dense_inverse(int n, const std::vector<double>& a, double tolerance);

/// The inverse of a symmetric positive definite matrix, rows of zeros apart, whose number it returns; nothing, and
/// `inverse` is as it was, of any other. Tiles of 32 rows are eliminated. Waits for the stream.
std::optional<int> invert_if_definite(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double tolerance,
                                      Array<double, Space::device>& inverse);

/// The inverse of a square matrix as `dense_inverse` gives it, n x n values row by row, and the dimension of the null
/// space that was found. On the device by `invert_if_definite` where that can; others that are regular and of no more
/// than 512 rows by one block with partial pivoting; the host inverts what is left. Waits for the stream.
int invert_dense(const HostContext& ctx, const HostBlockCsr& a, double tolerance, std::vector<double>& inverse);
int invert_dense(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double tolerance,
                 Array<double, Space::device>& inverse);

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// Block Jacobi on the host: a thread inverts a block.
#include <algorithm>
#include <cmath>

#include <newel/core/parallel.hpp>
#include "core/vectors/vector_step_host.hpp"
#include "precond/block_jacobi/block_inverse.hpp"
#include "precond/block_jacobi/block_jacobi_steps.hpp"
#include "precond/block_jacobi/block_layout.hpp"

NEWEL_BLOCK_JACOBI_STEPS(NEWEL_SWEEP_HOST)

namespace newel::detail {
namespace {

/// An n x n matrix that becomes its inverse, row by row.
class DenseBlock {
 public:
  template <class T, class Position>
  DenseBlock(const BlockInverses<T, Position>& of, Index b) : n_(of.first[b + 1] - of.first[b]) {
    std::fill_n(of_row_, n_, 0.0);
    std::fill_n(of_column_, n_, 0.0);
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) {
        const double value = at(i, j) = of.entry(of.offset[b] + Offset{j} * n_ + i);
        of_row_[i] = std::max(of_row_[i], std::fabs(value));
        of_column_[j] = std::max(of_column_[j], std::fabs(value));
      }
      diagonal_[i] = at(i, i);
    }
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < i; ++j) symmetric_ = symmetric_ && at(i, j) == at(j, i);
    }
  }

  /// False: it is singular.
  bool invert() {
    for (int k = 0; k < n_; ++k) {
      if (!take_pivot(k)) return false;
      eliminate(k);
    }
    for (int k = n_ - 1; k >= 0; --k) {  // rows were exchanged, so columns of the inverse are
      for (int i = 0; i < n_; ++i) std::swap(at(i, k), at(i, pivot_[k]));
    }
    for (int i = 0; symmetric_ && i < n_; ++i) {
      for (int j = 0; j < i; ++j) at(i, j) = at(j, i) = 0.5 * (at(i, j) + at(j, i));
    }
    return true;
  }

  /// False: an entry is not finite in T.
  template <class T>
  bool store(T* inverse) {
    bool finite = true;
    for (int j = 0; j < n_; ++j) {
      for (int i = 0; i < n_; ++i) {
        const T value = inverse[j * n_ + i] = static_cast<T>(at(i, j));
        finite = finite && value - value == T(0);
      }
    }
    return finite;
  }
  template <class T>
  void store_inverse_of_diagonal(T* inverse) {
    std::fill_n(inverse, n_ * n_, T(0));
    for (int i = 0; i < n_; ++i) inverse[i * n_ + i] = static_cast<T>(inverse_of_diagonal(diagonal_[i]));
  }

 private:
  double& at(int i, int j) { return entry_[i * most_block_rows + j]; }

  bool take_pivot(int k) {
    int p = k;
    for (int i = k + 1; i < n_; ++i) {
      if (std::fabs(at(i, k)) > std::fabs(at(p, k))) p = i;
    }
    pivot_[k] = p;
    if (!(std::fabs(at(p, k)) > least_block_pivot * std::min(of_row_[p], of_column_[k]))) return false;
    std::swap_ranges(&at(k, 0), &at(k, 0) + n_, &at(p, 0));
    std::swap(of_row_[k], of_row_[p]);
    return true;
  }
  void eliminate(int k) {
    const double per_pivot = 1 / at(k, k);
    at(k, k) = 1;
    for (int j = 0; j < n_; ++j) at(k, j) *= per_pivot;
    for (int i = 0; i < n_; ++i) {
      if (i == k) continue;
      const double factor = at(i, k);
      at(i, k) = 0;
      for (int j = 0; j < n_; ++j) at(i, j) -= factor * at(k, j);
    }
  }

  int n_;
  double entry_[most_block_rows * most_block_rows];
  double of_row_[most_block_rows], of_column_[most_block_rows];  // largest entries
  double diagonal_[most_block_rows];
  int pivot_[most_block_rows];
  bool symmetric_ = true;
};

}  // namespace

template <class T, class Position>
void invert_blocks(const Context<Space::host>& ctx, const BlockInverses<T, Position>& of) {
  parallel_for(
      ctx, of.blocks,
      [&](std::int64_t b) {
        DenseBlock block(of, static_cast<Index>(b));
        T* const inverse = of.inverse + of.offset[b];
        if (block.invert() && block.store(inverse)) return;
        block.store_inverse_of_diagonal(inverse);
        atomic_add(*of.singular, 1);
      },
      64);
}

#define X(T, P) template void invert_blocks(const Context<Space::host>&, const BlockInverses<T, P>&);
NEWEL_BLOCK_INVERSES(X)
#undef X

}  // namespace newel::detail

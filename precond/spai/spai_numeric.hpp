// SPDX-License-Identifier: Apache-2.0
/// The numeric phase of SPAI in both spaces: what it reads, what it leaves, and what the two have in common.
/// Internal.
///
/// A problem with more than one column is a dense matrix of |touched| rows, its columns scaled to length 1, solved by
/// Householder QR without pivoting (G. H. Golub and C. F. Van Loan, "Matrix Computations", algorithm 5.2.1). A
/// problem counts as rank-deficient where a diagonal entry of R is not above rows * eps, and where e_j is orthogonal
/// to all columns to that accuracy; it then falls back to one diagonal entry.
#pragma once

#include <memory>
#include <vector>

#include "core/vectors/host_device.hpp"
#include "precond/spai/spai_layout.hpp"

namespace newel::detail {

/// Over all problems of one numeric phase.
struct SpaiVerdict {
  unsigned long long fallbacks = 0;  ///< problems that were given a diagonal entry for want of full rank
  double worst_residual = 0;         ///< the largest |n_j B - e_j|
};

/// See spai_layout.hpp for B and N.
template <class T>
struct SpaiView {
  Index problems = 0;
  const Offset* b_row_ptr = nullptr;
  const Index* b_col = nullptr;
  const T* b_val = nullptr;
  const Offset* row_ptr = nullptr;  ///< of N
  const Index* col = nullptr;
  T* val = nullptr;
  const Index* touched = nullptr;
  double* residual = nullptr;  ///< |n_j B - e_j|, one a problem
  SpaiVerdict* verdict = nullptr;
};

template <class T>
NEWEL_HD bool usable(T value) {
  return value - value == T(0) && value != T(0);  // infinity and NaN: their difference is NaN
}

/// The entry of a problem of one column, `norm` being |b_j| and `own` b_jj: own / norm^2, the least-squares solution;
/// where that is 0 or not finite, 1 / norm; where that is neither, 1. `fell_back` marks the last two.
template <class T>
NEWEL_HD T diagonal_value(double norm, double own, bool* fell_back) {
  T value = static_cast<T>(own / norm / norm);
  *fell_back = !usable(value);
  if (!*fell_back) return value;
  value = static_cast<T>(1 / norm);
  return usable(value) ? value : T(1);
}

/// What the numeric phase works in, made once and kept for refreshes.
template <class T, Space S>
class SpaiScratch;
template <class T, Space S>
using SpaiScratchPtr = std::shared_ptr<SpaiScratch<T, S>>;

template <class T>
SpaiScratchPtr<T, Space::host> make_spai_scratch(const Context<Space::host>& ctx, const SpaiLayout& layout);
template <class T>
SpaiScratchPtr<T, Space::device> make_spai_scratch(const Context<Space::device>& ctx, const SpaiLayout& layout);

/// Bytes of it in S.
template <class T>
std::size_t bytes_of(const SpaiScratch<T, Space::host>& scratch);
template <class T>
std::size_t bytes_of(const SpaiScratch<T, Space::device>& scratch);

/// Solves all problems: fills val, residual and verdict. The bits do not depend on the number of threads, nor on how
/// blocks are scheduled. Allocates nothing; queued on the stream.
template <class T>
void solve_spai(const Context<Space::host>& ctx, const SpaiView<T>& a, SpaiScratch<T, Space::host>& scratch);
template <class T>
void solve_spai(const Context<Space::device>& ctx, const SpaiView<T>& a, SpaiScratch<T, Space::device>& scratch);

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
/// LanczosWindow: approximate eigenvectors of the preconditioned matrix, from the iterations of CG. Internal.
#pragma once

#include <newel/core/array.hpp>
#include "solver/krylov/steps/cg_spectrum.hpp"
#include "solver/recycle/deflation.hpp"
#include "solver/recycle/symmetric_eigen.hpp"

namespace newel::detail {

/// The preconditioned residuals z_j of CG, divided by the square root of r_j.z_j, are Lanczos vectors of M A,
/// orthonormal in the inner product of the inverse of M; their projected matrix T is tridiagonal and follows from
/// CG's coefficients (Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, 6.7.3).
///
/// The window has room for `columns` vectors. When it is full, it is restarted with the Ritz vectors of the smallest
/// eigenvalues, of T and of T without its last row (A. Stathopoulos and K. Orginos, SIAM J. Sci. Comput. 32, 2010,
/// section 2.3). The next vector's products with them are those of the last Lanczos vector with it, which they
/// contain in known parts. Vectors are kept in single precision. A vector is a z_j of unknown length; T belongs to
/// the unit vectors, and the factor between both follows from CG's beta, up to one factor for all.
template <class T, Space S>
class LanczosWindow {
 public:
  static constexpr int columns = 24, restarts_with = 12, wanted = 8;

  /// Before a solve for n unknowns whose coefficients will be there. The first call allocates.
  void begin(const Context<S>& ctx, std::int64_t n, Span<CgCoefficients, S> coefficients);
  /// z of the next iteration. Waits for the stream when the window is full.
  void push(const Context<S>& ctx, Span<const T, S> z);
  /// After the solve: writes at most `most` Ritz vectors of the smallest eigenvalues to W, column after column, and
  /// returns how many. Waits for the stream.
  int finish(const Context<S>& ctx, int most, float* W);
  /// The largest Ritz value of the solve, after `finish`; 0: there was no iteration.
  double largest() const { return largest_; }

 private:
  void take_coefficients(const Context<S>& ctx);
  void restart(const Context<S>& ctx);
  void combine(const Context<S>& ctx, const SmallMatrix& rows, int count, float* to);
  SmallMatrix best_space() const;

  std::int64_t n_ = 0;
  Span<CgCoefficients, S> coefficients_{};
  Array<float, S> V_, other_;
  Array<T, S> combined_;
  Array<double, S> factors_;
  SmallMatrix T_{columns, columns};
  std::vector<double> scale_, coupling_;  ///< of the columns; of the next vector with Ritz vectors, over its beta
  int used_ = 0, ritz_ = 0;               ///< columns; those of them that are Ritz vectors, which come first
  int iteration_ = 0;                     ///< of the first column behind these
  double rho_ = 1, alpha_ = 0;            ///< r.z of the last column, over that of the first iteration; its alpha
  double largest_ = 0;
  bool ended_ = false;  ///< the recurrence of the first iteration has
};

}  // namespace newel::detail

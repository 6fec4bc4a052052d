// SPDX-License-Identifier: Apache-2.0
/// The residual b - A x of an x that is to be returned, its norm, and how far rounding may have moved it. Internal.
#pragma once

#include <newel/spmv/operator.hpp>

namespace newel::detail {

/// What is known of b - A x.
struct TrueResidual {
  double norm = 0;          ///< |b - A x|; not finite where x, or the residual, is not
  double error_bound = 0;   ///< the exact norm is within this of `norm`, but for the rounding of sums of squares
  bool proven = false;      ///< formed in twice the precision; else `error_bound` is an estimate
  double worst_row = -1;    ///< max of |r_i| / (sum_j |a_ij| max|x| + |b_i|); negative: not known
  double out_of_reach = 0;  ///< |b - A x| is at least this for every x: the norm of b in rows whose entries are all 0
};

/// The 2-norm of v also where squares of its entries leave the range; not finite where an entry is not, or where the
/// norm itself overflows. `scratch` is a double in S. Waits for the stream.
template <class T, Space S>
double norm_in_range(const Context<S>& ctx, Span<const T, S> v, double* scratch);

/// Whether every entry of v is a finite number. `scratch` as above. Waits for the stream.
template <class T, Space S>
bool all_finite(const Context<S>& ctx, Span<const T, S> v, double* scratch);

/// r = b - A x and what is known of it. `expected` is a norm of the size of |b|: only speed depends on it. An
/// operator that does not know its entries is multiplied with two vectors in addition, if the norm is at most
/// `tolerance`: `error_bound` is then an estimate of eps |A| |x|. If all of x is below 2^-200, rows are judged in other
/// units. Waits for the stream. Allocates two vectors in these cases alone.
template <class T, Space S>
TrueResidual true_residual(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<const T, S> b,
                           Span<const T, S> x, double expected, double tolerance, Span<T, S> r, double* scratch);

/// About |A|, by the image of a random vector. v and w are work vectors, `scratch` a double in S. One product; waits
/// for the stream.
template <class T, Space S>
double estimated_norm(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<T, S> v, Span<T, S> w,
                      double* scratch);

/// How far rounding moves A x: what changes if x and A x are divided and multiplied by other numbers than powers of
/// 2; at most about eps |A| |x|, as a product may never be the same. v and w are work vectors, `scratch` a double in
/// S. Five products; waits for the stream.
template <class T, Space S>
double rounding_of_product(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<const T, S> x, Span<T, S> v,
                           Span<T, S> w, double* scratch);

}  // namespace newel::detail

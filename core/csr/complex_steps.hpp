// SPDX-License-Identifier: Apache-2.0
/// Passes over complex values: to the equivalent real system and back. Internal.
#pragma once

#include <newel/core/types.hpp>
#include "core/vectors/vector_step.hpp"

namespace newel::detail {

/// A complex number as it lies in memory, with what kernels need of it.
template <class T>
struct Pair {
  T re, im;

  NEWEL_HD Pair& operator+=(const Pair& other) {
    re += other.re;
    im += other.im;
    return *this;
  }
};

/// How the unknowns x of a complex system follow from those of its real system, y: x = i^quarters y, or the
/// conjugate of that. Exact: components change places and signs.
struct UnknownChange {
  int quarters = 0;        ///< 0 to 3
  bool conjugate = false;  ///< with `quarters` = 0 only

  bool identity() const { return quarters == 0 && !conjugate; }
  UnknownChange inverse() const { return {(4 - quarters) % 4, conjugate}; }

  template <class T>
  NEWEL_HD Pair<T> operator()(const Pair<T>& z) const {
    if (conjugate) return {z.re, -z.im};
    switch (quarters) {
      case 1:
        return {-z.im, z.re};
      case 2:
        return {-z.re, -z.im};
      case 3:
        return {z.im, -z.re};
      default:
        return z;
    }
  }
};

/// The pattern of the real matrix, of rows 2 i and 2 i + 1: each entry becomes a block of two rows and two columns.
struct RealPatternStep : PlainStep {
  static constexpr int weight = 16;
  const Offset* row_ptr;
  const Index* col;
  Offset* real_row_ptr;
  Index* real_col;
  RealPatternStep(const Offset* row_ptr_, const Index* col_, Offset* real_row_ptr_, Index* real_col_)
      : row_ptr(row_ptr_), col(col_), real_row_ptr(real_row_ptr_), real_col(real_col_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    const Offset begin = row_ptr[i], length = row_ptr[i + 1] - begin;
    if (i == 0) real_row_ptr[0] = 0;
    real_row_ptr[2 * i + 1] = 4 * begin + 2 * length;
    real_row_ptr[2 * i + 2] = 4 * (begin + length);
    for (Offset e = 0; e < length; ++e) {
      for (Offset r = 0; r < 2; ++r) {
        real_col[4 * begin + 2 * (r * length + e)] = 2 * col[begin + e];
        real_col[4 * begin + 2 * (r * length + e) + 1] = 2 * col[begin + e] + 1;
      }
    }
  }
};

/// Its values for the unknowns y: an entry a becomes the real matrix of y -> a change(y).
template <class T>
struct RealValuesStep : PlainStep {
  static constexpr int weight = 16;
  const Offset* row_ptr;
  const Pair<T>* val;
  UnknownChange change;
  T* real_val;
  RealValuesStep(const Offset* row_ptr_, const Pair<T>* val_, UnknownChange change_, T* real_val_)
      : row_ptr(row_ptr_), val(val_), change(change_), real_val(real_val_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    const Offset begin = row_ptr[i], length = row_ptr[i + 1] - begin;
    const UnknownChange turn{change.conjugate ? 0 : change.quarters, false};
    const T sign = change.conjugate ? T(-1) : T(1);
    for (Offset e = 0; e < length; ++e) {
      const Pair<T> a = turn(val[begin + e]);
      T* const upper = real_val + 4 * begin + 2 * e;
      T* const lower = upper + 2 * length;
      upper[0] = a.re;
      upper[1] = -sign * a.im;
      lower[0] = a.im;
      lower[1] = sign * a.re;
    }
  }
};

/// *diagonal = the sum of the diagonal entries: its real part, then its imaginary part.
template <class T>
struct DiagonalSumStep : PlainStep {
  static constexpr int sums = 2, weight = 8;
  const Offset* row_ptr;
  const Index* col;
  const Pair<T>* val;
  double* diagonal;
  DiagonalSumStep(const Offset* row_ptr_, const Index* col_, const Pair<T>* val_, double* diagonal_)
      : row_ptr(row_ptr_), col(col_), val(val_), diagonal(diagonal_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums& sum) const {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (col[k] != i) continue;
      sum.add(0, static_cast<double>(val[k].re));
      sum.add(1, static_cast<double>(val[k].im));
    }
  }
  NEWEL_HD void end(const double* totals) const {
    diagonal[0] = totals[0];
    diagonal[1] = totals[1];
  }
};

/// *count = how many imaginary parts are not zero; NaN is not.
template <class T>
struct ImaginaryCountStep : PlainStep {
  static constexpr int sums = 1;
  const Pair<T>* val;
  double* count;
  ImaginaryCountStep(const Pair<T>* val_, double* count_) : val(val_), count(count_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t k, NoCoefficients, Sums& sum) const {
    sum.add(0, val[k].im == T(0) ? 0.0 : 1.0);
  }
  NEWEL_HD void end(const double* totals) const { *count = totals[0]; }
};

/// re_k and im_k from z_k; a null pointer is not written.
template <class T>
struct SeparateStep : PlainStep {
  const Pair<T>* z;
  T *re, *im;
  SeparateStep(const Pair<T>* z_, T* re_, T* im_) : z(z_), re(re_), im(im_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t k, NoCoefficients, Sums&) const {
    const Pair<T> value = z[k];
    re[k] = value.re;
    if (im != nullptr) im[k] = value.im;
  }
};

/// z_k from re_k and im_k
template <class T>
struct JoinStep : PlainStep {
  const T *re, *im;
  Pair<T>* z;
  JoinStep(const T* re_, const T* im_, Pair<T>* z_) : re(re_), im(im_), z(z_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t k, NoCoefficients, Sums&) const {
    z[k] = {re[k], im[k]};
  }
};

/// to_k = change(from_k); `to` may be `from`.
template <class T>
struct ChangeStep : PlainStep {
  const Pair<T>* from;
  UnknownChange change;
  Pair<T>* to;
  ChangeStep(const Pair<T>* from_, UnknownChange change_, Pair<T>* to_) : from(from_), change(change_), to(to_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t k, NoCoefficients, Sums&) const {
    to[k] = change(from[k]);
  }
};

/// y_k = sum of x[source_e] over e in [first_k, first_{k+1})
template <class T>
struct PairSumStep : PlainStep {
  const Pair<T>* x;
  const Offset *first, *source;
  Pair<T>* y;
  PairSumStep(const Pair<T>* x_, const Offset* first_, const Offset* source_, Pair<T>* y_)
      : x(x_), first(first_), source(source_), y(y_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t k, NoCoefficients, Sums&) const {
    Pair<T> total = x[source[first[k]]];
    for (Offset e = first[k] + 1; e < first[k + 1]; ++e) total += x[source[e]];
    y[k] = total;
  }
};

#define NEWEL_COMPLEX_STEPS_OF(SWEEP, T)      \
  SWEEP(newel::detail::RealValuesStep<T>)     \
  SWEEP(newel::detail::DiagonalSumStep<T>)    \
  SWEEP(newel::detail::ImaginaryCountStep<T>) \
  SWEEP(newel::detail::SeparateStep<T>)       \
  SWEEP(newel::detail::JoinStep<T>)           \
  SWEEP(newel::detail::ChangeStep<T>)         \
  SWEEP(newel::detail::PairSumStep<T>)
/// Every step of this file, for one space.
#define NEWEL_COMPLEX_STEPS(SWEEP)      \
  NEWEL_COMPLEX_STEPS_OF(SWEEP, double) \
  NEWEL_COMPLEX_STEPS_OF(SWEEP, float)  \
  SWEEP(newel::detail::RealPatternStep)

}  // namespace newel::detail

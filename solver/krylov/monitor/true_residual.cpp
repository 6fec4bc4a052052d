// SPDX-License-Identifier: Apache-2.0
// Norms of residuals, and bounds of their rounding.
#include "solver/krylov/monitor/true_residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/alone.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/random.hpp"
#include "solver/krylov/steps/convergence_steps.hpp"
#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::detail {
namespace {

constexpr double least_square = 0x1p-900, most_square = 0x1p900;  // sums of squares without loss
constexpr int most_exponent = 1000;                               // whose power of two has an inverse
constexpr double least_x_of_rows = 0x1p-200;                      // products of x with small entries may underflow

double power_of_two_near(double size) {
  if (std::isinf(size)) return std::ldexp(1.0, most_exponent);
  if (!(size > 0)) return 1;
  return std::ldexp(1.0, std::clamp(std::ilogb(size), -most_exponent, most_exponent));
}

template <class T, Space S>
double plain_norm(const Context<S>& ctx, Span<const T, S> v, double* scratch) {
  norm2<T, S>(ctx, v, scratch);
  return fetch(ctx, static_cast<const double*>(scratch));
}

template <class T, Space S>
double largest(const Context<S>& ctx, Span<const T, S> v, double* scratch) {
  max_abs<T>(ctx, v, scratch);
  return fetch(ctx, static_cast<const double*>(scratch));
}

// Sums in a unit in which squares are neither lost nor infinite.
template <class T, Space S>
std::optional<ResidualSums> sums_in_range(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<const T, S> b,
                                          Span<const T, S> x, ResidualScale& scale, Span<T, S> r) {
  std::optional<ResidualSums> sums;
  for (int tries = 0; tries < 5; ++tries) {
    sums = A.residual(ctx, b, x, scale, r);
    if (!sums) return sums;
    const bool lost = sums->square < least_square && sums->sum > 0;
    const bool infinite = sums->square > most_square;
    // A sum that is infinite itself says only that the unit is far too small.
    const double size = std::isinf(sums->sum) ? 0x1p600 : sums->sum;
    const double unit = power_of_two_near(std::ldexp(size, std::ilogb(scale.unit)));
    if ((!lost && !infinite) || unit == scale.unit) return sums;
    scale.unit = unit;
  }
  return sums;
}

// In units in which x is near 1, where no product of an entry of A underflows. None if these units are out of range
// for b, or if there is no memory.
template <class T, Space S>
std::optional<TrueResidual> in_units_of_x(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<const T, S> b,
                                          Span<const T, S> x, double x_max, double expected, double* scratch) {
  const double size = power_of_two_near(x_max), unit = 1 / size;
  try {
    Array<T, S> larger_x(ctx, x.size), larger_b(ctx, b.size), r(ctx, b.size);
    axpby<T, S>(ctx, static_cast<T>(unit), x, T(0), larger_x.span());
    axpby<T, S>(ctx, static_cast<T>(unit), b, T(0), larger_b.span());
    max_abs<T>(ctx, larger_x.cspan(), scratch);
    ResidualScale scale{power_of_two_near(expected * unit), scratch};
    const auto sums = sums_in_range<T, S>(ctx, A, larger_b.cspan(), larger_x.cspan(), scale, r.span());
    if (!sums || !std::isfinite(sums->sum)) return std::nullopt;
    const double back = scale.unit * size;
    return TrueResidual{back * std::sqrt(sums->square), back * sums->error_sum, true, sums->worst_row,
                        back * std::sqrt(sums->beyond_square)};
  } catch (const OutOfMemory&) {
    detail::require_alone(ctx);
    return std::nullopt;
  }
}

// w - A x, by way of v = share x: with a share that is no power of 2 x and the products are rounded in another way.
template <class T, Space S>
void subtract_rounded_anew(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<const T, S> x, T share,
                           Span<T, S> v, Span<T, S> w) {
  axpby<T, S>(ctx, share, x, T(0), v);
  A.apply(ctx, T(-1) / share, Span<const T, S>(v), T(1), w);
}

// eps |A| |x|, or what another rounding of x and the products shows of it where that is more. `r` is b - A x.
template <class T, Space S>
double estimated_rounding(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<const T, S> b,
                          Span<const T, S> x, Span<const T, S> r, double* scratch) {
  constexpr double margin = 4;  // one rounding says little of another
  try {
    Array<T, S> v(ctx, r.size), w(ctx, r.size);
    copy<T>(ctx, b, w.span());
    subtract_rounded_anew<T, S>(ctx, A, x, T(0.9), v.span(), w.span());
    axpy<T, S>(ctx, T(-1), r, w.span());
    const double of_product = norm_in_range<T, S>(ctx, w.cspan(), scratch);
    const double of_operator = estimated_norm<T, S>(ctx, A, v.span(), w.span(), scratch);
    const double x_norm = norm_in_range<T, S>(ctx, x, scratch);
    return std::max(margin * of_product, std::numeric_limits<T>::epsilon() * of_operator * x_norm);
  } catch (const OutOfMemory&) {
    detail::require_alone(ctx);
    return 0;
  }
}

}  // namespace

template <class T, Space S>
bool all_finite(const Context<S>& ctx, Span<const T, S> v, double* scratch) {
  return std::isfinite(largest(ctx, v, scratch));
}

template <class T, Space S>
double norm_in_range(const Context<S>& ctx, Span<const T, S> v, double* scratch) {
  const double norm = plain_norm<T, S>(ctx, v, scratch);
  if (std::isfinite(norm) && norm >= least_safe_norm) return norm;
  const double most = largest<T, S>(ctx, v, scratch);
  if (!(most > 0) || !std::isfinite(most)) return most;
  const double unit = power_of_two_near(most);
  sweep(ctx, v.size, ScaledSquares<T>(v.data, 1 / unit, scratch));
  return unit * std::sqrt(fetch(ctx, static_cast<const double*>(scratch)));
}

template <class T, Space S>
TrueResidual true_residual(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<const T, S> b,
                           Span<const T, S> x, double expected, double tolerance, Span<T, S> r, double* scratch) {
  TrueResidual found;
  max_abs<T>(ctx, x, scratch);
  ResidualScale scale{power_of_two_near(expected), scratch};
  double x_max = 0;
  if (const auto sums = sums_in_range<T, S>(ctx, A, b, x, scale, r)) {
    found = {scale.unit * std::sqrt(sums->square), scale.unit * sums->error_sum, true, sums->worst_row,
             scale.unit * std::sqrt(sums->beyond_square)};
    x_max = sums->x_max;
    if (std::isinf(sums->error_sum) && std::isfinite(found.norm)) {  // of products far larger than what they leave
      scale.unit = std::ldexp(scale.unit, 600);
      max_abs<T>(ctx, x, scratch);
      if (const auto larger = A.residual(ctx, b, x, scale, r)) found.error_bound = scale.unit * larger->error_sum;
    }
    if (x_max > 0 && x_max < least_x_of_rows) {
      if (const auto larger = in_units_of_x<T, S>(ctx, A, b, x, x_max, std::abs(expected), scratch)) {
        found.worst_row = larger->worst_row;
        // What products may lose by underflow is in the bound, and may be more than the tolerance itself.
        if (larger->error_bound < found.error_bound) {
          found.norm = larger->norm;
          found.error_bound = larger->error_bound;
        }
      }
    }
  } else {
    x_max = fetch(ctx, static_cast<const double*>(scratch));
    copy<T>(ctx, b, r);
    A.apply(ctx, T(-1), x, T(1), r);
    found.norm = norm_in_range<T, S>(ctx, Span<const T, S>(r), scratch);
    found.worst_row = -1;
    if (found.norm <= tolerance && x_max > 0 && std::isfinite(x_max)) {
      found.error_bound = estimated_rounding<T, S>(ctx, A, b, x, Span<const T, S>(r), scratch);
    }
  }
  if (x_max == 0 && std::isfinite(found.norm)) found.norm = norm_in_range<T, S>(ctx, b, scratch);  // to the last bit
  // An unknown that no entry multiplies leaves no trace in the residual.
  if (!std::isfinite(x_max)) found.norm = x_max;
  if (!std::isfinite(found.norm)) found.worst_row = -1;
  return found;
}

// A vector of signs might be one that A maps to zero, as constants are.
template <class T, Space S>
double estimated_norm(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<T, S> v, Span<T, S> w,
                      double* scratch) {
  fill_random<T, S>(ctx, RandomKind::signed_length, 1, 0, v);
  A.apply(ctx, T(1), Span<const T, S>(v), T(0), w);
  const double length = norm_in_range<T, S>(ctx, Span<const T, S>(v), scratch);
  return length > 0 ? norm_in_range<T, S>(ctx, Span<const T, S>(w), scratch) / length : 0;
}

template <class T, Space S>
double rounding_of_product(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<const T, S> x, Span<T, S> v,
                           Span<T, S> w, double* scratch) {
  double rounding = 0;
  for (const double share : {0.9, 0.7}) {
    A.apply(ctx, T(1), x, T(0), w);
    subtract_rounded_anew<T, S>(ctx, A, x, T(share), v, w);
    rounding = std::max(rounding, norm_in_range<T, S>(ctx, Span<const T, S>(w), scratch));
  }
  const double of_operator = estimated_norm<T, S>(ctx, A, v, w, scratch);
  return std::min(rounding, std::numeric_limits<T>::epsilon() * of_operator * norm_in_range<T, S>(ctx, x, scratch));
}

#define X(T, S)                                                                                                \
  template bool all_finite<T, S>(const Context<S>&, Span<const T, S>, double*);                                \
  template double norm_in_range<T, S>(const Context<S>&, Span<const T, S>, double*);                           \
  template double estimated_norm<T, S>(const Context<S>&, const LinearOperator<T, S>&, Span<T, S>, Span<T, S>, \
                                       double*);                                                               \
  template double rounding_of_product<T, S>(const Context<S>&, const LinearOperator<T, S>&, Span<const T, S>,  \
                                            Span<T, S>, Span<T, S>, double*);                                  \
  template TrueResidual true_residual<T, S>(const Context<S>&, const LinearOperator<T, S>&, Span<const T, S>,  \
                                            Span<const T, S>, double, double, Span<T, S>, double*);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

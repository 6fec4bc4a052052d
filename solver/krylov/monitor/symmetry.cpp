// SPDX-License-Identifier: Apache-2.0
// v.Aw against w.Av, and p.Ap against its rounding.
#include "solver/krylov/monitor/symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/alone.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "core/vectors/random.hpp"
#include "core/vectors/twice_sum.hpp"
#include "solver/krylov/monitor/scaled_system.hpp"
#include "solver/krylov/monitor/true_residual.hpp"
#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::detail {
namespace {

// y = B w, or -B w in twice the precision where B knows its entries: large entries that cancel would leave rounding
// that looks like asymmetry.
template <class T, Space S>
void form_image(const Context<S>& ctx, const LinearOperator<T, S>& B, Span<const T, S> w, Span<T, S> y,
                double* scratch) {
  fill<T, S>(ctx, T(0), y);
  const bool formed = B.residual(ctx, Span<const T, S>(y), w, {1, scratch}, y).has_value();
  if (!formed) B.apply(ctx, T(1), w, T(0), y);
}

// v over a power of two near its largest entry; false of zeros, and of what is not finite.
template <class T, Space S>
bool put_in_own_units(const Context<S>& ctx, Span<T, S> v, double* scratch) {
  max_abs<T>(ctx, Span<const T, S>(v), scratch);
  const double size = fetch(ctx, static_cast<const double*>(scratch));
  if (!(size > 0) || !std::isfinite(size)) return false;
  scale_by_power<T, S>(ctx, -std::ilogb(size), Span<const T, S>(v), v);
  return true;
}

// Whether p.A p, of these norms of p and A p, is below its rounding. Of vectors whose products underflow it is not.
bool is_below_rounding(double curvature, double rounding, double p_norm, double image_norm) {
  const bool in_range = p_norm >= least_safe_norm && (image_norm == 0 || image_norm >= least_safe_norm);
  return in_range && std::isfinite(rounding) && curvature <= -rounding;
}

// As is_not_positive_along, of an operator whose entries are not known. Without memory the sign is believed.
template <class T, Space S>
bool operator_is_not_positive_along(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<const T, S> p,
                                    Span<T, S> image, double* scratch) {
  constexpr double of_norm = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
  try {
    Array<T, S> v(ctx, p.size);
    const double p_norm = norm_in_range<T, S>(ctx, p, scratch);
    const double of_image = of_norm * estimated_norm<T, S>(ctx, A, v.span(), image, scratch) * p_norm;
    A.apply(ctx, T(1), p, T(0), image);
    const double image_norm = norm_in_range<T, S>(ctx, Span<const T, S>(image), scratch);
    dot<T, S>(ctx, p, Span<const T, S>(image), scratch);
    const double rounding =
        p_norm * (of_image + static_cast<double>(all_rows(ctx, p.size)) * unit_roundoff * image_norm);
    return is_below_rounding(fetch(ctx, static_cast<const double*>(scratch)), rounding, p_norm, image_norm);
  } catch (const OutOfMemory&) {
    require_alone(ctx);
    return true;
  }
}

// |v.Bw - w.Bv| over the larger of |v||Bw| and |w||Bv|. `image` is a work vector.
template <class T, Space S>
double asymmetry(const Context<S>& ctx, const LinearOperator<T, S>& B, const Array<T, S> (&vectors)[2],
                 Array<T, S>& image) {
  Array<double, S> sums(ctx, 6);
  for (int k = 0; k < 2; ++k) {
    const Array<T, S>&v = vectors[k], &w = vectors[1 - k];
    form_image<T, S>(ctx, B, v.cspan(), image.span(), sums.data() + 3 * k);
    dot<T, S>(ctx, w.cspan(), image.cspan(), sums.data() + 3 * k);
    norm2<T, S>(ctx, w.cspan(), sums.data() + 3 * k + 1);
    norm2<T, S>(ctx, image.cspan(), sums.data() + 3 * k + 2);
  }
  const std::vector<double> s = to_vector(ctx, sums.cspan());
  const double scale = std::max(s[1] * s[2], s[4] * s[5]);
  return scale > 0 ? std::abs(s[0] - s[3]) / scale : 0.0;
}

}  // namespace

template <class T, Space S>
bool is_not_positive_along(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<T, S> p, Span<T, S> image,
                           double* scratch) {
  const auto value = [&] { return fetch(ctx, static_cast<const double*>(scratch)); };
  const Span<const T, S> in(p);
  if (!put_in_own_units<T, S>(ctx, p, scratch)) return false;
  max_abs<T>(ctx, in, scratch);
  fill<T, S>(ctx, T(0), image);
  const auto sums = A.residual(ctx, Span<const T, S>(image), in, {1, scratch}, image);  // -A p
  if (!sums) return operator_is_not_positive_along(ctx, A, in, image, scratch);
  norm2<T, S>(ctx, in, scratch);
  const double p_norm = value();
  norm2<T, S>(ctx, Span<const T, S>(image), scratch);
  const double image_norm = value();
  dot<T, S>(ctx, in, Span<const T, S>(image), scratch);
  const double curvature = -value();
  const double of_image = std::is_same_v<T, double> ? 0 : std::numeric_limits<T>::epsilon();  // it was rounded to T
  const double rounding =
      (static_cast<double>(all_rows(ctx, p.size)) * unit_roundoff + of_image) * p_norm * image_norm +
      2 * sums->x_max * sums->error_sum;
  return is_below_rounding(curvature, rounding, p_norm, image_norm);
}

template <class T, Space S>
bool is_precond_not_positive_along(const Context<S>& ctx, const LinearOperator<T, S>& M, Span<T, S> r,
                                   Span<T, S> image, double* scratch) {
  const Span<const T, S> in(r);
  if (!put_in_own_units<T, S>(ctx, r, scratch)) return false;
  M.apply(ctx, T(1), in, T(0), image);
  const double r_norm = norm_in_range<T, S>(ctx, in, scratch);
  const double image_norm = norm_in_range<T, S>(ctx, Span<const T, S>(image), scratch);
  dot<T, S>(ctx, in, Span<const T, S>(image), scratch);
  const double rounding =
      static_cast<double>(all_rows(ctx, r.size)) * unit_roundoff + std::numeric_limits<T>::epsilon();
  return fetch(ctx, static_cast<const double*>(scratch)) <= -rounding * r_norm * image_norm;
}

}  // namespace newel::detail

namespace newel {

template <class T, Space S>
Asymmetric symmetry_fault(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  constexpr double of_matrix = std::max(1e-10, 100 * eps);  // a choice by the values allows 1e-12 of the largest
  // M is a product of matrices, which rounds more than it is long, and may be a cycle in single precision.
  const double of_precond = std::max(1e-5, std::sqrt(eps));
  const Index n = A.rows();
  try {
    Array<T, S> vectors[2] = {Array<T, S>(ctx, n), Array<T, S>(ctx, n)};
    // With signs alone, differences of integers, v.Bw - w.Bv may well be 0 by chance.
    for (int k = 0; k < 2; ++k) {
      detail::fill_random<T, S>(ctx, detail::RandomKind::signed_length, 1, k * detail::all_rows(ctx, n),
                                vectors[k].span());
    }
    Array<T, S> image(ctx, n);
    if (M != nullptr) {
      if (detail::asymmetry(ctx, *M, vectors, image) > of_precond) return Asymmetric::preconditioner;
      // M's images, so that rows of A which outweigh all others (penalties) do not hide those.
      for (Array<T, S>& v : vectors) {
        M->apply(ctx, T(1), v.cspan(), T(0), image.span());
        v.swap(image);
      }
    }
    return detail::asymmetry(ctx, A, vectors, image) > of_matrix ? Asymmetric::matrix : Asymmetric::none;
  } catch (const OutOfMemory&) {
    detail::require_alone(ctx);
    return Asymmetric::none;
  }
}

#define X(T, S)                                                                                                    \
  template Asymmetric symmetry_fault(const Context<S>&, const LinearOperator<T, S>&, const LinearOperator<T, S>*); \
  template bool detail::is_not_positive_along(const Context<S>&, const LinearOperator<T, S>&, Span<T, S>,          \
                                              Span<T, S>, double*);                                                \
  template bool detail::is_precond_not_positive_along(const Context<S>&, const LinearOperator<T, S>&, Span<T, S>,  \
                                                      Span<T, S>, double*);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel

// SPDX-License-Identifier: Apache-2.0
// Vectors orthogonal to the range of A, with a part of b.
#include "solver/krylov/monitor/inconsistency.hpp"

#include <cmath>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/alone.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "core/vectors/random.hpp"
#include "core/vectors/twice_sum.hpp"
#include "solver/krylov/monitor/scaled_system.hpp"
#include "solver/krylov/steps/convergence_steps.hpp"

namespace newel::detail {
namespace {

constexpr std::uint64_t random_vectors = 2, graded_vectors = 6;
constexpr std::int64_t most_single_columns = 256;  // that are looked at one by one

template <class T, Space S>
class Evidence {
 public:
  Evidence(const Context<S>& ctx, const LinearOperator<T, S>& A)
      : ctx_(ctx), A_(A), r_(ctx, A.rows()), v_(ctx, A.rows()), image_(ctx, A.rows()), scratch_(ctx, 1) {}

  std::optional<Failure> find(Span<const T, S> b, Span<const T, S> x, double rhs_norm, double tolerance) {
    const auto found = [&](Cause cause, double level) { return Failure{cause, Subject::none, level / rhs_norm}; };
    const TrueResidual at = true_residual<T, S>(ctx_, A_, b, x, rhs_norm, 0, r_, scratch_.data());
    if (at.out_of_reach > tolerance) return found(Cause::zero_row, at.out_of_reach);
    fill<T, S>(ctx_, T(1), v_.span());
    const double constant = part_along(v_.cspan(), b);
    if (constant > tolerance && columns_sum_to_zero()) return found(Cause::outside_range, constant);
    if (!std::isfinite(at.norm) || !(at.norm > tolerance)) return std::nullopt;
    scale_by_power<T, S>(ctx_, -std::ilogb(at.norm), r_.cspan(), r_.span());  // so that no term underflows
    if (residual_is_orthogonal()) return found(Cause::inconsistent, at.norm);
    return std::nullopt;
  }

 private:
  double value() const { return fetch(ctx_, scratch_.data()); }

  // |y.b| / |y|
  double part_along(Span<const T, S> y, Span<const T, S> b) {
    const double length = norm_in_range<T, S>(ctx_, y, scratch_.data());
    dot<T, S>(ctx_, y, b, scratch_.data());
    return std::abs(value()) / length;
  }

  // image_ = A v of a random vector, which v_ holds, formed in twice the precision; `lost`, if it is given, is
  // what rounding to T took from it. False if A does not know its entries: image_ is then not formed.
  bool form_image_in_twice_precision(std::uint64_t seed, std::optional<Span<T, S>> lost = std::nullopt) {
    fill_random<T, S>(ctx_, RandomKind::signed_length, seed, 0, v_.span());
    if (seed > random_vectors) grade();
    return form_image_of_v(lost);
  }
  bool form_image_of_v(std::optional<Span<T, S>> lost) {
    max_abs<T>(ctx_, v_.cspan(), scratch_.data());
    const ResidualScale scale{1, scratch_.data()};
    fill<T, S>(ctx_, T(0), image_.span());
    if (!A_.residual(ctx_, image_.cspan(), v_.cspan(), scale, image_.span())) return false;  // -A v
    newel::scale<T, S>(ctx_, T(-1), image_.span());
    if (lost) A_.residual(ctx_, image_.cspan(), v_.cspan(), scale, *lost);  // image - A v
    return true;
  }
  void form_image(std::uint64_t seed) {
    if (!form_image_in_twice_precision(seed)) A_.apply(ctx_, T(1), v_.cspan(), T(0), image_.span());
  }

  // v_ becomes its power of a high exponent: entries of very different sizes, so that large columns of A do not
  // always hide the others.
  void grade() {
    constexpr int squares = std::is_same_v<T, double> ? 6 : 5;
    for (int k = 0; k < squares; ++k) multiply<T, S>(ctx_, T(1), v_.cspan(), v_.cspan(), T(0), v_.span());
  }

  // Whether terms cancel to rounding. What has left the range cancels with nothing.
  static bool cancel(double sum, double terms, double rounding) {
    return std::isfinite(terms) && terms > 0 && std::abs(sum) <= rounding * terms;
  }

  double sum_of(Span<const T, S> v) {
    sum<T, S>(ctx_, v, scratch_.data());
    return value();
  }
  double size_of(Span<const T, S> v) {
    sweep(ctx_, v.size, AbsSumStep<T>(v.data, scratch_.data()));
    return value();
  }

  // Whether the columns of A sum to zero, to the rounding of sums in double: a smaller sum might still be what a
  // large x makes use of.
  bool columns_sum_to_zero() {
    constexpr double rounding = 4 * unit_roundoff;
    Array<T, S> lost(ctx_, A_.rows());
    fill<T, S>(ctx_, T(0), lost.span());
    for (std::uint64_t seed = 1; seed <= random_vectors + graded_vectors; ++seed) {
      if (!form_image_in_twice_precision(seed, lost.span())) return false;
      const double sum = sum_of(image_.cspan()) - sum_of(lost.cspan());
      if (!cancel(sum, size_of(image_.cspan()), rounding)) return false;
    }
    return all_rows(ctx_, A_.cols()) > most_single_columns || each_column_sums_to_zero();
  }

  // No large column hides a small one here.
  bool each_column_sums_to_zero() {
    constexpr double rounding = 64 * unit_roundoff;  // of a diagonal entry, too, that was summed up from the others
    fill<T, S>(ctx_, T(0), v_.span());
    for (std::int64_t k = 0; k < all_rows(ctx_, A_.cols()); ++k) {
      const std::int64_t j = k - first_row(ctx_);
      const Span<T, S> own = j >= 0 && j < A_.cols() ? v_.span().subspan(j, 1) : Span<T, S>();
      fill<T, S>(ctx_, T(1), own);
      if (!form_image_of_v(std::nullopt)) return false;
      const double sum = sum_of(image_.cspan());
      if (sum != 0 && !cancel(sum, size_of(image_.cspan()), rounding)) return false;
      fill<T, S>(ctx_, T(0), own);
    }
    return true;
  }

  // Whether r_ is orthogonal to what A makes of random vectors: the terms of r.A v cancel, as far as the solver has
  // made it so.
  bool residual_is_orthogonal() {
    constexpr double of_solver = std::is_same_v<T, double> ? 1e-12 : 1e-5;
    for (std::uint64_t seed = 1; seed <= random_vectors; ++seed) {
      form_image(seed);
      multiply<T, S>(ctx_, T(1), r_.cspan(), image_.cspan(), T(0), v_.span());
      const double sum = sum_of(v_.cspan());
      if (!cancel(sum, size_of(v_.cspan()), of_solver)) return false;
    }
    return true;
  }

  Context<S> ctx_;
  const LinearOperator<T, S>& A_;
  Array<T, S> r_, v_, image_;
  Array<double, S> scratch_;
};

}  // namespace

template <class T, Space S>
std::optional<Failure> why_inconsistent(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<const T, S> b,
                                        Span<const T, S> x, double rhs_norm, double tolerance) {
  if (!(rhs_norm > 0) || !std::isfinite(rhs_norm)) return std::nullopt;
  try {
    return Evidence<T, S>(ctx, A).find(b, x, rhs_norm, tolerance);
  } catch (const OutOfMemory&) {
    detail::require_alone(ctx);
    return std::nullopt;
  }
}

#define X(T, S)                                                                                          \
  template std::optional<Failure> why_inconsistent<T, S>(const Context<S>&, const LinearOperator<T, S>&, \
                                                         Span<const T, S>, Span<const T, S>, double, double);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// Vectors orthogonal to the range of A, with a part of b.
#include <purlin/solver/inconsistency.hpp>

#include <cmath>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/random.hpp>
#include <purlin/core/vector_ops.hpp>

namespace purlin::detail {
namespace {

constexpr int random_vectors = 2;

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
    const bool residual_counts = std::isfinite(at.norm) && at.norm > tolerance;
    const OutOfRange is = out_of_range({constant > tolerance, residual_counts});
    if (is.ones) return found(Cause::outside_range, constant);
    if (is.residual) return found(Cause::inconsistent, at.norm);
    return std::nullopt;
  }

 private:
  // Which vectors are orthogonal to the range of A.
  struct OutOfRange {
    bool ones, residual;
  };

  double value() const { return fetch(ctx_, scratch_.data()); }

  // |y.b| / |y|
  double part_along(Span<const T, S> y, Span<const T, S> b) {
    const double length = norm_in_range<T, S>(ctx_, y, scratch_.data());
    dot<T, S>(ctx_, y, b, scratch_.data());
    return std::abs(value()) / length;
  }

  // image_ = A v of a random v, in v_, and its norm.
  double make_image(int k) {
    fill_random<T, S>(ctx_, RandomKind::signed_length, 1 + static_cast<std::uint64_t>(k), 0, v_.span());
    max_abs<T>(ctx_, v_.cspan(), scratch_.data());
    fill<T, S>(ctx_, T(0), image_.span());
    if (!A_.residual(ctx_, image_.cspan(), v_.cspan(), {1, scratch_.data()}, image_.span())) {
      A_.apply(ctx_, T(1), v_.cspan(), T(0), image_.span());
    }
    return norm_in_range<T, S>(ctx_, image_.cspan(), scratch_.data());
  }

  // Which of those that are asked for are orthogonal to what A makes of random vectors. One product serves both. r_
  // is kept.
  OutOfRange out_of_range(OutOfRange may_be) {
    constexpr double rounding = std::is_same_v<T, double> ? 1e-13 : 1e-5;
    constexpr double of_solver = std::is_same_v<T, double> ? 1e-12 : 1e-5;  // it has made the residual orthogonal
    for (int k = 0; k < random_vectors && (may_be.ones || may_be.residual); ++k) {
      const double length = make_image(k);
      if (!std::isfinite(length)) return {false, false};
      may_be.residual = may_be.residual && part_along(r_.cspan(), image_.cspan()) <= of_solver * length;
      fill<T, S>(ctx_, T(1), v_.span());
      may_be.ones = may_be.ones && part_along(v_.cspan(), image_.cspan()) <= rounding * length;
    }
    return may_be;
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
    return std::nullopt;
  }
}

#define X(T, S)                                                                                          \
  template std::optional<Failure> why_inconsistent<T, S>(const Context<S>&, const LinearOperator<T, S>&, \
                                                         Span<const T, S>, Span<const T, S>, double, double);
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin::detail

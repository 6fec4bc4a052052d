// SPDX-License-Identifier: Apache-2.0
// Exponents of a system, and operators in other units.
#include "solver/krylov/monitor/scaled_system.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "core/vectors/random.hpp"
#include "solver/krylov/monitor/true_residual.hpp"
#include "solver/krylov/steps/convergence_steps.hpp"

namespace newel::detail {
namespace {

// Beyond these the square of a residual at the tolerance, or of a product of it, is not sure to be a normal number
// (double), and a product of vectors' entries may not be (single precision, whose sums are double).
template <class T>
constexpr int usual_exponents = std::is_same_v<T, double> ? 450 : 40;

// Exponents of products that stay inside the range of T, sums of them too.
template <class T>
constexpr int harmless_exponents = std::is_same_v<T, double> ? 900 : 90;

// Half of the exponents that T has, which takes any number to where sums of it are finite and not zero.
template <class T>
constexpr int half_range = std::is_same_v<T, double> ? 600 : 80;

template <class T>
T power_of_two(int exponent) {
  return static_cast<T>(std::ldexp(1.0, exponent));
}

// The exponent of the mean |v_i|. None for a vector of zeros and one that is not finite. v is lost.
template <class T, Space S>
std::optional<int> mean_exponent(const Context<S>& ctx, Span<T, S> v) {
  Array<double, S> sum(ctx, 1);
  const auto mean = [&] {
    sweep(ctx, v.size, AbsSumStep<T>(v.data, sum.data()));
    return fetch(ctx, static_cast<const double*>(sum.data())) / static_cast<double>(all_rows(ctx, v.size));
  };
  double size = mean();
  int shift = 0;
  if (std::isinf(size)) {
    shift = half_range<T>;
    scale_by_power<T, S>(ctx, -shift, v, v);
    size = mean();
  }
  if (!(size > 0) || !std::isfinite(size)) return std::nullopt;
  return std::ilogb(size) + shift;
}

// Whether M of a vector near 2^exponent is not what it is of one near 1, in these units.
template <class T, Space S>
bool loses_digits(const Context<S>& ctx, const LinearOperator<T, S>& M, int exponent) {
  constexpr double most = 1e-3;
  if (std::abs(exponent) <= usual_exponents<float>) return false;
  Array<T, S> v(ctx, M.rows()), w(ctx, M.rows()), scaled(ctx, M.rows());
  Array<double, S> scratch(ctx, 1);
  fill_random<T, S>(ctx, RandomKind::signed_length, 1, 0, v.span());
  M.apply(ctx, T(1), v.cspan(), T(0), w.span());
  scale_by_power<T, S>(ctx, exponent, v.cspan(), v.span());
  M.apply(ctx, T(1), v.cspan(), T(0), scaled.span());
  scale_by_power<T, S>(ctx, -exponent, scaled.cspan(), scaled.span());
  const double size = norm_in_range<T, S>(ctx, w.cspan(), scratch.data());
  axpy<T, S>(ctx, T(-1), w.cspan(), scaled.span());
  return !(norm_in_range<T, S>(ctx, scaled.cspan(), scratch.data()) <= most * size);
}

}  // namespace

template <class T, Space S>
void scale_by_power(const Context<S>& ctx, int exponent, Span<const T, S> x, Span<T, S> y) {
  const int first = exponent / 2;
  if (x.data != y.data) copy<T>(ctx, x, y);
  scale<T, S>(ctx, power_of_two<T>(first), y);
  scale<T, S>(ctx, power_of_two<T>(exponent - first), y);
}

template <class T, Space S>
std::optional<SystemUnits> units_out_of_range(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                              const LinearOperator<T, S>* M, Span<const T, S> b) {
  const Index n = A.rows();
  if (all_rows(ctx, n) == 0) return std::nullopt;
  Array<T, S> v(ctx, n), w(ctx, n);
  copy<T>(ctx, b, w.span());
  const std::optional<int> of_rhs = mean_exponent<T, S>(ctx, w.span());
  if (!of_rhs) return std::nullopt;
  const auto usual = [](int exponent) { return std::abs(exponent) <= usual_exponents<T>; };
  for (const int shift : {0, -half_range<T>, half_range<T>}) {
    fill_random<T, S>(ctx, RandomKind::signed_length, 1, 0, v.span());
    scale_by_power<T, S>(ctx, shift, v.cspan(), v.span());
    A.apply(ctx, T(1), v.cspan(), T(0), w.span());
    const std::optional<int> of_image = mean_exponent<T, S>(ctx, w.span());
    if (!of_image) continue;
    const SystemUnits units{*of_image - shift, *of_rhs};
    const bool in_range = usual(units.matrix) && usual(units.rhs) && usual(units.matrix + units.rhs);
    if (in_range && (M == nullptr || !loses_digits<T, S>(ctx, *M, units.rhs))) return std::nullopt;
    return units;
  }
  if (usual(*of_rhs)) return std::nullopt;
  return SystemUnits{0, *of_rhs};  // A maps all to zero, or is not finite
}

template <class T, Space S>
void ScaledOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  const int first = exponent_ / 2;
  axpby<T, S>(ctx, power_of_two<T>(first), x, T(0), x_.span());
  inner_.apply(ctx, alpha * power_of_two<T>(exponent_ - first), x_.cspan(), beta, y);
}

// b - 2^e A x = 2^rest (2^-rest b - A 2^first x), e = first + rest. What is relative stays as it is. Neither x nor b
// is made smaller if possible: small entries might underflow.
template <class T, Space S>
std::optional<ResidualSums> ScaledOperator<T, S>::residual(const Context<S>& ctx, Span<const T, S> b,
                                                           Span<const T, S> x, const ResidualScale& scale,
                                                           Span<T, S> r) const {
  const double largest = std::ldexp(fetch(ctx, scale.x_max), std::abs(exponent_));
  const bool harmless =
      std::abs(exponent_) <= harmless_exponents<T> && largest <= std::ldexp(1.0, harmless_exponents<T>);
  const int first = harmless ? std::max(exponent_, 0) : exponent_ / 2, rest = exponent_ - first;
  axpby<T, S>(ctx, power_of_two<T>(first), x, T(0), x_.span());
  max_abs<T>(ctx, x_.cspan(), x_max_.data());
  axpby<T, S>(ctx, power_of_two<T>(-rest), b, T(0), r);
  auto sums =
      inner_.residual(ctx, Span<const T, S>(r), x_.cspan(), {std::ldexp(scale.unit, -rest), x_max_.data()}, r);
  newel::scale<T, S>(ctx, power_of_two<T>(rest), r);
  if (sums) sums->x_max = std::ldexp(sums->x_max, -first);
  return sums;
}

#define X(T, S)                                                                                          \
  template void scale_by_power<T, S>(const Context<S>&, int, Span<const T, S>, Span<T, S>);              \
  template std::optional<SystemUnits> units_out_of_range(const Context<S>&, const LinearOperator<T, S>&, \
                                                         const LinearOperator<T, S>*, Span<const T, S>); \
  template class ScaledOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

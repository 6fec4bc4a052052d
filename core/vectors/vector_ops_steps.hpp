// SPDX-License-Identifier: Apache-2.0
/// The arithmetic of the vector primitives, element by element, for both spaces. Internal.
#pragma once

#include <cmath>

#include <newel/core/csr.hpp>
#include "core/vectors/random.hpp"
#include "core/vectors/vector_step.hpp"

namespace newel::detail {

template <class T>
struct FillStep : PlainStep {
  T value;
  T* x;
  FillStep(T value_, T* x_) : value(value_), x(x_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    x[i] = value;
  }
};

/// x_k = random value first + k
template <class T, RandomKind kind>
struct RandomStep : PlainStep {
  std::uint64_t seed;
  std::int64_t first;
  T* x;
  RandomStep(std::uint64_t seed_, std::int64_t first_, T* x_) : seed(seed_), first(first_), x(x_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t k, NoCoefficients, Sums&) const {
    const auto i = static_cast<std::uint64_t>(first + k);
    x[k] = static_cast<T>(kind == RandomKind::sign ? random_sign(seed, i) : random_signed_length(seed, i));
  }
};

/// y = alpha x + beta y
template <class T>
struct AxpbyStep : PlainStep {
  T alpha, beta;
  const T* x;
  T* y;
  AxpbyStep(T alpha_, const T* x_, T beta_, T* y_) : alpha(alpha_), beta(beta_), x(x_), y(y_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    y[i] = beta == T(0) ? alpha * x[i] : alpha * x[i] + beta * y[i];
  }
};

/// x = alpha x
template <class T>
struct ScaleStep : PlainStep {
  T alpha;
  T* x;
  ScaleStep(T alpha_, T* x_) : alpha(alpha_), x(x_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    x[i] = alpha * x[i];
  }
};

/// y = alpha d x + beta y
template <class T>
struct MultiplyStep : PlainStep {
  T alpha, beta;
  const T *d, *x;
  T* y;
  MultiplyStep(T alpha_, const T* d_, const T* x_, T beta_, T* y_)
      : alpha(alpha_), beta(beta_), d(d_), x(x_), y(y_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    const T product = alpha * (d[i] * x[i]);
    y[i] = beta == T(0) ? product : product + beta * y[i];
  }
};

/// y = d x, x.y
template <class T>
struct MultiplyDotStep : PlainStep {
  static constexpr int sums = 1;
  const T *d, *x;
  T* y;
  double* xy;
  MultiplyDotStep(const T* d_, const T* x_, T* y_, double* xy_) : d(d_), x(x_), y(y_), xy(xy_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums& total) const {
    const T xi = x[i];
    const T yi = d[i] * xi;
    y[i] = yi;
    total.add(0, double(xi) * double(yi));
  }
  NEWEL_HD void end(const double* totals) const { *xy = totals[0]; }
};

/// x.y, or its root
template <class T, bool root>
struct DotStep : PlainStep {
  static constexpr int sums = 1;
  const T *x, *y;
  double* result;
  DotStep(const T* x_, const T* y_, double* result_) : x(x_), y(y_), result(result_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums& total) const {
    total.add(0, double(x[i]) * double(y[i]));
  }
  NEWEL_HD void end(const double* totals) const { *result = root ? sqrt(totals[0]) : totals[0]; }
};

template <class T>
struct SumStep : PlainStep {
  static constexpr int sums = 1;
  const T* x;
  double* result;
  SumStep(const T* x_, double* result_) : x(x_), result(result_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums& total) const {
    total.add(0, double(x[i]));
  }
  NEWEL_HD void end(const double* totals) const { *result = totals[0]; }
};

template <class T>
struct SubtractMeanStep : PlainStep {
  const double* total;
  std::int64_t n;
  T* x;
  SubtractMeanStep(const double* total_, std::int64_t n_, T* x_) : total(total_), n(n_), x(x_) {}
  NEWEL_HD T begin() const { return T(*total / double(n)); }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, T mean, Sums&) const {
    x[i] -= mean;
  }
};

/// y_i = x[from_i]; `none` gives 0. Position is the type of the numbers in `from`.
template <class T, class Position>
struct GatherStep : PlainStep {
  const T* x;
  const Position* from;
  T* y;
  GatherStep(const T* x_, const Position* from_, T* y_) : x(x_), from(from_), y(y_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    const Position position = from[i];
    y[i] = position == static_cast<Position>(-1) ? T(0) : x[position];
  }
};

/// The same for a map of runs: element i fills `run` places, `lanes` apart, a power of two: a division for each
/// element would take longer than its loads.
template <class T, class Position, int run>
struct GatherRunsStep : PlainStep {
  const T* x;
  const Position* from;
  T* y;
  int lane_bits = 0;
  GatherRunsStep(const T* x_, const Position* from_, T* y_, Index lanes) : x(x_), from(from_), y(y_) {
    while ((Index{1} << lane_bits) < lanes) ++lane_bits;
  }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    const Position position = from[i];
    const std::int64_t group = i >> lane_bits, lane = i - (group << lane_bits);
    T* const to = y + ((group * run) << lane_bits) + lane;
    const bool padding = position == static_cast<Position>(-1);
    for (int e = 0; e < run; ++e) to[std::int64_t{e} << lane_bits] = padding ? T(0) : x[position + e];
  }
};

/// *result = how many numbers of runs do not follow the first of theirs behind `through`.
template <class Through>
struct BrokenRunsStep : PlainStep {
  static constexpr int sums = 1;
  const Offset* position;
  const Through* through;
  int run;
  double* result;
  BrokenRunsStep(const Offset* position_, const Through* through_, int run_, double* result_)
      : position(position_), through(through_), run(run_), result(result_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums& broken) const {
    const Offset at = position[i];
    int count = 0;
    for (int e = 1; e < run && at >= 0; ++e) count += through[at + e] != through[at] + static_cast<Through>(e);
    broken.add(0, count);
  }
  NEWEL_HD void end(const double* totals) const { *result = totals[0]; }
};

template <class From, class To>
struct ConvertStep : PlainStep {
  const From* x;
  To* y;
  ConvertStep(const From* x_, To* y_) : x(x_), y(y_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    y[i] = static_cast<To>(x[i]);
  }
};

/// y_k = sum of x[source_e] over e in [first_k, first_{k+1})
template <class T>
struct GatherSumStep : PlainStep {
  const T* x;
  const Offset *first, *source;
  T* y;
  GatherSumStep(const T* x_, const Offset* first_, const Offset* source_, T* y_)
      : x(x_), first(first_), source(source_), y(y_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t k, NoCoefficients, Sums&) const {
    T total = x[source[first[k]]];
    for (Offset e = first[k] + 1; e < first[k + 1]; ++e) total += x[source[e]];
    y[k] = total;
  }
};

/// target_k = through[position_k], or position_k itself where `through` is null; -1 stays "none".
template <class Through, class Target>
struct ComposeMapStep : PlainStep {
  const Offset* position;
  const Through* through;
  Target* target;
  ComposeMapStep(const Offset* position_, const Through* through_, Target* target_)
      : position(position_), through(through_), target(target_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t k, NoCoefficients, Sums&) const {
    const Offset at = position[k];
    target[k] = at < 0 ? static_cast<Target>(-1) : static_cast<Target>(through != nullptr ? through[at] : at);
  }
};

#define NEWEL_GATHER_RUNS_STEPS_OF(SWEEP, T, run)             \
  SWEEP(newel::detail::GatherRunsStep<T, std::uint32_t, run>) \
  SWEEP(newel::detail::GatherRunsStep<T, Offset, run>)
#define NEWEL_RANDOM_STEPS_OF(SWEEP, T)                                \
  SWEEP(newel::detail::RandomStep<T, newel::detail::RandomKind::sign>) \
  SWEEP(newel::detail::RandomStep<T, newel::detail::RandomKind::signed_length>)
#define NEWEL_VECTOR_OPS_STEPS_OF(SWEEP, T)          \
  SWEEP(newel::detail::FillStep<T>)                  \
  NEWEL_RANDOM_STEPS_OF(SWEEP, T)                    \
  SWEEP(newel::detail::AxpbyStep<T>)                 \
  SWEEP(newel::detail::ScaleStep<T>)                 \
  SWEEP(newel::detail::MultiplyStep<T>)              \
  SWEEP(newel::detail::MultiplyDotStep<T>)           \
  SWEEP(newel::detail::DotStep<T, false>)            \
  SWEEP(newel::detail::DotStep<T, true>)             \
  SWEEP(newel::detail::SumStep<T>)                   \
  SWEEP(newel::detail::SubtractMeanStep<T>)          \
  SWEEP(newel::detail::GatherStep<T, Index>)         \
  SWEEP(newel::detail::GatherStep<T, std::uint32_t>) \
  SWEEP(newel::detail::GatherStep<T, Offset>)        \
  NEWEL_GATHER_RUNS_STEPS_OF(SWEEP, T, 2)            \
  NEWEL_GATHER_RUNS_STEPS_OF(SWEEP, T, 3)            \
  NEWEL_GATHER_RUNS_STEPS_OF(SWEEP, T, 6)            \
  SWEEP(newel::detail::GatherSumStep<T>)             \
  SWEEP(newel::detail::ConvertStep<T, double>)       \
  SWEEP(newel::detail::ConvertStep<T, float>)
/// Every step of this file, for one space.
#define NEWEL_VECTOR_OPS_STEPS(SWEEP)                                \
  NEWEL_VECTOR_OPS_STEPS_OF(SWEEP, double)                           \
  NEWEL_VECTOR_OPS_STEPS_OF(SWEEP, float)                            \
  SWEEP(newel::detail::ConvertStep<std::int32_t, Offset>)            \
  SWEEP(newel::detail::ConvertStep<Offset, std::int32_t>)            \
  SWEEP(newel::detail::ComposeMapStep<std::uint32_t, std::uint32_t>) \
  SWEEP(newel::detail::ComposeMapStep<Offset, Offset>)               \
  SWEEP(newel::detail::BrokenRunsStep<std::uint32_t>)                \
  SWEEP(newel::detail::BrokenRunsStep<Offset>)

}  // namespace newel::detail

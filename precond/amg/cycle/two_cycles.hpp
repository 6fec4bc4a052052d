// SPDX-License-Identifier: Apache-2.0
/// Whether a level of multigrid is better solved by two cycles, and how they are added. Internal.
#pragma once

#include "core/vectors/random.hpp"
#include "precond/amg/cycle/cycle_trial.hpp"
#include "precond/amg/cycle/hierarchy.hpp"

namespace newel::detail {

struct TwoCycles {
  /// The roots of the Chebyshev polynomial of degree 2 on [1/4, 1], which is the error of two cycles: x is M b over
  /// the first of them, and then takes M (b - A x) over the second.
  static constexpr double half_sqrt2 = 0.70710678118654752;
  static constexpr double first_root = 0.625 + 0.375 * half_sqrt2, second_root = 0.625 - 0.375 * half_sqrt2;
};

/// Levels that are tried: of no fewer rows, and rows to a block, below a first level of no fewer rows.
struct TriedLevels {
  Index rows = 0;
  int row_block = 1;
  Index first_rows = 0;

  template <Space S>
  bool have(const std::vector<AmgLevel<S>>& levels, std::size_t l) const {
    const BlockCsr<S>& a = levels[l].a;
    return a.scalar_rows() >= rows && a.row_block >= row_block && levels.front().a.scalar_rows() >= first_rows;
  }
};

/// On a device a pass over a small level takes as long as the grid needs to synchronise. So a second cycle costs what
/// it saves there, unless the first level takes far longer (H200: 0.91 to 1.20 of a solve on elastic bodies of 38,000
/// to 73,000 rows, 0.73 to 0.96 on nine larger ones, 1.03 and 1.13 on two); and a trial a tenth of a setup, which no
/// mesh of diffusion has paid back.
template <Space S>
inline constexpr TriedLevels tried_levels = S == Space::host ? TriedLevels{} : TriedLevels{4000, 2, 80000};

/// Iterations of CG on a level with the cycle from there on. They begin at an error M b for a random b, most of which
/// converges slowly.
template <class T, Space S>
class LevelTrial {
 public:
  using Product = typename CycleTrial<T, S>::Product;
  using Cycle = typename CycleTrial<T, S>::Cycle;

  /// `rows`: of the level. Keeps a reference to `ctx`.
  LevelTrial(const Context<S>& ctx, std::int64_t rows, Product a, Cycle m)
      : ctx_(ctx), a_(std::move(a)), m_(std::move(m)), error_(ctx, rows) {
    constexpr std::uint64_t start_seed = 23;
    Array<T, S> b(ctx, rows);
    fill_random<T, S>(ctx, RandomKind::sign, start_seed, 0, b.span());
    m_(b.cspan(), error_.span());
    once_ = left();
  }

  /// Three iterations reduce the energy norm of slow errors to 0.0002 to 0.017 on coarse levels where a second cycle
  /// saves no iteration (diffusion, sound elastic bodies), and to 0.04 to 0.4 on those of thin bodies and of flat
  /// elements, where it saves a quarter to half of them.
  bool is_slow() const {
    constexpr double least_left = 0.03;
    return once_ > least_left;
  }
  /// Whether the same error falls faster now, with another M.
  bool is_faster_now() const { return left() < once_; }

 private:
  double left() const {
    constexpr int iterations = 3;
    CycleTrial<T, S> trial(ctx_, a_, m_, make_array(ctx_, error_.cspan()));
    for (int i = 0; i < iterations; ++i) trial.iterate();
    return trial.left();
  }

  const Context<S>& ctx_;
  Product a_;
  Cycle m_;
  Array<T, S> error_;
  double once_ = 0;
};

}  // namespace newel::detail

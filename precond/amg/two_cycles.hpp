// SPDX-License-Identifier: Apache-2.0
/// Whether a level of multigrid is better solved by two cycles, and how they are added. Internal.
#pragma once

#include <purlin/core/random.hpp>
#include <purlin/precond/amg/block_csr.hpp>
#include <purlin/precond/amg/cycle_trial.hpp>

namespace purlin::detail {

struct TwoCycles {
  /// The roots of the Chebyshev polynomial of degree 2 on [1/4, 1], which is the error of two cycles: x is M b over
  /// the first of them, and then takes M (b - A x) over the second.
  static constexpr double half_sqrt2 = 0.70710678118654752;
  static constexpr double first_root = 0.625 + 0.375 * half_sqrt2, second_root = 0.625 - 0.375 * half_sqrt2;
};

/// Levels that may be slow: of no fewer rows, and rows to a block.
struct TriedLevels {
  Index rows = 0;
  int row_block = 1;

  template <Space S>
  bool have(const BlockCsr<S>& a) const {
    return a.scalar_rows() >= rows && a.row_block >= row_block;
  }
};

/// On a device a pass over a small level takes as long as the grid needs to synchronise, so that a second cycle costs
/// what it saves (H200, elastic bodies of 16,000 to 41,000 rows: 0.91 to 1.12 of a solve), and a trial a tenth of a
/// setup, which no mesh of diffusion has paid back.
template <Space S>
inline constexpr TriedLevels tried_levels = S == Space::host ? TriedLevels{} : TriedLevels{4000, 2};

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

}  // namespace purlin::detail

// SPDX-License-Identifier: Apache-2.0
/// EnergyGains: what CG has gained of the square of the error in the norm of A. Internal.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "solver/krylov/steps/cg_spectrum.hpp"

namespace newel::detail {

/// (x - x_k).A (x - x_k), which every step of CG reduces by alpha r.M r, whatever the residual does (Strakos and
/// Tichy, "On error estimation in the conjugate gradient method and why it works in finite precision computations",
/// Electron. Trans. Numer. Anal. 13, 2002): preconditioners can be compared by it while the residual rises.
class EnergyGains {
 public:
  /// After `iteration`, what was gained in all.
  void add(int iteration, double gained) { marks_[added_++ % kept] = {iteration, gained}; }

  /// In an iteration, over the last `few_steps`, or more where no mark was as near; 0: there were fewer.
  double lately() const {
    const Mark& last = behind(1);
    for (std::size_t k = 2; k <= std::min(added_, kept); ++k) {
      const int steps = last.iteration - behind(k).iteration;
      if (steps >= few_steps) return (last.gained - behind(k).gained) / steps;
    }
    return 0;
  }

 private:
  struct Mark {
    int iteration;
    double gained;
  };
  static constexpr std::size_t kept = few_steps + 1;  // as many as are needed where every iteration has one
  const Mark& behind(std::size_t k) const { return marks_[(added_ + kept - k) % kept]; }

  std::array<Mark, kept> marks_{};  // the latest in a circle
  std::size_t added_ = 0;
};

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
/// EnergyGains: what CG has gained of the square of the error in the norm of A. Internal.
#pragma once

#include <vector>

#include <purlin/solver/cg_spectrum.hpp>

namespace purlin::detail {

/// (x - x_k).A (x - x_k), which every step of CG reduces by alpha r.M r, whatever the residual does (Strakos and
/// Tichy, "On error estimation in the conjugate gradient method and why it works in finite precision computations",
/// Electron. Trans. Numer. Anal. 13, 2002): preconditioners can be compared by it while the residual rises.
class EnergyGains {
 public:
  /// After `iteration`, what was gained in all.
  void add(int iteration, double gained) {
    marks_.push_back({iteration, gained});
    if (marks_.size() > few_steps + 1) marks_.erase(marks_.begin());
  }

  /// In an iteration, over the last `few_steps`, or more where no mark was as near; 0: there were fewer.
  double lately() const {
    for (std::size_t k = marks_.size(); k-- > 0;) {
      const int steps = marks_.back().iteration - marks_[k].iteration;
      if (steps >= few_steps) return (marks_.back().gained - marks_[k].gained) / steps;
    }
    return 0;
  }

 private:
  struct Mark {
    int iteration;
    double gained;
  };
  std::vector<Mark> marks_;  ///< as many as are needed where every iteration has one
};

}  // namespace purlin::detail

// SPDX-License-Identifier: Apache-2.0
/// CycleLevels: the operators of a cycle's levels with its vectors, in one space and precision. Internal.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "precond/amg/cycle/coarse_cycle.hpp"
#include "precond/amg/cycle/smoothed_level.hpp"
#include "precond/amg/cycle/transfer.hpp"

namespace newel::detail {

/// The figure `local_operations`; 0 where there is none.
double local_operations_of(const OperatorInfo& info);

template <class T, Space S>
struct CycleLevel : SmoothedLevel<T, S, MatrixOperator<double, S>> {
  OperatorPtr<T, S> a;         ///< null: `coarse` or `inverse` ends the cycle here
  AmgTransfer<T, S> transfer;  ///< to the next level; none from the last
  int cycles = 1;              ///< in which the level is, in one of the whole
};

/// See AmgCycle, which makes and refreshes them. With what level_cycle.hpp asks of levels.
template <class T, Space S>
struct CycleLevels {
  std::vector<CycleLevel<T, S>> all;
  /// The last levels in one, from number `coarse_first` on; null: each for itself.
  std::unique_ptr<CoarseCycle<T, S>> coarse;
  std::size_t coarse_first = 0;
  /// Of the last level's matrix; null where the smoother ends the cycle, or in `coarse`.
  OperatorPtr<T, S> inverse;
  ConvertedValues<T, S> converted;   ///< on their way from the hierarchy
  mutable Array<T, S> own_b, own_x;  ///< b and x of a cycle that converts

  const CycleLevel<T, S>& operator[](std::size_t l) const { return all[l]; }
  bool in_coarse(std::size_t l) const { return coarse != nullptr && l >= coarse_first; }
  bool solved_twice(std::size_t l) const {
    return in_coarse(l) ? coarse->solved_twice(l - coarse_first) : all[l].again != nullptr;
  }
  bool coarsens(std::size_t l) const { return all[l].transfer.exists(); }
  bool end(const Context<S>& ctx, std::size_t l, Span<const T, S> b, Span<T, S> x) const {
    if (in_coarse(l)) {
      coarse->apply(ctx, b.data, x.data);
    } else if (all[l].a == nullptr) {
      inverse->apply(ctx, T(1), b, T(0), x);
    } else {
      return false;
    }
    return true;
  }
  template <class Next>
  void correct_below(const Context<S>& ctx, std::size_t l, const Next& next) const {
    const CycleLevel<T, S>& coarser = all[l + 1];
    all[l].transfer.restrict_to(ctx, all[l].r.data(), coarser.b.data());
    next();
    all[l].transfer.prolong(ctx, coarser.x.data(), all[l].d.data());
  }

  /// Entries, bytes by part, bytes of a cycle, and what its smoothers compute.
  OperatorInfo info() const;
  /// The smoothers in use: "chebyshev", "fsai and chebyshev".
  std::string smoother_text(const AmgHierarchy<S>& hierarchy) const;
  /// Which levels are solved by two cycles: ", two cycles on levels 2 and 3", the first being 1; else empty.
  std::string cycles_text() const;
  bool capturable() const;
};

}  // namespace newel::detail

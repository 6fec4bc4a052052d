// SPDX-License-Identifier: Apache-2.0
/// The numeric factorisation on a pattern that is fixed. Internal.
#pragma once

#include <cstdint>
#include <vector>

#include "precond/incomplete/factor_pattern.hpp"
#include "precond/incomplete/factor_view.hpp"
#include "precond/incomplete/level_phases.hpp"

namespace newel::detail {

/// What a factorisation needs besides the factors, made once.
template <Space S>
class FactorWork;

/// On the host: the phases of the levels.
template <>
class FactorWork<Space::host> {
 public:
  FactorWork(const Context<Space::host>& ctx, const FactorPattern& pattern);
  const std::vector<LevelPhase>& phases() const { return phases_; }
  std::size_t bytes() const { return phases_.size() * sizeof(LevelPhase); }

 private:
  std::vector<LevelPhase> phases_;
};

/// On a device: which rows have been factorised, by the number of the factorisation.
template <>
class FactorWork<Space::device> {
 public:
  FactorWork(const Context<Space::device>& ctx, const FactorPattern& pattern);
  std::size_t bytes() const { return done_.bytes() + tickets_.bytes() + verdict_.bytes(); }

  mutable Array<std::uint64_t, Space::device> done_;  ///< of each row: the last factorisation that finished it
  mutable Array<unsigned, Space::device> tickets_;
  mutable Array<FactorVerdict, Space::device> verdict_;
  mutable std::uint64_t number_ = 0;  ///< of the last factorisation
  Offset mirrored_ = 0;               ///< symmetric: entries of U
};

/// L, U and the inverse of D from A's values: (L D U)_ij = a_ij on the pattern. In the order of rows and, within a
/// row, of columns, so results depend neither on threads nor on the schedule. Pivots that are too small are bounded
/// if the matrix is not symmetric, and counted otherwise: see factor_view.hpp. Waits on the stream.
template <class T>
FactorVerdict factorise(const Context<Space::host>& ctx, const FactorView<T>& f, const FactorWork<Space::host>& work);
template <class T>
FactorVerdict factorise(const Context<Space::device>& ctx, const FactorView<T>& f,
                        const FactorWork<Space::device>& work);

}  // namespace newel::detail

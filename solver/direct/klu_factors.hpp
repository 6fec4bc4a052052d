// SPDX-License-Identifier: Apache-2.0
/// KluFactors: the factors of a matrix by KLU. Internal.
#pragma once

#include "solver/direct/factors.hpp"
#include "solver/direct/libraries/klu_library.hpp"

namespace newel::detail {

/// P A Q = L U with row pivoting that prefers the diagonal. KLU orders the columns itself, so they stay as they are
/// here. A second factorisation keeps the pivots of the first.
class KluFactors final : public Factors {
 public:
  /// The library outlives this. Throws std::bad_alloc, as `factorise` does.
  KluFactors(const Klu& library, const ColumnPattern& whole);
  ~KluFactors() override;
  KluFactors(const KluFactors&) = delete;
  KluFactors& operator=(const KluFactors&) = delete;

  const std::vector<Index>& order() const override { return as_they_are_; }
  FactorCost cost() const override;
  void analyse(const ColumnPattern& pattern) override;
  bool factorise(const std::vector<double>& values) override;
  bool choose_pivots_anew() override;
  void solve(std::vector<double>& v) override;
  void solve_transposed(std::vector<double>& v) override;

 private:
  bool factorise_anew();
  void drop_numeric();

  const Klu& klu_;
  KluCommon common_{};
  KluSymbolic* symbolic_ = nullptr;  // null: the pattern is singular
  KluNumeric* numeric_ = nullptr;
  std::vector<Index> as_they_are_;  // empty
  const ColumnPattern* pattern_ = nullptr;
  const std::vector<double>* values_ = nullptr;
  bool pivots_are_older_ = false;
};

}  // namespace newel::detail

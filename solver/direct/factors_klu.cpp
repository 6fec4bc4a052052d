// SPDX-License-Identifier: Apache-2.0
// L U by KLU: blocks of a block triangular form, each ordered by minimum degree and factorised column by column
// (Davis and Palamadai Natarajan, Algorithm 907, ACM Trans. Math. Softw. 37 (2010)).
#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "solver/cost/profiles/factor_constants.hpp"
#include "solver/direct/factor_rows.hpp"
#include "solver/direct/klu_factors.hpp"

namespace newel::detail {
namespace {

constexpr int out_of_memory = -2;

void require_memory(const KluCommon& common) {
  if (common.status == out_of_memory) throw std::bad_alloc();
}

// KLU takes pointers to what it only reads.
int* plain(const std::vector<Index>& numbers) { return const_cast<int*>(numbers.data()); }
double* plain(const std::vector<double>& values) { return const_cast<double*>(values.data()); }

}  // namespace

KluFactors::KluFactors(const Klu& library, const ColumnPattern& whole) : klu_(library) {
  klu_.klu_defaults(&common_);
  common_.scale = KluCommon::none;  // the values come scaled
  symbolic_ = klu_.klu_analyze(whole.size, plain(whole.begin), plain(whole.row), &common_);
  require_memory(common_);
}

KluFactors::~KluFactors() {
  drop_numeric();
  if (symbolic_ != nullptr) klu_.klu_free_symbolic(&symbolic_, &common_);
}

void KluFactors::drop_numeric() {
  if (numeric_ != nullptr) klu_.klu_free_numeric(&numeric_, &common_);
}

// Of a structurally singular matrix there is no analysis, which takes no time.
FactorCost KluFactors::cost() const {
  if (symbolic_ == nullptr) return {};
  constexpr double none = std::numeric_limits<double>::infinity();
  const double entries = symbolic_->lnz + symbolic_->unz;
  if (!(entries >= 0) || !(symbolic_->est_flops >= 0)) return {none, none};
  return {factor_constants.klu_bytes_per_entry * entries,
          symbolic_->est_flops / factor_constants.klu_operations_per_second +
              factor_constants.klu_seconds_per_entry * entries};
}

void KluFactors::analyse(const ColumnPattern& pattern) { pattern_ = &pattern; }

// With the pivots of the factors that there are, unless these become too small for that.
bool KluFactors::factorise(const std::vector<double>& values) {
  if (symbolic_ == nullptr) return false;
  values_ = &values;
  if (numeric_ != nullptr && klu_.klu_refactor(plain(pattern_->begin), plain(pattern_->row), plain(values), symbolic_,
                                               numeric_, &common_) != 0) {
    pivots_are_older_ = true;
    return true;
  }
  return factorise_anew();
}

bool KluFactors::factorise_anew() {
  drop_numeric();
  pivots_are_older_ = false;
  numeric_ = klu_.klu_factor(plain(pattern_->begin), plain(pattern_->row), plain(*values_), symbolic_, &common_);
  require_memory(common_);
  return numeric_ != nullptr;
}

bool KluFactors::choose_pivots_anew() { return pivots_are_older_ && factorise_anew(); }

void KluFactors::solve(std::vector<double>& v) {
  const int n = pattern_->size;
  klu_.klu_solve(symbolic_, numeric_, n, static_cast<int>(v.size()) / n, v.data(), &common_);
}

void KluFactors::solve_transposed(std::vector<double>& v) {
  const auto n = static_cast<int>(v.size());
  klu_.klu_tsolve(symbolic_, numeric_, n, 1, v.data(), &common_);
}

HostFactorisation klu_lu() {
  HostFactorisation row;
  row.about = {"L U by KLU", Space::host, "LGPL-2.1-or-later", "libsuitesparse-dev", ""};
  row.missing = &klu_missing;
  row.fewest_entries = 2000;  // 0.3 ms to load it, in which Eigen has factors of 1,300 entries and their analysis
  row.make = [](const FactorTask& task) -> std::unique_ptr<Factors> {
    return std::make_unique<KluFactors>(*klu(), task.whole);
  };
  return row;
}

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// L L^T by CHOLMOD's supernodes (Chen, Davis, Hager and Rajamanickam, Algorithm 887, ACM Trans. Math. Softw. 35
// (2008)). Its simplicial factorisation is not called: it was no faster than Eigen's on six matrices.
#include <algorithm>
#include <new>

#include "solver/cost/profiles/factor_constants.hpp"
#include "solver/direct/libraries/cholmod_library.hpp"
#include "solver/direct/factor_rows.hpp"
#include "solver/direct/symmetric_orders.hpp"

namespace newel::detail {
namespace {

class CholmodFactors final : public Factors {
 public:
  CholmodFactors(const Cholmod& library, const FactorTask& task) : cholmod_(library) {
    const auto seconds_of = [](const Fill& fill) {
      return fill.squares / factor_constants.cholmod_squares_per_second +
             factor_constants.cholmod_seconds_per_entry * fill.entries;
    };
    const SymmetricOrder& best = task.orders.best(seconds_of);
    order_ = best.new_number;
    cost_ = {factor_constants.cholmod_bytes_per_entry * best.fill.entries, seconds_of(best.fill)};
    cholmod_.cholmod_start(&common_);
    common_.messages.print = 0;
    common_.supernodal = CholmodCommon::supernodes;
    common_.quick_return_if_not_posdef = 1;
    common_.nmethods = 1;
    common_.method[0].ordering = CholmodCommon::as_they_are;
  }
  ~CholmodFactors() override {
    if (factor_ != nullptr) cholmod_.cholmod_free_factor(&factor_, &common_);
    cholmod_.cholmod_finish(&common_);
  }
  CholmodFactors(const CholmodFactors&) = delete;
  CholmodFactors& operator=(const CholmodFactors&) = delete;

  const std::vector<Index>& order() const override { return order_; }
  FactorCost cost() const override { return cost_; }

  void analyse(const ColumnPattern& upper) override {
    pattern_ = upper;
    values_.assign(pattern_.row.size(), 1.0);
    CholmodSparse matrix = view();
    factor_ = cholmod_.cholmod_analyze(&matrix, &common_);
    if (factor_ == nullptr) throw std::bad_alloc();
  }
  bool factorise(const std::vector<double>& values) override {
    values_ = values;
    CholmodSparse matrix = view();
    if (cholmod_.cholmod_factorize(&matrix, factor_, &common_) == 0) throw std::bad_alloc();
    return factor_->minor == factor_->n;
  }
  void solve(std::vector<double>& v) override {
    const auto n = static_cast<std::size_t>(pattern_.size);
    CholmodDense b{n, v.size() / n, v.size(), n, v.data(), nullptr, Cholmod::real, 0};
    CholmodDense* x = cholmod_.cholmod_solve(Cholmod::system_of_a, factor_, &b, &common_);
    if (x == nullptr) throw std::bad_alloc();
    const auto* const values = static_cast<const double*>(x->x);
    std::copy(values, values + v.size(), v.begin());
    cholmod_.cholmod_free_dense(&x, &common_);
  }
  void solve_transposed(std::vector<double>& v) override { solve(v); }

 private:
  CholmodSparse view() {
    const auto n = static_cast<std::size_t>(pattern_.size);
    return {n,
            n,
            values_.size(),
            pattern_.begin.data(),
            pattern_.row.data(),
            nullptr,
            values_.data(),
            nullptr,
            CholmodSparse::upper,
            0,
            Cholmod::real,
            0,
            1,
            1};
  }

  const Cholmod& cholmod_;
  CholmodCommon common_{};
  CholmodFactor* factor_ = nullptr;
  std::vector<Index> order_;
  FactorCost cost_;
  ColumnPattern pattern_;
  std::vector<double> values_;
};

}  // namespace

HostFactorisation cholmod_llt() {
  HostFactorisation row;
  row.about = {"L L^T by CHOLMOD", Space::host, "GPL-2.0-or-later", "libsuitesparse-dev", ""};
  row.symmetric = true;
  row.missing = &cholmod_missing;
  row.make = [](const FactorTask& task) -> std::unique_ptr<Factors> {
    return std::make_unique<CholmodFactors>(*cholmod(), task);
  };
  return row;
}

}  // namespace newel::detail

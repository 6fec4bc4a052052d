// SPDX-License-Identifier: Apache-2.0
/// GrowthWatch: how far a residual may grow before that is divergence. Internal.
#pragma once

#include <functional>
#include <utility>

#include <newel/solver/failure.hpp>

namespace newel::detail {

class GrowthWatch {
 public:
  explicit GrowthWatch(double growth) : growth_(growth) {}

  /// A residual above `first` times max(|b|, |b - A x0|) ends the solve as divergence if `fault` names an operator
  /// that the method cannot work with. If it names none (it is called once), the limit becomes `most` times that.
  void watch(double first, double most, std::function<Asymmetric()> fault) {
    growth_ = first;
    most_growth_ = most;
    ask_ = std::move(fault);
  }
  /// max(|b|, |b - A x0|)
  void begin(double reference) { reference_ = reference; }

  /// A residual above this is divergence.
  double limit() const { return growth_ * reference_; }
  /// True where growth beyond the first limit is no divergence: the limit is then the last one.
  bool is_harmless() {
    if (!ask_) return false;
    fault_ = std::exchange(ask_, nullptr)();
    known_symmetric_ = fault_ == Asymmetric::none;
    if (known_symmetric_) growth_ = most_growth_;
    return known_symmetric_;
  }
  Asymmetric fault() const { return fault_; }
  bool known_symmetric() const { return known_symmetric_; }

 private:
  double growth_;           // of the reference
  double most_growth_ = 0;  // where there is no fault
  double reference_ = 0;
  std::function<Asymmetric()> ask_;  // empty where it has been asked or there is none to ask
  bool known_symmetric_ = false;     // it has been asked, and named none
  Asymmetric fault_ = Asymmetric::none;
};

}  // namespace newel::detail

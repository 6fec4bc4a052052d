// SPDX-License-Identifier: Apache-2.0
/// SystemForecasts: the Forecasts of a system that "auto" may move. Internal.
#pragma once

#include "core/memory/work_limit.hpp"
#include "solver/policy/forecasts.hpp"
#include "solver/operators/operators.hpp"

namespace newel::detail {

/// By the cost model, worked out when first asked for.
template <class T, Space S>
class SystemForecasts final : public Forecasts {
 public:
  explicit SystemForecasts(Operators<T, S>& of) : s_(of) {}

  bool weighed() const override { return !s_.chosen.to_weigh; }
  const FormatChoice* format_choice() override;
  const PrecondOutlooks* stronger_preconditioners(double done) override;
  double worth_a_look() override;
  bool values_unseen() const override;
  std::optional<FollowedPrecond> followed_preconditioner() const override;
  double expected_iterations() override;
  ExpectedIterations present_iterations() const override;
  double of_usual_iterations() override;
  double sure_iterations(bool before) override;
  double estimate_scale() const override { return s_.options.estimate_scale.iterations; }
  double seconds_left() const override { return work_limit(s_.ctx).seconds_left(); }

  /// Estimates the setups of stronger preconditioners by the values of A, once it is known which there are.
  void inspect_values();

 private:
  Operators<T, S>& s_;
};

}  // namespace newel::detail

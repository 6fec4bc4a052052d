// SPDX-License-Identifier: Apache-2.0
/// SystemAlternatives: the Alternatives of operators that were built from a matrix. Internal.
#pragma once

#include "solver/operators/alternatives.hpp"
#include "solver/operators/system_forecasts.hpp"

namespace newel::detail {

template <class T, Space S>
class SystemAlternatives final : public Alternatives {
 public:
  explicit SystemAlternatives(Operators<T, S>& of) : s_(of), forecasts_(of) {}

  SystemForecasts<T, S>& forecasts() override { return forecasts_; }
  void weigh() override;
  void inspect_values() override { forecasts_.inspect_values(); }
  std::string expected_format() override;
  bool take_format(const std::string& format) override;
  bool take_stronger(const std::string& name, bool begins) override;
  void restore() override;
  void settle() override { s_.weaker.reset(); }
  bool leave_stronger(int iterations) override;
  void decide() override;
  bool take_next(std::vector<Untried>& untried) override;
  bool raise_precision() override;

 private:
  OperatorPtr<T, S> made(const PrecondOptions& named, bool symmetry_needed) const;
  void call_weaker_present(const char* why);

  Operators<T, S>& s_;
  SystemForecasts<T, S> forecasts_;
};

}  // namespace newel::detail

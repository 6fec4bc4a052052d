// SPDX-License-Identifier: Apache-2.0
/// IterationForecast: how many iterations a solve still takes, by what its residuals and coefficients have shown.
/// Internal.
#pragma once

#include <vector>

#include <newel/core/array.hpp>
#include "solver/krylov/monitor/residual_rate.hpp"
#include "solver/krylov/steps/energy_gains.hpp"
#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::detail {

template <Space S>
class IterationForecast {
 public:
  /// `expected`: iterations of the solve before; 0: none.
  explicit IterationForecast(int expected) : expected_(expected) {}

  /// Where CG notes the coefficients of its first iterations, by which the iterations to go are estimated too.
  void watch_spectrum(Span<const CgCoefficients, S> coefficients) { coefficients_ = coefficients; }
  /// The first residual that tells how fast they fall is the one after so many iterations: those before are in
  /// another norm.
  void begin_rate_at(int iteration) { rate_from_ = iteration; }

  /// The residuals up to this state, and what CG has gained.
  void note(const std::vector<double>& history, const MonitorState& seen);
  /// M is another from here on.
  void begin_again(const MonitorState& seen);

  /// Iterations to go, for so many unknowns; 0: not known. `of_usual`: see CgSpectrum::left.
  double left(const Context<S>& ctx, const MonitorState& seen, double rows, double of_usual);
  /// The same by the residuals alone.
  double left_by_rate(double tolerance) const { return rate_.left(tolerance); }
  /// Iterations that are to come in all likelihood; see ResidualRate::sure.
  double sure(double tolerance, double of_solve) const {
    return spectrum_.taken() > 0 ? rate_.sure(tolerance, of_solve) : 0;
  }
  double gained_lately() const { return gains_.lately(); }

  /// Iterations up to that of the solve before.
  int to_expected(int iteration) const { return expected_ > iteration ? expected_ - iteration : 0; }
  int expected() const { return expected_; }
  /// Iterations before the present M.
  int present_from() const { return present_from_; }

 private:
  int expected_;
  ResidualRate rate_;
  int rate_from_ = 0;  // the iteration that it begins with: the last with another M
  int present_from_ = 0;
  CgSpectrum spectrum_;
  EnergyGains gains_;  // with the present M
  Span<const CgCoefficients, S> coefficients_;
};

}  // namespace newel::detail

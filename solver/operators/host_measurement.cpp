// SPDX-License-Identifier: Apache-2.0
// Measuring a host for a system that would decide by the constants of another one.
#include "solver/operators/host_measurement.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/memory/host_profile.hpp"
#include "core/vectors/instantiate.hpp"
#include "solver/cost/host_speed.hpp"
#include "solver/cost/profiles/host_speed_constants.hpp"
#include "solver/krylov/monitor/operator_exchange.hpp"
#include "solver/operators/system_estimates.hpp"

namespace newel::detail {
namespace {

constexpr double worthwhile_seconds = HostMeasurement::seconds * HostMeasurement::times;

template <class T, Space S>
bool is_unknown(const Operators<T, S>& s) {
  return S == Space::host && s.machine.host_profile == nullptr;
}

// Of an iteration with the preconditioner that there is; 0: not known.
template <class T, Space S>
double step_seconds(Operators<T, S>& s, const std::string& format) {
  const IterationModel model = SystemEstimates<T, S>(s).model();
  const std::optional<CostEstimate> product = model.product(format);
  return product ? model.iteration(s.options.precond.name, *product).seconds : 0;
}

template <class T, Space S>
bool compares(Operators<T, S>& s) {
  if (s.A == nullptr || !s.source || !s.chosen.facts || s.chosen.to_weigh) return false;
  return s.chosen.provisional || SystemEstimates<T, S>(s).format_choice() != nullptr;
}

// As `weigh` leaves them, of a system in CSR.
template <class T, Space S>
void compare_formats_again(Operators<T, S>& s) {
  SystemEstimates<T, S> estimates(s);
  if (estimates.format_choice() == nullptr) return;
  FormatChoice& format = s.chosen.format;
  const std::string present = format.format;
  format = estimates.compare_formats(*s.A->as_csr());
  s.chosen.expected_format.clear();
  if (format.format == present) return;
  s.chosen.expected_format = std::exchange(format.format, present);
  format.reason = "at first; " + s.chosen.expected_format + " " + format.reason;
}

// The seconds of iterations; those of setups are estimated when they are next asked for.
template <class T, Space S>
void estimate_again(Operators<T, S>& s, std::optional<PrecondOutlooks>& outlooks) {
  if (!outlooks) return;
  const IterationModel model = SystemEstimates<T, S>(s).model();
  const auto now = model.product(s.options.spmv.format);
  const auto then = s.chosen.expected_format.empty() ? now : model.product(s.chosen.expected_format);
  if (!now || !then) return;
  const auto estimate = [&](PrecondOutlook& outlook) {
    outlook.take_seconds(model.iteration(outlook.name, *now).seconds, model.iteration(outlook.name, *then).seconds);
    outlook.by_values = false;
  };
  estimate(outlooks->present);
  for (PrecondOutlook& outlook : outlooks->stronger) estimate(outlook);
  s.chosen.builds = BuildEstimates::none;
}

template <class T, Space S>
void take_measured_profile(Operators<T, S>& s) {
  set_profile(s.machine, measured_profile(host_context(s.ctx), s.options.spmv.plan_cache,
                                          s.options.estimate_scale.device_unknown));
}

}  // namespace

template <class T, Space S>
int measurement_due(Operators<T, S>& s, const History& history) {
  const double step = is_unknown(s) && compares(s) ? step_seconds(s, s.options.spmv.format) : 0;
  if (!(step > 0)) return no_exchange;
  const double before = std::max({0.0, history.format.iterations, history.preconditioner.iterations});
  return static_cast<int>(std::clamp<double>(std::ceil(worthwhile_seconds / step - before), 0, no_exchange));
}

template <class T, Space S>
bool is_worth_measuring(Operators<T, S>& s, const Move& move) {
  if (!is_unknown(s) || !compares(s)) return false;
  if (move.kind == Move::Kind::format) {
    const std::vector<FormatTrial>& trials = s.chosen.format.trials;
    return std::any_of(trials.begin(), trials.end(), [&](const FormatTrial& trial) {
      return trial.format == move.to && trial.setup_seconds >= worthwhile_seconds;
    });
  }
  if (move.kind != Move::Kind::stronger_preconditioner || !s.chosen.outlooks) return false;
  const std::vector<PrecondOutlook>& stronger = s.chosen.outlooks->stronger;
  return std::any_of(stronger.begin(), stronger.end(), [&](const PrecondOutlook& outlook) {
    return outlook.name == move.to && outlook.build_seconds >= worthwhile_seconds;
  });
}

template <class T, Space S>
double measure_host(Operators<T, S>& s) {
  if (!is_unknown(s)) return 1;
  const double before = step_seconds(s, s.options.spmv.format);
  take_measured_profile(s);
  compare_formats_again(s);
  estimate_again(s, s.chosen.outlooks);
  estimate_again(s, s.chosen.weaker_outlooks);
  return before > 0 ? step_seconds(s, s.options.spmv.format) / before : 1;
}

template <class T, Space S>
void measure_host_for_expected(Operators<T, S>& s, const CsrView<T, S>& a) {
  if (!is_unknown(s)) return;
  SystemEstimates<T, S> estimates(s);
  if (!(s.chosen.expected_iterations > 0)) estimates.expect_iterations(a);
  const double given = s.options.expected_products / s.first_method().products;
  const double iterations = given > 0 ? given : s.chosen.expected_iterations;
  if (iterations * step_seconds(s, "csr") >= worthwhile_seconds) take_measured_profile(s);
}

#define X(T, S)                                                    \
  template int measurement_due(Operators<T, S>&, const History&);  \
  template bool is_worth_measuring(Operators<T, S>&, const Move&); \
  template double measure_host(Operators<T, S>&);                  \
  template void measure_host_for_expected(Operators<T, S>&, const CsrView<T, S>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

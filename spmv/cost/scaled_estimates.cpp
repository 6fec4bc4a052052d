// SPDX-License-Identifier: Apache-2.0
// The factors of a thread.
#include "spmv/cost/scaled_estimates.hpp"

namespace newel::detail {
namespace {

thread_local double present_factor = 1, present_single_seconds = 1;

}  // namespace

ScaledEstimates::ScaledEstimates(double factor, double single_seconds)
    : before_(present_factor), single_before_(present_single_seconds) {
  present_factor = factor;
  present_single_seconds = single_seconds;
}
ScaledEstimates::~ScaledEstimates() {
  present_factor = before_;
  present_single_seconds = single_before_;
}
double ScaledEstimates::factor() { return present_factor; }
double ScaledEstimates::single_seconds() { return present_single_seconds; }

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// The factor of a thread.
#include <purlin/spmv/scaled_estimates.hpp>

namespace purlin::detail {
namespace {

thread_local double present_factor = 1;

}  // namespace

ScaledEstimates::ScaledEstimates(double factor) : before_(present_factor) { present_factor = factor; }
ScaledEstimates::~ScaledEstimates() { present_factor = before_; }
double ScaledEstimates::factor() { return present_factor; }

}  // namespace purlin::detail

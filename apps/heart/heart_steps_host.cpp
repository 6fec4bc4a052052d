// SPDX-License-Identifier: Apache-2.0
// The heart's loops on the host.
#include <purlin/core/vector_step_host.hpp>

#include "apps/heart/heart_steps.hpp"

PURLIN_FOR_HEART_STEPS(PURLIN_SWEEP_HOST)
PURLIN_FOR_HEART_HOST_STEPS(PURLIN_SWEEP_HOST)

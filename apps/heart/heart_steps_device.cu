// SPDX-License-Identifier: Apache-2.0
// The heart's loops on the device.
#include <purlin/core/vector_step_device.cuh>

#include "apps/heart/heart_steps.hpp"

PURLIN_FOR_HEART_STEPS(PURLIN_SWEEP_DEVICE)
PURLIN_FOR_HEART_DEVICE_STEPS(PURLIN_SWEEP_DEVICE)

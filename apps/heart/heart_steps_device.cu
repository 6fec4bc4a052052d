// SPDX-License-Identifier: Apache-2.0
// The heart's loops on the device.
#include "core/vectors/vector_step_device.cuh"

#include "apps/heart/heart_steps.hpp"

NEWEL_FOR_HEART_STEPS(NEWEL_SWEEP_DEVICE)
NEWEL_FOR_HEART_DEVICE_STEPS(NEWEL_SWEEP_DEVICE)

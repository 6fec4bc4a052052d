// SPDX-License-Identifier: Apache-2.0
// The vector primitives' steps on the device.
#include <purlin/core/vector_ops_steps.hpp>
#include <purlin/core/vector_step_device.cuh>

PURLIN_VECTOR_OPS_STEPS(PURLIN_SWEEP_DEVICE)

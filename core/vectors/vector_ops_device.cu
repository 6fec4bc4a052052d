// SPDX-License-Identifier: Apache-2.0
// The vector primitives' steps on the device.
#include "core/vectors/vector_ops_steps.hpp"
#include "core/vectors/vector_step_device.cuh"

NEWEL_VECTOR_OPS_STEPS(NEWEL_SWEEP_DEVICE)

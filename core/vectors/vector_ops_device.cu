// SPDX-License-Identifier: Apache-2.0
// The vector primitives' steps on the device.
#include "core/vectors/rank_step_device.cuh"
#include "core/vectors/vector_ops_steps.hpp"

NEWEL_VECTOR_OPS_STEPS(NEWEL_SWEEP_RANKS_DEVICE)

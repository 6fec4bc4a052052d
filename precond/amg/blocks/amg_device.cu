// SPDX-License-Identifier: Apache-2.0
// The vector passes of a multigrid cycle on the device.
#include "core/vectors/vector_step_device.cuh"
#include "precond/amg/blocks/amg_steps.hpp"

NEWEL_AMG_STEPS(NEWEL_SWEEP_DEVICE)

// SPDX-License-Identifier: Apache-2.0
// The vector passes of a multigrid cycle on the device.
#include <purlin/core/vector_step_device.cuh>
#include <purlin/precond/amg/amg_steps.hpp>

PURLIN_AMG_STEPS(PURLIN_SWEEP_DEVICE)

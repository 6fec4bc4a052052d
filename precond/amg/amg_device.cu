// SPDX-License-Identifier: Apache-2.0
// The vector passes of a multigrid cycle on the device.
#include <newel/core/vector_step_device.cuh>
#include <newel/precond/amg/amg_steps.hpp>

NEWEL_AMG_STEPS(NEWEL_SWEEP_DEVICE)

// SPDX-License-Identifier: Apache-2.0
// The solvers' vector steps on the device.
#include <purlin/core/vector_step_device.cuh>
#include <purlin/solver/steps.hpp>

PURLIN_SOLVER_STEPS(PURLIN_SWEEP_DEVICE)

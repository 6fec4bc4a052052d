// SPDX-License-Identifier: Apache-2.0
// The solvers' vector steps on the device.
#include <newel/core/vector_step_device.cuh>
#include <newel/solver/steps.hpp>

NEWEL_SOLVER_STEPS(NEWEL_SWEEP_DEVICE)

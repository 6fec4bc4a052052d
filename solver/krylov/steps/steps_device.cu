// SPDX-License-Identifier: Apache-2.0
// The solvers' vector steps on the device.
#include "core/vectors/rank_step_device.cuh"
#include "solver/krylov/steps/steps.hpp"

NEWEL_SOLVER_STEPS(NEWEL_SWEEP_RANKS_DEVICE)

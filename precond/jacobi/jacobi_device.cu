// SPDX-License-Identifier: Apache-2.0
// Jacobi's setup steps on the device.
#include "core/vectors/rank_step_device.cuh"
#include "precond/jacobi/jacobi_steps.hpp"

NEWEL_JACOBI_STEPS(NEWEL_SWEEP_RANKS_DEVICE)

// SPDX-License-Identifier: Apache-2.0
// l1-Jacobi's setup step on the device.
#include "core/vectors/rank_step_device.cuh"
#include "precond/l1_jacobi/l1_jacobi_steps.hpp"

NEWEL_L1_JACOBI_STEPS(NEWEL_SWEEP_RANKS_DEVICE)

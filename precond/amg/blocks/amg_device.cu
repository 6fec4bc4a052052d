// SPDX-License-Identifier: Apache-2.0
// The vector passes of a multigrid cycle on the device; ranks add the sums of those that have some.
#include "core/vectors/rank_step_device.cuh"
#include "precond/amg/blocks/amg_steps.hpp"

NEWEL_AMG_STEPS(NEWEL_SWEEP_RANKS_DEVICE)

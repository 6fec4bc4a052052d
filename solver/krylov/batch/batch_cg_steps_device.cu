// SPDX-License-Identifier: Apache-2.0
// The steps of CG for a batch of columns on the device.
#include "core/vectors/column_step_device.cuh"
#include "solver/krylov/batch/batch_cg_steps.hpp"

NEWEL_BATCH_CG_STEPS(NEWEL_SWEEP_DEVICE, NEWEL_SWEEP_COLUMNS_DEVICE, double)
NEWEL_BATCH_CG_STEPS(NEWEL_SWEEP_DEVICE, NEWEL_SWEEP_COLUMNS_DEVICE, float)

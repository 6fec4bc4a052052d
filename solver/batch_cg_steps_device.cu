// SPDX-License-Identifier: Apache-2.0
// The steps of CG for a batch of columns on the device.
#include <purlin/core/column_step_device.cuh>
#include <purlin/solver/batch_cg_steps.hpp>

PURLIN_BATCH_CG_STEPS(PURLIN_SWEEP_DEVICE, PURLIN_SWEEP_COLUMNS_DEVICE, double)
PURLIN_BATCH_CG_STEPS(PURLIN_SWEEP_DEVICE, PURLIN_SWEEP_COLUMNS_DEVICE, float)

// SPDX-License-Identifier: Apache-2.0
// The steps of CG for a batch of columns on the host.
#include <purlin/core/column_step_host.hpp>
#include <purlin/solver/batch_cg_steps.hpp>

PURLIN_BATCH_CG_STEPS(PURLIN_SWEEP_HOST, PURLIN_SWEEP_COLUMNS_HOST, double)
PURLIN_BATCH_CG_STEPS(PURLIN_SWEEP_HOST, PURLIN_SWEEP_COLUMNS_HOST, float)

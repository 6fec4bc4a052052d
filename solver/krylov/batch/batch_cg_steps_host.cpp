// SPDX-License-Identifier: Apache-2.0
// The steps of CG for a batch of columns on the host.
#include "core/vectors/column_step_host.hpp"
#include "solver/krylov/batch/batch_cg_steps.hpp"

NEWEL_BATCH_CG_STEPS(NEWEL_SWEEP_HOST, NEWEL_SWEEP_COLUMNS_HOST, double)
NEWEL_BATCH_CG_STEPS(NEWEL_SWEEP_HOST, NEWEL_SWEEP_COLUMNS_HOST, float)

// SPDX-License-Identifier: Apache-2.0
// The steps of column_ops.hpp on the host.
#include "core/vectors/column_ops_steps.hpp"
#include "core/vectors/column_step_host.hpp"

NEWEL_COLUMN_OPS_STEPS(NEWEL_SWEEP_COLUMNS_HOST, double)
NEWEL_COLUMN_OPS_STEPS(NEWEL_SWEEP_COLUMNS_HOST, float)
NEWEL_SWEEP_HOST(newel::detail::StridedCopyStep<double>)
NEWEL_SWEEP_HOST(newel::detail::StridedCopyStep<float>)

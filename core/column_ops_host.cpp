// SPDX-License-Identifier: Apache-2.0
// The steps of column_ops.hpp on the host.
#include <purlin/core/column_ops_steps.hpp>
#include <purlin/core/column_step_host.hpp>

PURLIN_COLUMN_OPS_STEPS(PURLIN_SWEEP_COLUMNS_HOST, double)
PURLIN_COLUMN_OPS_STEPS(PURLIN_SWEEP_COLUMNS_HOST, float)
PURLIN_SWEEP_HOST(purlin::detail::StridedCopyStep<double>)
PURLIN_SWEEP_HOST(purlin::detail::StridedCopyStep<float>)

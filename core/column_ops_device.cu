// SPDX-License-Identifier: Apache-2.0
// The steps of column_ops.hpp on the device.
#include <purlin/core/column_ops_steps.hpp>
#include <purlin/core/column_step_device.cuh>

PURLIN_COLUMN_OPS_STEPS(PURLIN_SWEEP_COLUMNS_DEVICE, double)
PURLIN_COLUMN_OPS_STEPS(PURLIN_SWEEP_COLUMNS_DEVICE, float)
PURLIN_SWEEP_DEVICE(purlin::detail::StridedCopyStep<double>)
PURLIN_SWEEP_DEVICE(purlin::detail::StridedCopyStep<float>)

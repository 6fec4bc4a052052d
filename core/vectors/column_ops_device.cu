// SPDX-License-Identifier: Apache-2.0
// The steps of column_ops.hpp on the device.
#include "core/vectors/column_ops_steps.hpp"
#include "core/vectors/column_step_device.cuh"

NEWEL_COLUMN_OPS_STEPS(NEWEL_SWEEP_COLUMNS_DEVICE, double)
NEWEL_COLUMN_OPS_STEPS(NEWEL_SWEEP_COLUMNS_DEVICE, float)
NEWEL_SWEEP_DEVICE(newel::detail::StridedCopyStep<double>)
NEWEL_SWEEP_DEVICE(newel::detail::StridedCopyStep<float>)

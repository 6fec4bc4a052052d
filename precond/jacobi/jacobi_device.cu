// SPDX-License-Identifier: Apache-2.0
// Jacobi's setup steps on the device.
#include <newel/core/vector_step_device.cuh>
#include <newel/precond/jacobi/jacobi_steps.hpp>

NEWEL_JACOBI_STEPS(NEWEL_SWEEP_DEVICE)

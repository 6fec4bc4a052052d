// SPDX-License-Identifier: Apache-2.0
// Jacobi's setup steps on the host.
#include <purlin/core/vector_step_host.hpp>
#include <purlin/precond/jacobi/jacobi_steps.hpp>

PURLIN_JACOBI_STEPS(PURLIN_SWEEP_HOST)

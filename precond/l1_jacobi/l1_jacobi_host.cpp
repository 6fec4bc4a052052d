// SPDX-License-Identifier: Apache-2.0
// l1-Jacobi's setup step on the host.
#include "core/vectors/vector_step_host.hpp"
#include "precond/l1_jacobi/l1_jacobi_steps.hpp"

NEWEL_L1_JACOBI_STEPS(NEWEL_SWEEP_HOST)

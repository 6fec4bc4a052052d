// SPDX-License-Identifier: Apache-2.0
// The vector primitives' steps on the host.
#include <newel/core/vector_ops_steps.hpp>
#include <newel/core/vector_step_host.hpp>

NEWEL_VECTOR_OPS_STEPS(NEWEL_SWEEP_HOST)

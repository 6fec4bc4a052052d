// SPDX-License-Identifier: Apache-2.0
// The vector primitives' steps on the host.
#include <purlin/core/vector_ops_steps.hpp>
#include <purlin/core/vector_step_host.hpp>

PURLIN_VECTOR_OPS_STEPS(PURLIN_SWEEP_HOST)

// SPDX-License-Identifier: Apache-2.0
// The vector primitives' steps on the host.
#include "core/vectors/vector_ops_steps.hpp"
#include "core/vectors/vector_step_host.hpp"

NEWEL_VECTOR_OPS_STEPS(NEWEL_SWEEP_HOST)

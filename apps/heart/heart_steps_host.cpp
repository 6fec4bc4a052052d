// SPDX-License-Identifier: Apache-2.0
// The heart's loops on the host.
#include "core/vectors/vector_step_host.hpp"

#include "apps/heart/heart_steps.hpp"

NEWEL_FOR_HEART_STEPS(NEWEL_SWEEP_HOST)
NEWEL_FOR_HEART_HOST_STEPS(NEWEL_SWEEP_HOST)

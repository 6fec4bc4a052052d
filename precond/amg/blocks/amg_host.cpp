// SPDX-License-Identifier: Apache-2.0
// The vector passes of a multigrid cycle on the host.
#include "core/vectors/vector_step_host.hpp"
#include "precond/amg/blocks/amg_steps.hpp"

NEWEL_AMG_STEPS(NEWEL_SWEEP_HOST)

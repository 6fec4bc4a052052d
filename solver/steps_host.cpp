// SPDX-License-Identifier: Apache-2.0
// The solvers' vector steps on the host.
#include <purlin/core/vector_step_host.hpp>
#include <purlin/solver/steps.hpp>

PURLIN_SOLVER_STEPS(PURLIN_SWEEP_HOST)

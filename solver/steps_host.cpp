// SPDX-License-Identifier: Apache-2.0
// The solvers' vector steps on the host.
#include <newel/core/vector_step_host.hpp>
#include <newel/solver/steps.hpp>

NEWEL_SOLVER_STEPS(NEWEL_SWEEP_HOST)

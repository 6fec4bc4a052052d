// SPDX-License-Identifier: Apache-2.0
// The solvers' vector steps on the host.
#include "core/vectors/vector_step_host.hpp"
#include "solver/krylov/steps/steps.hpp"

NEWEL_SOLVER_STEPS(NEWEL_SWEEP_HOST)

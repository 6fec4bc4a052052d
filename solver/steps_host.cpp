// SPDX-License-Identifier: Apache-2.0
// The solvers' vector steps on the host.
#include <purlin/core/vector_step_host.hpp>
#include <purlin/solver/bicgstab_steps.hpp>
#include <purlin/solver/cg_steps.hpp>
#include <purlin/solver/gmres_steps.hpp>
#include <purlin/solver/journal_steps.hpp>

#define PURLIN_SOLVER_STEPS(SWEEP, T)        \
  SWEEP(purlin::detail::AbsSumStep<T>)       \
  SWEEP(purlin::detail::CgDirection<T>)      \
  SWEEP(purlin::detail::CgUpdate<T>)         \
  SWEEP(purlin::detail::BicgstabDirection<T>) \
  SWEEP(purlin::detail::BicgstabHalfStep<T>) \
  SWEEP(purlin::detail::BicgstabDots<T>)     \
  SWEEP(purlin::detail::BicgstabUpdate<T>)   \
  SWEEP(purlin::detail::GmresScale<T>)
PURLIN_SOLVER_STEPS(PURLIN_SWEEP_HOST, double)
PURLIN_SOLVER_STEPS(PURLIN_SWEEP_HOST, float)
PURLIN_SWEEP_HOST(purlin::detail::GmresRotate)
PURLIN_SWEEP_HOST(purlin::detail::GmresBackSolve)

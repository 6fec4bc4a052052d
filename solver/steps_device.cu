// SPDX-License-Identifier: Apache-2.0
// The solvers' vector steps on the device.
#include <purlin/core/vector_step_device.cuh>
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
PURLIN_SOLVER_STEPS(PURLIN_SWEEP_DEVICE, double)
PURLIN_SOLVER_STEPS(PURLIN_SWEEP_DEVICE, float)
PURLIN_SWEEP_DEVICE(purlin::detail::GmresRotate)
PURLIN_SWEEP_DEVICE(purlin::detail::GmresBackSolve)

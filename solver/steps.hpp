// SPDX-License-Identifier: Apache-2.0
/// The list of the solvers' vector steps, for the two sources that instantiate them. Internal.
#pragma once

#include <purlin/solver/bicgstab_steps.hpp>
#include <purlin/solver/cg_steps.hpp>
#include <purlin/solver/gmres_steps.hpp>
#include <purlin/solver/convergence_steps.hpp>
#include <purlin/solver/mixed_steps.hpp>

#define PURLIN_SOLVER_STEPS_OF(SWEEP, T)       \
  SWEEP(purlin::detail::AbsSumStep<T>)         \
  SWEEP(purlin::detail::ScaledSquares<T>)      \
  SWEEP(purlin::detail::CgStart<T>)            \
  SWEEP(purlin::detail::CgDirection<T, false>) \
  SWEEP(purlin::detail::CgDirection<T, true>)  \
  SWEEP(purlin::detail::CgUpdate<T, false>)    \
  SWEEP(purlin::detail::CgUpdate<T, true>)     \
  SWEEP(purlin::detail::CgLastStep<T>)         \
  SWEEP(purlin::detail::BicgstabDirection<T>)  \
  SWEEP(purlin::detail::BicgstabHalfStep<T>)   \
  SWEEP(purlin::detail::BicgstabDots<T>)       \
  SWEEP(purlin::detail::BicgstabUpdate<T>)     \
  SWEEP(purlin::detail::GmresScale<T, T>)

/// Every step of the solvers, for one space.
#define PURLIN_SOLVER_STEPS(SWEEP)                 \
  PURLIN_SOLVER_STEPS_OF(SWEEP, double)            \
  PURLIN_SOLVER_STEPS_OF(SWEEP, float)             \
  SWEEP(purlin::detail::GmresScale<double, float>) \
  SWEEP(purlin::detail::GmresRotate)               \
  SWEEP(purlin::detail::GmresBackSolve)            \
  SWEEP(purlin::detail::RoundStep)                 \
  SWEEP(purlin::detail::RoundByNorm)               \
  SWEEP(purlin::detail::AddCorrection)             \
  SWEEP(purlin::detail::AddWidened)                \
  SWEEP(purlin::detail::MixedReplace)

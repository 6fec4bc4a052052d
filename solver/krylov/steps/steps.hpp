// SPDX-License-Identifier: Apache-2.0
/// The list of the solvers' vector steps, for the two sources that instantiate them. Internal.
#pragma once

#include "solver/krylov/steps/bicgstab_steps.hpp"
#include "solver/krylov/steps/cg_steps.hpp"
#include "solver/krylov/steps/gmres_steps.hpp"
#include "solver/krylov/steps/idrs_steps.hpp"
#include "solver/krylov/steps/convergence_steps.hpp"
#include "solver/krylov/steps/minres_steps.hpp"
#include "solver/krylov/steps/mixed_steps.hpp"

#define NEWEL_SOLVER_STEPS_OF(SWEEP, T)                                           \
  SWEEP(newel::detail::AbsSumStep<T>)                                             \
  SWEEP(newel::detail::ScaledSquares<T>)                                          \
  SWEEP(newel::detail::CgStart<T>)                                                \
  SWEEP(newel::detail::CgDirection<T, false>)                                     \
  SWEEP(newel::detail::CgDirection<T, true>)                                      \
  SWEEP(newel::detail::CgUpdate<T, false>)                                        \
  SWEEP(newel::detail::CgUpdate<T, true>)                                         \
  SWEEP(newel::detail::CgLastStep<T>)                                             \
  SWEEP(newel::detail::BicgstabDirection<T>)                                      \
  SWEEP(newel::detail::BicgstabHalfStep<T>)                                       \
  SWEEP(newel::detail::BicgstabDots<T>)                                           \
  SWEEP(newel::detail::BicgstabUpdate<T>)                                         \
  SWEEP(newel::detail::GmresScale<T, T>)                                          \
  SWEEP(newel::detail::MinresStart<T>)                                            \
  SWEEP(newel::detail::MinresLanczos<T, false>)                                   \
  SWEEP(newel::detail::MinresLanczos<T, true>)                                    \
  SWEEP(newel::detail::MinresUpdate<T, false>)                                    \
  SWEEP(newel::detail::MinresUpdate<T, true>)                                     \
  SWEEP(newel::detail::IdrsDirection<T, newel::detail::IdrsPrecond::none, 4>)     \
  SWEEP(newel::detail::IdrsDirection<T, newel::detail::IdrsPrecond::none, 8>)     \
  SWEEP(newel::detail::IdrsDirection<T, newel::detail::IdrsPrecond::diagonal, 4>) \
  SWEEP(newel::detail::IdrsDirection<T, newel::detail::IdrsPrecond::diagonal, 8>) \
  SWEEP(newel::detail::IdrsDirection<T, newel::detail::IdrsPrecond::other, 4>)    \
  SWEEP(newel::detail::IdrsDirection<T, newel::detail::IdrsPrecond::other, 8>)    \
  SWEEP(newel::detail::IdrsCombine<T, 4>)                                         \
  SWEEP(newel::detail::IdrsCombine<T, 8>)                                         \
  SWEEP(newel::detail::IdrsUpdate<T, 4>)                                          \
  SWEEP(newel::detail::IdrsUpdate<T, 8>)                                          \
  SWEEP(newel::detail::IdrsStabilise<T>)

/// Every step of the solvers, for one space.
#define NEWEL_SOLVER_STEPS(SWEEP)                 \
  NEWEL_SOLVER_STEPS_OF(SWEEP, double)            \
  NEWEL_SOLVER_STEPS_OF(SWEEP, float)             \
  SWEEP(newel::detail::GmresScale<double, float>) \
  SWEEP(newel::detail::GmresRotate)               \
  SWEEP(newel::detail::GmresBackSolve)            \
  SWEEP(newel::detail::IdrsShadow)                \
  SWEEP(newel::detail::IdrsColumn)                \
  SWEEP(newel::detail::RoundStep)                 \
  SWEEP(newel::detail::RoundByNorm)               \
  SWEEP(newel::detail::AddCorrection)             \
  SWEEP(newel::detail::AddWidened)                \
  SWEEP(newel::detail::MixedReplace)

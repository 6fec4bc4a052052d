// SPDX-License-Identifier: Apache-2.0
/// The smallest eigenpairs of systems that are set up. Internal.
#pragma once

#include <newel/solver/eigenpairs.hpp>
#include <newel/solver/failure.hpp>

#include "system.hpp"

namespace newel::c {

/// What newel_eigenpairs is asked, of A; see newel.h.
struct EigenQuestion {
  const System* mass = nullptr;            ///< M; null: the identity
  const System* preconditioned = nullptr;  ///< whose preconditioner is used
  EigenOptions options;
  int left_out = 0;
  const double* null_space = nullptr;  ///< `left_out` vectors
  double* vectors = nullptr;           ///< where the eigenvectors are written
  EigenProgress progress;
};

/// Throws InputError for systems that do not fit together, and what `smallest_eigenpairs` throws.
EigenReport eigenpairs(const System& a, const EigenQuestion& question);
/// The same for systems on a device. Defined only with CUDA on.
EigenReport eigenpairs_on_device(const System& a, const EigenQuestion& question);

/// Throws InputError if the operators of `side` cannot be used together with those of a system of `rows` rows.
template <Space S>
void require_fit(const EigenSide<S>& side, Index rows, const char* what) {
  if (side.system == nullptr) {
    throw InputError(std::string(what) +
                     ": expected real values in double precision, all systems on the host or on one device");
  }
  if (side.system->rows() != rows) {
    throw InputError(std::string(what) + ": expected " + std::to_string(rows) + " rows, as A has, found " +
                     std::to_string(side.system->rows()));
  }
  if (!side.system->ordered().order().natural()) {
    throw InputError(std::string(what) + ": expected the option format csr, because others change the order of rows");
  }
}

/// Throws InputError unless the products with two vectors are those of a symmetric matrix.
template <Space S>
void require_symmetric(const EigenSide<S>& side, const char* what) {
  if (symmetry_fault<double, S>(*side.ctx, side.system->ordered().matrix(), nullptr) == Asymmetric::none) return;
  throw InputError(std::string(what) + ": expected a symmetric matrix");
}

/// The problem, without vectors that are left out. `m` may have no system.
template <Space S>
EigenProblem<S> problem_of(const EigenSide<S>& a, const EigenSide<S>& m, const EigenSide<S>& preconditioned) {
  EigenProblem<S> problem;
  problem.a = &a.system->ordered().matrix();
  problem.preconditioner = preconditioned.system->ordered().preconditioner();
  if (m.system == nullptr) return problem;
  problem.m = &m.system->ordered().matrix();
  const LinearOperator<double, S>* const jacobi = m.system->ordered().preconditioner();
  if (jacobi != nullptr) problem.inverse_mass_diagonal = jacobi->traits().diagonal;
  if (problem.inverse_mass_diagonal.size != a.system->rows()) {
    throw InputError("mass: expected a system with the preconditioner jacobi");
  }
  return problem;
}

}  // namespace newel::c

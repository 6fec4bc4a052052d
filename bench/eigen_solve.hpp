// SPDX-License-Identifier: Apache-2.0
/// Eigen's conjugate gradients and BiCGSTAB as contenders of `newel bench solve`.
#pragma once

#include "solve_contender.hpp"

namespace newel::bench {

/// ConjugateGradient<SparseMatrix<T, RowMajor>, Lower | Upper> for "cg" and BiCGSTAB<SparseMatrix<T, RowMajor>> for
/// "bicgstab", with the IdentityPreconditioner for "none" and the DiagonalPreconditioner for "jacobi". Copies the
/// canonical square matrix; works with Eigen's global number of threads, set to the context's by each solve. Throws
/// InputError where 32 bits cannot number the entries, and for other names.
template <class T>
std::unique_ptr<BuiltSolve<T, Space::host>> make_eigen_solve(const Context<Space::host>& ctx,
                                                             const CsrView<T, Space::host>& a,
                                                             const std::string& solver, const std::string& precond);

}  // namespace newel::bench

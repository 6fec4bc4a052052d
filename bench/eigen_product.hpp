// SPDX-License-Identifier: Apache-2.0
/// Eigen's product, with row-major matrices and 32-bit indices, as an operator that is timed and checked like a
/// format, and its solvers as contenders of `newel bench solve`.
#pragma once

#include <newel/spmv/operator.hpp>

#include "solve_contender.hpp"

namespace newel::bench {

/// Copies the canonical matrix `a`. Its products use Eigen's global number of threads, set to the context's here.
/// Throws InputError where 32 bits cannot number the entries.
template <class T>
OperatorPtr<T, Space::host> make_eigen_product(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a);

/// ConjugateGradient<SparseMatrix<T, RowMajor>, Lower | Upper> for "cg" and BiCGSTAB<SparseMatrix<T, RowMajor>> for
/// "bicgstab", with the IdentityPreconditioner for "none" and the DiagonalPreconditioner for "jacobi". Copies the
/// canonical square matrix; works with Eigen's global number of threads, set to the context's by each solve. Throws
/// InputError where 32 bits cannot number the entries, and for other names.
template <class T>
std::unique_ptr<BuiltSolve<T, Space::host>> make_eigen_solve(const Context<Space::host>& ctx,
                                                             const CsrView<T, Space::host>& a,
                                                             const std::string& solver, const std::string& precond);

}  // namespace newel::bench

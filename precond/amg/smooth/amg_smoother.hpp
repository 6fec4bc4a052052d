// SPDX-License-Identifier: Apache-2.0
/// The smoothers of a multigrid cycle: the coefficients of their polynomials, and the sparse ones. Internal.
#pragma once

#include <utility>
#include <vector>

#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/preconditioner.hpp>
#include "precond/amg/blocks/block_csr.hpp"

namespace newel::detail {

/// The steps of a polynomial smoother: d_0 = first s r_0, then d_i = c1 d_{i-1} + c2 s r_i, where s is S / lambda,
/// r_i = r_{i-1} - A d_{i-1}, and x grows by every d.
struct SmootherSteps {
  double first = 0;
  std::vector<std::pair<double, double>> next;  ///< c1, c2
};

/// Chebyshev of the fourth kind (J. Lottes, "Optimal polynomial smoothers for multigrid V-cycles", 2022; M. Phillips
/// and P. Fischer, arXiv 2407.09848 and 2210.03179), or damped by 4/3: Jacobi and SPAI; not damped: ILUT. SPAI, ILUT and FSAI on the pattern
/// of A take half of the degree, rounded up; FSAI `of_groups`, which is a diagonal elsewhere, all of it.
SmootherSteps smoother_steps(AmgSmoother smoother, int degree, bool of_groups);

/// The degree on levels below the first, which have fewer entries, from that of the first. Twice the degree would
/// save one iteration in 25 for elasticity and none for diffusion, and costs more than that on a device.
inline int coarse_degree(int degree) { return (3 * degree + 1) / 2; }

/// Whether S is a sparse matrix or factors, not the diagonal.
inline bool is_sparse(AmgSmoother smoother) {
  return smoother == AmgSmoother::spai || smoother == AmgSmoother::fsai || smoother == AmgSmoother::ilut;
}

/// The diagonal serves where SPAI or FSAI has refused the matrix, and there is none in their place.
inline AmgSmoother used_smoother(AmgSmoother wanted, bool has_matrix) {
  return is_sparse(wanted) && !has_matrix ? AmgSmoother::chebyshev : wanted;
}

/// "chebyshev", "spai": as on the command line.
const char* name_of(AmgSmoother smoother);

/// The smoother of a level: the one that is asked for, or by measures of A. The polynomial of a diagonal deals badly
/// with eigenvalues off the real axis and with rows that a few large couplings of both signs dominate, as flat
/// elements make them, so: SPAI where the antisymmetric part is more than a quarter of what is off the diagonal; FSAI
/// for a symmetric A where at least one node in 1,000,000 is `entangled`, below the `first` level one in four; else
/// Chebyshev's polynomial. On a host FSAI has to show yet that the first level needs it: chebyshev_trial.hpp.
template <Space S>
AmgSmoother choose_smoother(const Context<S>& ctx, const BlockCsr<S>& a, AmgSmoother asked, bool first);

/// |A - A^T| over 2 |A| in Frobenius norms, both without diagonal blocks; 0 for a diagonal matrix. On ranks of all
/// blocks whose rows and columns have one rank.
double antisymmetric_share(const HostContext& ctx, const HostBlockCsr& a);
double antisymmetric_share(const DeviceContext& ctx, const BlockCsr<Space::device>& a);
/// Levels above it are smoothed by SPAI.
inline constexpr double most_antisymmetric = 0.25;

/// The share of nodes whose positive blocks off the diagonal sum to more than 0.8 of the diagonal one, by their
/// traces.
double entangled_share(const HostContext& ctx, const HostBlockCsr& a);
double entangled_share(const DeviceContext& ctx, const BlockCsr<Space::device>& a);
inline constexpr double most_positive = 0.8;
/// What of this share has FSAI smooth the first level: a few flat elements in a million nodes rule the iterations.
/// heart_human500 of diffusion, refined twice, has a share below 1e-5, and takes 153 with Chebyshev's polynomial and
/// 20 with FSAI.
inline constexpr double most_entangled = 1e-6;

template <class T, Space S>
struct SparseSmoother {
  OperatorPtr<T, S> m;     ///< null: the diagonal
  bool of_groups = false;  ///< FSAI on groups of tied nodes, a diagonal (of blocks) elsewhere; see `tied_pattern`
};

/// S as a sparse matrix, by the line of the table of preconditioners that the smoother is named after; null for those
/// that take the diagonal. `level` is the same matrix in the hierarchy's numbering, from which `from_level` leads to
/// that of `a`: where flat elements tie nodes together, FSAI is one of their groups. Throws as that preconditioner
/// does. Waits on the stream. `symmetric`: see PrecondOptions. `product`: see FsaiOptions::symmetric_product.
template <class T, Space S>
SparseSmoother<T, S> make_sparse_smoother(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                          const BlockCsr<S>& level, const RowOrder<S>& from_level,
                                          AmgSmoother smoother, bool symmetric, const SpmvOptions& spmv_options,
                                          bool product = false);

/// The largest eigenvalue of S A by some steps of the power method from a fixed start, which is in the caller's
/// numbering (`old_of_new`, empty: that of A): a little too small where A and S are symmetric and definite, else
/// about its modulus. Takes temporary vectors. Waits on the stream.
template <class T, Space S>
double largest_eigenvalue(const Context<S>& ctx, const LinearOperator<T, S>& a, const LinearOperator<T, S>& s,
                          bool symmetric, Span<const Index, S> old_of_new);

}  // namespace newel::detail

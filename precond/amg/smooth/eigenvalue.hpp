// SPDX-License-Identifier: Apache-2.0
/// What a hierarchy needs of the diagonal and the spectrum of its matrices. Internal.
#pragma once

#include <functional>
#include <vector>

#include "core/vectors/host_device.hpp"
#include "precond/amg/blocks/block_csr.hpp"

namespace newel::detail {

/// The largest eigenvalue of D^-1 A: `lambda` by some steps of Lanczos' method from a fixed start, so a little too
/// small, and never above `bound`, the largest row sum of |D^-1 A|. The same bits for any number of threads.
struct EigenvalueBound {
  double lambda = 0;
  double bound = 0;
};
EigenvalueBound largest_eigenvalue(const HostContext& ctx, const HostBlockCsr& a, int steps);
/// The same for a matrix whose rows are distributed over the ranks of `ctx`: `a` has this rank's rows, and
/// `fill_others(x)` sets the entries of x that other ranks have, which follow its own. The same bits on all ranks,
/// which call it together.
EigenvalueBound largest_eigenvalue(const HostContext& ctx, const HostBlockCsr& a, int steps,
                                   const std::function<void(std::vector<double>& x)>& fill_others);
EigenvalueBound largest_eigenvalue(const DeviceContext& ctx, const BlockCsr<Space::device>& a, int steps);
/// The contexts of ranks know nothing of other devices (`context_for_setup`): sums go by way of the host.
EigenvalueBound largest_eigenvalue(const DeviceContext& ctx, const BlockCsr<Space::device>& a, int steps,
                                   const std::function<void(Array<double, Space::device>& x)>& fill_others);

/// d_i = 1 / (a_ii lambda), 0 where a_ii or lambda is; `d` gets as many places as A has rows.
void scaled_inverse_diagonal(const HostContext& ctx, const HostBlockCsr& a, double lambda, std::vector<double>& d);
void scaled_inverse_diagonal(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double lambda,
                             Array<double, Space::device>& d);

/// The largest eigenvalue of the symmetric tridiagonal matrix with the diagonal `alpha` and beta_0, beta_1, ...
/// beside it, the last of which does not count: by bisection, a matrix minus t having as many negative pivots as
/// eigenvalues below t.
double tridiagonal_largest(const std::vector<double>& alpha, const std::vector<double>& beta);

/// Entry i of the vector that Lanczos' method starts from: 1 or -1.
NEWEL_HD double lanczos_start(std::int64_t i) {
  std::uint64_t z = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
  return (z >> 63) != 0 ? 1.0 : -1.0;
}

/// Of a Krylov space that ends.
inline constexpr double negligible_length = 1e-14;

}  // namespace newel::detail

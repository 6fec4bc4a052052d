// SPDX-License-Identifier: Apache-2.0
/// The measure on the device: CG and BiCGStab as one writes them with cuBLAS and cuSPARSE calls.
#pragma once

#include "solve_contender.hpp"

namespace newel::bench {

/// Where the loop keeps its scalars.
enum class UsualScalars {
  /// cuBLAS hands every dot product to the host, which waits for it: NVIDIA's samples are written so.
  on_host,
  /// cuBLAS leaves them on the device, kernels of one thread divide them, and a captured graph of 16 iterations is
  /// launched again and again; the host polls |r| after each. Iterations behind the end change nothing and are
  /// not counted.
  in_graph,
};

/// "cublas+cusparse", "cublas+cusparse:graph"
std::string name_of(UsualScalars scalars);

/// "cg" or "bicgstab", with "none" or "jacobi", for the canonical square matrix `a`, which is copied. The product is
/// the faster of cuSPARSE's two CSR algorithms, by a few products; the trial does not count as setup. On the
/// context's stream, with cuBLAS handles of its own. Throws InputError for other names and for a diagonal with zeros
/// under "jacobi".
template <class T>
std::unique_ptr<BuiltSolve<T, Space::device>> make_usual_solve(const Context<Space::device>& ctx,
                                                               const CsrView<T, Space::device>& a,
                                                               const std::string& solver, const std::string& precond,
                                                               UsualScalars scalars);

/// See UsualScalars::in_graph. CG, or else BiCGStab. The graph is captured by the first solve for an x and kept.
template <class T>
std::unique_ptr<BuiltSolve<T, Space::device>> make_usual_graph(const Context<Space::device>& ctx,
                                                               const CsrView<T, Space::device>& a, bool cg,
                                                               bool jacobi);

}  // namespace newel::bench

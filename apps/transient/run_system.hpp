// SPDX-License-Identifier: Apache-2.0
/// The linear system of a run, with the same bits on every run where that is promised.
#pragma once

#include <utility>

#include <purlin/solver/linear_system.hpp>

namespace purlin::transient {

/// A LinearSystem for `a`. cuSPARSE's faster algorithm for CSR may sum in another order from run to run: where
/// `deterministic` is asked for and that is what the options come to, the system is made with "csr:alg2".
template <Space S>
LinearSystem<double, S> make_run_system(const Context<S>& ctx, const CsrView<double, S>& a, SystemOptions options,
                                        bool deterministic) {
  LinearSystem<double, S> system(ctx, a, options);
  if (!deterministic || system.info().matrix.name != "csr:alg1") return system;
  options.spmv.format = "csr:alg2";
  return LinearSystem<double, S>(ctx, a, std::move(options));
}

}  // namespace purlin::transient

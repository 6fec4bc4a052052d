// SPDX-License-Identifier: Apache-2.0
/// StepMatrix: the matrix of a time step, M + dt/2 C + dt^2/4 s K, in the space of a run.
#pragma once

#include <newel/core/csr.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/spmv/registry.hpp>

#include "elasticity.hpp"

namespace newel::beam {

/// What makes the matrix of a step.
struct StepScheme {
  double dt = 1e-5;
  double mass_damping = 0;  ///< C = mass_damping M + stiffness_damping s K
  double stiffness_damping = 0;
  bool stiffness_varies = false;  ///< keeps the values of M and K, to combine them anew
  double first_factor = 1;        ///< s of the first step of the run, also when it is resumed
};

/// Holds the pattern, the values of K and M, and those of the matrix. Views are valid until `release`.
template <Space S>
class StepMatrix {
 public:
  StepMatrix(const Context<S>& ctx, const ElasticBody& body, const StepScheme& scheme)
      : ctx_(ctx),
        scheme_(scheme),
        stiffness_(make_csr(ctx, CsrView<double, Space::host>(body.stiffness))),
        mass_(make_array(ctx, body.mass.val.cspan())),
        combined_(ctx, mass_.size()) {}

  /// Of the matrix with this factor s of the stiffness; replaces the values of the last call.
  CsrView<double, S> combined(double factor) {
    const double half = 0.5 * scheme_.dt;
    copy<double>(ctx_, stiffness_.val.cspan(), combined_.span());
    axpby<double, S>(ctx_, 1 + half * scheme_.mass_damping, mass_.cspan(),
                     (half + scheme_.stiffness_damping) * half * factor, combined_.span());
    return view_of(combined_);
  }
  CsrView<double, S> stiffness() const { return view_of(stiffness_.val); }
  CsrView<double, S> mass() const { return view_of(mass_); }

  void release() {
    stiffness_ = {};
    mass_ = {};
    combined_ = {};
  }

 private:
  CsrView<double, S> view_of(const Array<double, S>& values) const {
    return {stiffness_.rows, stiffness_.cols, stiffness_.row_ptr.cspan(), stiffness_.col.cspan(), values.cspan()};
  }

  Context<S> ctx_;
  StepScheme scheme_;
  Csr<double, S> stiffness_;
  Array<double, S> mass_, combined_;
};

/// The operator of a matrix that is given in the caller's order, in the order of a system.
template <Space S>
OperatorPtr<double, S> ordered_operator(const Context<S>& ctx, const CsrView<double, S>& a, const RowOrder<S>& order,
                                        const SpmvOptions& spmv) {
  if (order.natural()) return make_spmv<double, S>(ctx, a, order, spmv);
  const PermutedCsr<double, S> permuted = permute<double, S>(ctx, a, order);
  return make_spmv<double, S>(ctx, permuted.view(), order, spmv);
}

}  // namespace newel::beam

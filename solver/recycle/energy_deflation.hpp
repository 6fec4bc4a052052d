// SPDX-License-Identifier: Apache-2.0
/// EnergyDeflation: recycled vectors in the preconditioner of CG, taken from its Lanczos vectors. Internal.
#pragma once

#include "solver/recycle/deflated_preconditioner.hpp"
#include "solver/recycle/deflation.hpp"

namespace newel::detail {

template <class T, Space S>
class EnergyDeflation final : public Deflation<T, S> {
 public:
  /// `coefficients`: where CG writes those of its steps.
  explicit EnergyDeflation(Span<CgCoefficients, S> coefficients) : coefficients_(coefficients) {}

  RecycledKind kind() const override { return RecycledKind::preconditioned; }
  void begin(const SolveRequest<T, S>& request, RecycledVectors<S>& vectors, RecyclePolicy::Use use) override;
  const LinearOperator<T, S>* preconditioner() const override { return &deflated_; }
  Harvest finish(const Context<S>& ctx) override;
  void end() noexcept override { deflates_ = false; }
  int deflated() const override { return deflates_ ? correction_.held() : 0; }
  bool was_in_one_kernel() const override { return one_kernel_; }
  void note_one_kernel(bool begins) { one_kernel_ = begins; }

 private:
  Span<CgCoefficients, S> coefficients_;
  RecycledVectors<S>* vectors_ = nullptr;
  EnergyCorrection<T, S> correction_;
  LanczosWindow<T, S> window_;
  DeflatedPreconditioner<T, S> deflated_{correction_, window_};
  bool deflates_ = false, one_kernel_ = false;
};

}  // namespace newel::detail

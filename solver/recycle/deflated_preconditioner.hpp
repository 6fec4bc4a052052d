// SPDX-License-Identifier: Apache-2.0
/// DeflatedPreconditioner: a preconditioner with the correction of recycled vectors, which may record what CG forms
/// with it. Internal.
#pragma once

#include "solver/recycle/energy_correction.hpp"
#include "solver/recycle/lanczos_window.hpp"

namespace newel::detail {

/// z = M r + tau W E^-1 W^T r: symmetric positive definite if M is.
template <class T, Space S>
class DeflatedPreconditioner final : public LinearOperator<T, S> {
 public:
  DeflatedPreconditioner(const EnergyCorrection<T, S>& correction, LanczosWindow<T, S>& window)
      : correction_(correction), window_(window) {}

  /// What a solve for n unknowns works with. M may be null. `deflates`: W is used. `records`: z goes to the window.
  void bind(Index n, const LinearOperator<T, S>* M, bool deflates, bool records);

  Index rows() const override { return n_; }
  Index cols() const override { return n_; }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> r, Span<T, S> z, double* rz) const override;
  OperatorTraits<T, S> traits() const override;

 private:
  const EnergyCorrection<T, S>& correction_;
  LanczosWindow<T, S>& window_;
  Index n_ = 0;
  const LinearOperator<T, S>* M_ = nullptr;
  std::uint64_t M_serial_ = 0;
  int held_ = 0;
  const float* bound_ = nullptr;
  bool records_ = false;
};

}  // namespace newel::detail

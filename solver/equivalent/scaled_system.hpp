// SPDX-License-Identifier: Apache-2.0
/// ScaledSystem: A x = b solved through a B with scaled rows and columns, and large entries on its diagonal.
/// Internal.
#pragma once

#include <memory>
#include <utility>

#include "solver/equivalent/equivalent_system.hpp"
#include "solver/equivalent/scaled_matrix.hpp"

namespace newel::detail {

/// B = R A Q C, see ScalingOptions.
template <class T, Space S>
class ScaledSystem final : public EquivalentSystem<T, S> {
 public:
  /// `a` is square and canonical, in the numbering of the vectors. `options` are those of the system of B, but for
  /// ScalingOptions. Throws as the constructor of LinearSystem does; WorkInterrupted.
  ScaledSystem(const Context<S>& ctx, const CsrView<T, S>& a, const ScalingWish& wish, SystemOptions options);

  /// R and C are computed anew. Q is kept unless it leaves tiny entries on the diagonal; then it is found again, and
  /// B has another pattern.
  void refresh(const CsrView<T, S>& a, RefreshScope scope) override;
  void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) override {
    inner_->move_nodes(std::move(coordinates));
  }
  SystemInfo info() const override;
  SystemDecision decision() const override;
  const ScalingInfo& scaling() const { return matrix_.info(); }

 private:
  using EquivalentSystem<T, S>::ctx_;
  using EquivalentSystem<T, S>::inner_;
  using EquivalentSystem<T, S>::work_;
  using EquivalentSystem<T, S>::scratch_;

  int carry_rhs(Span<const T, S> v, Span<T, S> c) override;
  void carry_guess(int shift, Span<const T, S> x, Span<T, S> y) override;
  void carry_back(int shift, Span<const T, S> v, Span<const T, S> y, Span<T, S> x) override;
  bool same_units() const override { return false; }
  double row_norm(ResidualUnits& units, Span<const T, S> v, bool of_rhs) override;
  void name_rows(SolveReport&) const override {}  // B has them in the same order

  void make(const CsrView<T, S>& a);
  SystemOptions options_of_inner() const;

  SystemOptions options_;
  ScaledMatrix<T, S> matrix_;  // B
  Array<T, S> permuted_;
};

}  // namespace newel::detail

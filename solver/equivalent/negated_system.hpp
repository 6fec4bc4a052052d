// SPDX-License-Identifier: Apache-2.0
/// NegatedSystem: A x = b solved as -A x = -b. Internal.
#pragma once

#include <memory>

#include "solver/equivalent/equivalent_system.hpp"

namespace newel::detail {

/// For a symmetric A with a negative diagonal: -A may be positive definite, for which CG and stronger preconditioners
/// are. Laplacians are often assembled with that sign.
template <class T, Space S>
class NegatedSystem final : public EquivalentSystem<T, S> {
 public:
  /// Null unless A is such a matrix. Reads one row of any other. `a` is square and canonical, in the numbering of the
  /// vectors. `options` are those of A. Throws as the constructor of LinearSystem does; WorkInterrupted.
  static std::unique_ptr<NegatedSystem> made_if_negative(const Context<S>& ctx, const CsrView<T, S>& a,
                                                         const SystemOptions& options);

  void refresh(const CsrView<T, S>& a, RefreshScope scope) override;
  void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) override {
    inner_->move_nodes(std::move(coordinates));
  }
  SystemInfo info() const override;
  SystemDecision decision() const override { return inner_->history().decision(); }

 private:
  using EquivalentSystem<T, S>::ctx_;
  using EquivalentSystem<T, S>::inner_;

  NegatedSystem(const Context<S>& ctx, const CsrView<T, S>& a) : EquivalentSystem<T, S>(ctx, a.rows) {}

  int carry_rhs(Span<const T, S> v, Span<T, S> c) override;
  void carry_guess(int, Span<const T, S> x, Span<T, S> y) override { copy<T>(ctx_, x, y); }
  void carry_back(int, Span<const T, S>, Span<const T, S> y, Span<T, S> x) override { copy<T>(ctx_, y, x); }
  bool same_units() const override { return true; }
  double row_norm(ResidualUnits&, Span<const T, S>, bool) override { return 0; }
  void name_rows(SolveReport&) const override {}
};

}  // namespace newel::detail

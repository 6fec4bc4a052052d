// SPDX-License-Identifier: Apache-2.0
/// CondensedSystem: A x = b solved through the rows that fix no unknown. Internal.
#pragma once

#include <memory>

#include "solver/equivalent/condensed_matrix.hpp"
#include "solver/equivalent/equivalent_system.hpp"

namespace newel::detail {

/// With the fixing rows last, A is (B, C; 0, D) with a diagonal D. The fixed unknowns are D^-1 times their part of b;
/// what they add to the other rows, C times that, leaves b, and B y = c remains.
template <class T, Space S>
class CondensedSystem final : public EquivalentSystem<T, S> {
 public:
  /// Null unless B is symmetric and A is not, since rows outside D have values in the columns of D, and unless the
  /// options can be restricted to the rows of B. `a` is square and canonical, in the numbering of the vectors.
  /// `options` are those of A. Throws as the constructor of LinearSystem does; WorkInterrupted.
  static std::unique_ptr<CondensedSystem> made_if_symmetric(const Context<S>& ctx, const CsrView<T, S>& a,
                                                            const SystemOptions& options);

  /// If one of the fixing rows has got another value, they are found anew, and B has another pattern.
  void refresh(const CsrView<T, S>& a, RefreshScope scope) override;
  void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) override;
  SystemInfo info() const override;
  SystemDecision decision() const override { return inner_->history().decision(); }

 private:
  using EquivalentSystem<T, S>::ctx_;
  using EquivalentSystem<T, S>::inner_;
  using EquivalentSystem<T, S>::scratch_;

  CondensedSystem(const Context<S>& ctx, const CsrView<T, S>& a, FixingRows<S> fixing, SystemOptions options);

  int carry_rhs(Span<const T, S> v, Span<T, S> c) override;
  void carry_guess(int shift, Span<const T, S> x, Span<T, S> y) override;
  void carry_back(int shift, Span<const T, S> v, Span<const T, S> y, Span<T, S> x) override;
  bool same_units() const override { return true; }
  double row_norm(ResidualUnits&, Span<const T, S>, bool) override { return 0; }
  void name_rows(SolveReport& report) const override;

  SystemOptions restricted() const;

  SystemOptions options_;  // of A
  CondensedMatrix<T, S> matrix_;
  Array<T, S> ordered_;  // a vector with the fixed unknowns last
};

}  // namespace newel::detail

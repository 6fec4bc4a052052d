// SPDX-License-Identifier: Apache-2.0
/// ScaledSystem: A x = b solved through a B with scaled rows and columns, and large entries on its diagonal.
/// Internal.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "reorder/scaling/scale_powers.hpp"
#include "solver/equivalent/equivalent_system.hpp"

namespace newel::detail {

/// What is to be done with a matrix, and why.
struct ScalingWish {
  bool scale = false, match = false;
  std::string reason;
  int most_iterations = std::numeric_limits<int>::max();  ///< of a solve, unless the caller allows fewer

  bool any() const { return scale || match; }
};

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
  const ScalingInfo& scaling() const { return info_; }

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
  void match(const CsrView<T, S>& a);
  void take_pattern(const CsrView<T, S>& a);
  void take_values(Span<const T, S> values);
  SystemOptions options_of_inner() const;
  Index rows_off_diagonal() const;
  Equilibration equilibration() const;

  ScalingWish wish_;
  SystemOptions options_;
  ScalingInfo info_;
  bool symmetric_ = false;
  Index tiny_ = 0;                                 // rows with a tiny diagonal when Q was found
  Array<Index, S> column_of_row_, row_of_column_;  // empty: Q is the identity
  ScalePowers<S> base_, powers_;     // of the matching, after means; of B, by the numbering of its columns
  Array<std::int32_t, S> row_only_;  // E: of A's rows without regard to its columns
  Csr<T, S> matrix_;                 // B
  ValueMap<S> source_;               // of its entries in A
  Array<T, S> permuted_;
};

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
/// PresentMatrix: A as it stands, for what is made of it besides the operators. Internal.
#pragma once

#include <optional>

#include "solver/operators/operators.hpp"

namespace newel::detail {

/// In solver order, without a value map, as a caller of that numbering would give it.
template <class T, Space S>
class PresentMatrix {
 public:
  /// `system` outlives this.
  explicit PresentMatrix(const Operators<T, S>& system) {
    if (system.A == nullptr || !system.sound()) return;
    view_ = system.A->as_csr();
    if (!view_ && system.source && system.source->pattern()) view_ = system.source->in_order(values_, permuted_);
    if (view_) view_->value_map = nullptr;
  }
  PresentMatrix(const PresentMatrix&) = delete;
  PresentMatrix& operator=(const PresentMatrix&) = delete;

  /// Nothing: the entries are not there. Valid as long as this.
  const std::optional<CsrView<T, S>>& view() const { return view_; }

 private:
  Array<T, S> values_;
  PermutedCsr<T, S> permuted_;
  std::optional<CsrView<T, S>> view_;
};

}  // namespace newel::detail

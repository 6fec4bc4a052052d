// SPDX-License-Identifier: Apache-2.0
/// PrecondChooser: chooses and makes the preconditioner of a system. Internal.
#pragma once

#include "solver/operators/operators.hpp"

namespace newel::detail {

/// For operators whose A is there. Leaves M, and what was chosen, in `Operators`.
template <class T, Space S>
class PrecondChooser {
 public:
  explicit PrecondChooser(Operators<T, S>& of) : s_(of) {}

  /// As the options say. `a` is in solver order; with `may_follow` a stronger one may come later.
  void make(const CsrView<T, S>& a, bool may_follow);
  /// As "auto" does.
  void choose(const CsrView<T, S>& a, bool may_follow);

 private:
  void take_decided(const CsrView<T, S>& a, bool may_follow);
  bool invert_diagonal(const CsrView<T, S>& a);
  void list_candidates();
  PrecondTrial tried(const LinearOperator<T, S>* candidate) const;

  Operators<T, S>& s_;
};

}  // namespace newel::detail

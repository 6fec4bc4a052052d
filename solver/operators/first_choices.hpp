// SPDX-License-Identifier: Apache-2.0
/// FirstChoices: what the options leave open of solvers and format, chosen before anything is made. Internal.
#pragma once

#include "solver/operators/operators.hpp"

namespace newel::detail {

/// Whether the options leave the preconditioner open.
inline bool chooses_precond(const SystemOptions& options) { return canonical_name(options.precond.name) == "auto"; }

/// For the square canonical matrix `a`. Leaves what was chosen in `Operators`; PrecondChooser follows when A is
/// there.
template <class T, Space S>
class FirstChoices {
 public:
  explicit FirstChoices(Operators<T, S>& of) : s_(of) {}

  /// The solvers, and whether the system is solved by division.
  void choose_solvers(const CsrView<T, S>& a);
  /// The format, or CSR until a solve shows that another one is worth its setup, if the operators are `exchangeable`.
  void choose_format(const CsrView<T, S>& a, bool exchangeable);

 private:
  void find_traits(const CsrView<T, S>& a);
  void take_decided_format(const CsrView<T, S>& a, bool measured);

  Operators<T, S>& s_;
};

}  // namespace newel::detail

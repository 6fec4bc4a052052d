// SPDX-License-Identifier: Apache-2.0
/// PrecondChooser: chooses and makes the preconditioner of a system. Internal.
#pragma once

#include "solver/operators/operators.hpp"

namespace newel::detail {

/// Entry i of a right-hand side without structure that a preconditioner could like or dislike: the same on every
/// machine.
double trial_entry(std::int64_t i);

/// At most 32 iterations of the named solver with M, which may be null. In a context with ranks all call it together,
/// and all get the same.
template <class T, Space S>
PrecondTrial try_precond(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                         const std::vector<T>& b, const std::string& solver, const SystemOptions& options);

/// For operators whose A is there. Leaves M, and what was chosen, in `Operators`.
template <class T, Space S>
class PrecondChooser {
 public:
  explicit PrecondChooser(Operators<T, S>& of) : s_(of) {}

  /// As the options say. `a` is in solver order; with `may_follow` a stronger one may come later.
  void make(const CsrView<T, S>& a, bool may_follow);
  /// None, until something else has failed.
  void put_off();
  /// As "auto" does.
  void choose(const CsrView<T, S>& a, bool may_follow);

 private:
  void take_decided(const CsrView<T, S>& a, bool may_follow);
  bool invert_diagonal(const CsrView<T, S>& a);
  bool begin_with_blocks(const CsrView<T, S>& a);
  void list_candidates();
  PrecondTrial tried(const LinearOperator<T, S>* candidate) const;

  Operators<T, S>& s_;
};

}  // namespace newel::detail

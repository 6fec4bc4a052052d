// SPDX-License-Identifier: Apache-2.0
// The parts of a matrix, their values, and the unknowns that its rows fix.
#include "solver/equivalent/condensed_matrix.hpp"

#include <utility>

#include <newel/core/vector_ops.hpp>
#include <newel/spmv/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/jacobi/jacobi_steps.hpp"

namespace newel::detail {

template <class T, Space S>
void CondensedMatrix<T, S>::make(const CsrView<T, S>& a, FixingRows<S> fixing) {
  fixing_ = std::move(fixing);
  pattern_ = condensed_pattern(ctx_, Pattern<S>(a), fixing_);
  of_B_ = Array<T, S>(ctx_, pattern_.B.col.size());
  of_C_ = Array<T, S>(ctx_, pattern_.C.col.size());
  inverse_of_D_ = Array<T, S>(ctx_, pattern_.D.col.size());
  C_ = nullptr;
  take_values(a.val);
}

template <class T, Space S>
void CondensedMatrix<T, S>::take_values(Span<const T, S> values) {
  const auto take = [&](const PartOfMatrix<S>& part, Array<T, S>& to) {
    if (to.size() > 0) gather<T, S>(ctx_, values, part.source, to.span());
  };
  take(pattern_.B, of_B_);
  take(pattern_.C, of_C_);
  take(pattern_.D, inverse_of_D_);
  sweep(ctx_, inverse_of_D_.size(), InvertStep<T>(inverse_of_D_.data(), scratch_.data()));
  if (C_ != nullptr) return C_->refresh(ctx_, of_C_.cspan());
  if (of_C_.size() == 0) return;
  const CsrView<T, S> view(pattern_.C.pattern(), of_C_.cspan());
  C_ = make_spmv(ctx_, view, RowOrder<S>{}, SpmvOptions{"csr"});
}

template <class T, Space S>
bool CondensedMatrix<T, S>::rows_still_fix(const CsrView<T, S>& a) const {
  return fixing_.count > 0 ? still_fix(ctx_, a, fixing_) : fixing_rows(ctx_, a).count == 0;
}

template <class T, Space S>
void CondensedMatrix<T, S>::solve_fixed(Span<const T, S> v, Span<T, S> ordered) const {
  gather<T, S>(ctx_, v, pattern_.old_of_new.cspan(), ordered);
  const Span<T, S> at_end = ordered.subspan(kept(), fixed());
  if (at_end.size > 0) multiply<T, S>(ctx_, T(1), inverse_of_D_.cspan(), Span<const T, S>(at_end), T(0), at_end);
}

template <class T, Space S>
void CondensedMatrix<T, S>::subtract_fixed(Span<const T, S> ordered, Span<T, S> c) const {
  if (C_ != nullptr) C_->apply(ctx_, T(-1), ordered.subspan(kept(), fixed()), T(1), c);
}

#define X(T, S) template class CondensedMatrix<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

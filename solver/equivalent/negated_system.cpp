// SPDX-License-Identifier: Apache-2.0
// Changing the signs of a system, and back.
#include "solver/equivalent/negated_system.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <newel/core/matrix_traits.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

template <class V, Space S>
V entry_of(const Context<S>& ctx, Span<const V, S> all, Offset from) {
  return to_vector(ctx, all.subspan(from, 1)).front();
}

// 0: it is not stored.
template <class T>
double stored_value_of(const CsrView<T, Space::host>& a, Index i, Index j) {
  const Index* const end = a.col.data + a.row_begin(i + 1);
  const Index* const found = std::lower_bound(a.col.data + a.row_begin(i), end, j);
  return found != end && *found == j ? static_cast<double>(a.val[found - a.col.data]) : 0.0;
}

// By the diagonal entries of some rows, and one other entry of each, which has its opposite.
template <class T>
bool few_are_negative(const CsrView<T, Space::host>& a) {
  constexpr Index most_rows = 64;
  constexpr double more_than_rounding = 1e-10;
  const Index step = std::max<Index>(1, a.rows / most_rows);
  for (Index i = 0; i < a.rows; i += step) {
    const double diagonal = stored_value_of(a, i, i);
    if (!(diagonal < 0)) return false;
    const Offset begin = a.row_begin(i), length = a.row_begin(i + 1) - begin;
    const Index j = a.col[begin] != i || length == 1 ? a.col[begin] : a.col[begin + 1];
    const double difference = std::abs(stored_value_of(a, i, j) - stored_value_of(a, j, i));
    const double most = std::sqrt(diagonal * std::min(0.0, stored_value_of(a, j, j)));
    if (!(difference <= more_than_rounding * most)) return false;
  }
  return true;
}

// The rest of the matrix is read only if this is so: of the first row and, on the host, of a few others.
template <class T, Space S>
bool seems_negative(const Context<S>& ctx, const CsrView<T, S>& a) {
  if (a.nnz() <= a.rows) return false;  // a diagonal matrix is divided by
  if (!(entry_of(ctx, a.val, 0) < T(0)) || entry_of(ctx, a.col, 0) != 0) return false;
  if constexpr (S == Space::host) return few_are_negative(a);
  return (a.wide() ? entry_of(ctx, a.row_ptr64, 1) : Offset{entry_of(ctx, a.row_ptr32, 1)}) > 0;
}

template <class T, Space S>
Array<T, S> negated(const Context<S>& ctx, Span<const T, S> values) {
  Array<T, S> found(ctx, values.size);
  axpby<T, S>(ctx, T(-1), values, T(0), found.span());
  return found;
}

template <class T, Space S>
CsrView<T, S> with_values(CsrView<T, S> a, const Array<T, S>& values) {
  a.val = values.cspan();
  return a;
}

}  // namespace

template <class T, Space S>
std::unique_ptr<NegatedSystem<T, S>> NegatedSystem<T, S>::made_if_negative(const Context<S>& ctx,
                                                                           const CsrView<T, S>& a,
                                                                           const SystemOptions& options) {
  if (!seems_negative(ctx, a)) return nullptr;
  const MatrixTraits traits = matrix_traits(ctx, a);
  if (!traits.symmetric() || traits.negative_diagonal.count != a.rows) return nullptr;
  SystemOptions own = options;
  own.solver.template of<GuessOptions>() = {};
  own.canonicalise = false;
  std::unique_ptr<NegatedSystem> made(new NegatedSystem(ctx, a));
  const Array<T, S> values = negated<T, S>(ctx, a.val);
  made->set_inner(with_values(a, values), std::move(own));
  return made;
}

template <class T, Space S>
void NegatedSystem<T, S>::refresh(const CsrView<T, S>& a, RefreshScope scope) {
  inner_->refresh(negated<T, S>(ctx_, a.val).cspan(), scope);
}

template <class T, Space S>
SystemInfo NegatedSystem<T, S>::info() const {
  SystemInfo info = inner_->info();
  info.solver_reason += std::string(info.solver_reason.empty() ? "" : "; ") +
                        "solved as -A x = -b, since no diagonal entry of A is positive";
  return info;
}

template <class T, Space S>
int NegatedSystem<T, S>::carry_rhs(Span<const T, S> v, Span<T, S> c) {
  axpby<T, S>(ctx_, T(-1), v, T(0), c);
  return 0;
}

#define X(T, S) template class NegatedSystem<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

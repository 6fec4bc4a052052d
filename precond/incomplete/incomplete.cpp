// SPDX-License-Identifier: Apache-2.0
// Preconditioning with incomplete factors: setup, refresh, applications and reports.
#include "precond/incomplete/incomplete.hpp"

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/column_ops.hpp"
#include "core/vectors/instantiate.hpp"
#include "precond/placed.hpp"
#include "precond/require_symmetry.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel {
template <class T, Space S>
IncompleteOperator<T, S>::IncompleteOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                             const detail::FactorRecipe& recipe)
    : a_nonzeros_(a.nnz()) {
  detail::PhaseClock clock;
  if (a.rows != a.cols) throw InputError("an incomplete factorisation needs a square matrix");
  if (recipe.symmetric) detail::require_symmetry(ctx, a, order);
  detail::FactorPattern pattern = detail::factor_pattern(ctx, a, order, recipe);
  clock.end("pattern");
  const auto source = detail::placed(ctx, std::move(pattern.source));
  a_source_ = make_value_map(ctx, source.cspan(), a.nnz(), a.value_map);
  Array<T, S> values(ctx, source.size());
  gather<T, S>(ctx, a.val, make_value_map(ctx, source.cspan(), a.nnz()), values.span());
  detail::FactorRows<S> rows;
  rows.natural = order.natural();
  if (!rows.natural) {
    const std::vector<Index> caller = to_vector(ctx, order.old_of_new.cspan());
    std::vector<Index> user = pattern.old_of_new;
    for (Index& row : user) row = caller[row];
    rows.of_user = make_array(ctx, user);
  }
  factors_ = {ctx, recipe, std::move(pattern), std::move(rows), std::move(values)};
  ctx.synchronize();
  clock.end("values");
  factors_.compute(ctx);
  clock.end("numeric");
  seconds_ = clock.seconds();
}

template <class T, Space S>
void IncompleteOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  gather<T, S>(ctx, values, a_source_, factors_.matrix_values());
  factors_.compute(ctx);
}

template <class T, Space S>
Slots<T, S> IncompleteOperator<T, S>::slots(const Context<S>& ctx) {
  const Span<T, S> values = factors_.matrix_values();
  return {values, positions_of(ctx, a_source_, values.size)};
}

template <class T, Space S>
void IncompleteOperator<T, S>::slots_written(const Context<S>& ctx) {
  factors_.compute(ctx);
}

template <class T, Space S>
OperatorPtr<T, S> IncompleteOperator<T, S>::renumbered(const Context<S>& ctx, const RowOrder<S>& order,
                                                       const SpmvOptions&) {
  if (!factors_.rows().natural) return nullptr;
  detail::FactorRows<S> moved_rows;
  if (!order.natural()) {
    const std::vector<Index> new_of_old = to_vector(ctx, order.new_of_old.cspan());
    const std::vector<Index> user = to_vector(ctx, factors_.rows().of_vectors.cspan());
    std::vector<Index> rows = user;
    for (Index& row : rows) row = new_of_old[row];
    moved_rows.of_user = make_array(ctx, user);
    moved_rows.of_vectors = make_array(ctx, rows);
    ctx.synchronize();
  }
  std::unique_ptr<IncompleteOperator> moved(new IncompleteOperator(std::move(*this)));
  if (order.natural()) return moved;
  moved->factors_.rows() = std::move(moved_rows);
  return moved;
}

template <class T, Space S>
void IncompleteOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  factors_.apply(ctx, alpha, x, beta, y);
}

template <class T, Space S>
std::uint64_t IncompleteOperator<T, S>::column_work_bytes(int columns) const {
  if (columns == 1 || factors_.swept()) return LinearOperator<T, S>::column_work_bytes(columns);
  return 2 * sizeof(T) * static_cast<std::uint64_t>(columns) * static_cast<std::uint64_t>(rows());
}

template <class T, Space S>
void IncompleteOperator<T, S>::apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta,
                                             Span<T, S> y, Span<char, S> work) const {
  if (columns == 1 || factors_.swept()) {
    return LinearOperator<T, S>::apply_columns(ctx, columns, alpha, x, beta, y, work);
  }
  factors_.apply_columns(ctx, columns, alpha, x, beta, y, work);
}

template <class T, Space S>
void IncompleteOperator<T, S>::apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y,
                                                 double* xy, Span<char, S> work) const {
  if (columns == 1 || factors_.swept()) {
    return LinearOperator<T, S>::apply_dot_columns(ctx, columns, x, y, xy, work);
  }
  apply_columns(ctx, columns, T(1), x, T(0), y, work);
  dot_columns<T, S>(ctx, columns, x, Span<const T, S>(y), xy);
}

template <class T, Space S>
OperatorInfo IncompleteOperator<T, S>::info() const {
  OperatorInfo info;
  factors_.describe(info);
  const double density =
      a_nonzeros_ == 0 ? 0.0 : static_cast<double>(info.nonzeros) / static_cast<double>(a_nonzeros_);
  info.figures.insert(info.figures.begin(), {"density", density});
  info.bytes.push_back({"value map", a_source_.bytes() + factors_.rows().of_user.bytes()});
  info.setup_seconds = seconds_;
  return info;
}

#define X(T, S) template class IncompleteOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel

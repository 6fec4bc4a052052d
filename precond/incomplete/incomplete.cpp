// SPDX-License-Identifier: Apache-2.0
// Incomplete factors in both spaces: setup, refresh, applications and reports.
#include "precond/incomplete/incomplete.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/column_ops.hpp"
#include "core/vectors/instantiate.hpp"
#include "precond/incomplete/threshold_fill.hpp"
#include "precond/matrix_on_host.hpp"
#include "precond/placed.hpp"
#include "precond/require_symmetry.hpp"
#include "reorder/host_pattern.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel {
namespace {

// The first shift that follows none, and the last; each is twice the one before it. The last makes any diagonal
// dominant that has a chance to be.
constexpr double first_shift = 1e-3, last_shift = 1e6;

const char* name_of_order(FactorOrder order) {
  switch (order) {
    case FactorOrder::natural:
      return "natural order";
    case FactorOrder::colours:
      return "order of colours";
    default:
      return "reverse Cuthill-McKee order";
  }
}

bool has_failed(const detail::FactorVerdict& verdict) { return verdict.not_positive > 0 || verdict.not_finite > 0; }

}  // namespace

template <class T, Space S>
IncompleteOperator<T, S>::IncompleteOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                             const detail::FactorRecipe& recipe)
    : recipe_(recipe), rows_(a.rows), a_nonzeros_(a.nnz()), natural_(order.natural()) {
  detail::PhaseClock clock;
  if (a.rows != a.cols) throw InputError("an incomplete factorisation needs a square matrix");
  if (recipe_.symmetric) detail::require_symmetry(ctx, a, order);
  detail::FactorPattern pattern = find_pattern(ctx, a, order);
  clock.end("pattern");
  const auto source = detail::placed(ctx, std::move(pattern.source));
  a_source_ = make_value_map(ctx, source.cspan(), a.nnz(), a.value_map);
  a_val_ = Array<T, S>(ctx, source.size());
  gather<T, S>(ctx, a.val, make_value_map(ctx, source.cspan(), a.nnz()), a_val_.span());
  if (!natural_) {
    const std::vector<Index> caller = to_vector(ctx, order.old_of_new.cspan());
    std::vector<Index> user = pattern.old_of_new;
    for (Index& row : user) row = caller[row];
    user_row_ = make_array(ctx, user);
  }
  place(ctx, std::move(pattern));
  ctx.synchronize();
  clock.end("values");
  compute(ctx);
  clock.end("numeric");
  seconds_ = clock.seconds();
}

// From the caller's order on, whatever that of A is.
template <class T, Space S>
detail::FactorPattern IncompleteOperator<T, S>::find_pattern(const Context<S>& ctx, const CsrView<T, S>& a,
                                                             const RowOrder<S>& order) const {
  const Context<Space::host> host = host_context(ctx);
  Csr<T, Space::host> kept;
  const detail::HostPattern pattern(ctx, a);
  const Pattern<Space::host>& of_a = pattern.view();
  std::vector<Index> old_of_new(static_cast<std::size_t>(a.rows));
  if (natural_) {
    std::iota(old_of_new.begin(), old_of_new.end(), Index{0});
  } else {
    old_of_new = to_vector(ctx, order.new_of_old.cspan());
  }
  detail::Sparsity rows = detail::in_order(host, of_a, old_of_new);
  detail::Sparsity both = detail::with_transpose(host, rows);
  if (recipe_.factors.order != FactorOrder::natural) {
    const std::vector<Index> found = detail::elimination_order(both, recipe_.factors.order);
    std::vector<Index> composed(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) composed[i] = old_of_new[found[i]];
    old_of_new = std::move(composed);
    rows = detail::in_order(host, rows.view(), found);
    both = detail::with_transpose(host, rows);
  }
  if (recipe_.by_size) {
    const detail::Triangles parts =
        detail::threshold_fill(host, detail::matrix_on_host(ctx, a, kept), old_of_new, recipe_.sizes);
    return detail::by_levels(host, of_a, old_of_new, parts, recipe_.symmetric);
  }
  const bool symmetric = recipe_.symmetric || both.nnz() == rows.nnz();
  const detail::Triangles parts = detail::level_fill(host, symmetric ? both : rows, recipe_.level, symmetric);
  return detail::by_levels(host, of_a, old_of_new, parts, recipe_.symmetric);
}

template <class T, Space S>
void IncompleteOperator<T, S>::place(const Context<S>& ctx, detail::FactorPattern&& pattern) {
  levels_ = pattern.levels();
  factor_work_ = std::make_unique<detail::FactorWork<S>>(ctx, pattern);
  triangle_work_ = std::make_unique<detail::TriangleWork<S>>(ctx, pattern);
  row_ = make_array(ctx, pattern.old_of_new);
  l_ptr_ = detail::placed(ctx, std::move(pattern.parts.lower.row_ptr));
  l_col_ = detail::placed(ctx, std::move(pattern.parts.lower.col));
  u_ptr_ = detail::placed(ctx, std::move(pattern.parts.upper.row_ptr));
  u_col_ = detail::placed(ctx, std::move(pattern.parts.upper.col));
  mirror_ = detail::placed(ctx, std::move(pattern.mirror));
  const Offset of_diagonal = l_col_.size(), of_upper = of_diagonal + rows_;
  f_val_ = Array<T, S>(ctx, of_upper + u_col_.size());
  y_ = Array<T, S>(ctx, rows_);
  z_ = Array<T, S>(ctx, rows_);
  detail::prepare_vectors(ctx, y_.data(), y_.size());
  detail::prepare_vectors(ctx, z_.data(), z_.size());
  spare_ = Array<T, S>(ctx, rows_);

  view_.rows = rows_;
  view_.symmetric = recipe_.symmetric;
  view_.positive = recipe_.positive;
  view_.l_ptr = l_ptr_.data();
  view_.l_col = l_col_.data();
  view_.u_ptr = u_ptr_.data();
  view_.u_col = u_col_.data();
  view_.mirror = mirror_.data();
  view_.l_val = f_val_.data();
  view_.d_inv = f_val_.data() + of_diagonal;
  view_.u_val = f_val_.data() + of_upper;
  view_.a_l = a_val_.data();
  view_.a_d = a_val_.data() + of_diagonal;
  view_.a_u = recipe_.symmetric ? nullptr : a_val_.data() + of_upper;
}

// From a_val_ to f_val_, with the first shift of 0 (or what the options say), 0.001, 0.002, ... that succeeds.
template <class T, Space S>
void IncompleteOperator<T, S>::compute(const Context<S>& ctx) {
  for (shift_ = recipe_.factors.shift;; shift_ = std::max(first_shift, 2 * shift_)) {
    view_.shift = shift_;
    verdict_ = detail::factorise(ctx, view_, *factor_work_);
    const bool last = shift_ > last_shift;
    if (!has_failed(verdict_) && (last || verdict_.bounded == 0 || is_stable(ctx))) return;
    if (last) refuse(ctx);
    if (verdict_.not_positive > 0 && shift_ == recipe_.factors.shift) {
      // No shift helps where the diagonal itself is not positive.
      const std::vector<T> diagonal = to_vector(ctx, Span<const T, S>(view_.a_d, rows_));
      if (std::any_of(diagonal.begin(), diagonal.end(), [](T d) { return !(d > T(0)); })) refuse(ctx);
    }
  }
}

// Whether M e, e a vector of ones, can be squared: bounded pivots may make factors whose inverse overflows (E. Chow
// and Y. Saad, "Experimental study of ILU preconditioners for indefinite matrices", J. Comput. Appl. Math. 86, 1997).
template <class T, Space S>
bool IncompleteOperator<T, S>::is_stable(const Context<S>& ctx) const {
  fill<T, S>(ctx, T(1), spare_.span());
  const detail::TriangleArgs<T> args{row_.data(), T(1), T(0), spare_.data(), spare_.data(), y_.data(), z_.data()};
  detail::solve_triangles(ctx, view_, *triangle_work_, args, 1);
  Array<double, S> largest(ctx, 1);
  max_abs(ctx, Span<const T, S>(spare_.span()), largest.data());
  return fetch(ctx, largest.cspan().data) < std::sqrt(static_cast<double>(std::numeric_limits<T>::max()));
}

// The first row, in the caller's numbering, whose diagonal entry is not positive, or else a row that failed.
template <class T, Space S>
void IncompleteOperator<T, S>::refuse(const Context<S>& ctx) const {
  if (verdict_.not_positive == 0) {
    throw InputError("the values of the incomplete factors overflow, whatever is added to the diagonal; " +
                     std::to_string(verdict_.not_finite) + " rows are not finite");
  }
  const std::vector<T> diagonal = to_vector(ctx, Span<const T, S>(view_.a_d, rows_));
  const std::vector<Index> user = to_vector(ctx, natural_ ? row_.cspan() : user_row_.cspan());
  std::int64_t first = rows_, count = 0;
  for (Index i = 0; i < rows_; ++i) {
    if (diagonal[i] > T(0)) continue;
    first = std::min<std::int64_t>(first, user[i]);
    ++count;
  }
  if (count == 0) throw NotPositiveDefinite(0, static_cast<std::int64_t>(verdict_.not_positive));
  throw NotPositiveDefinite(first, count);
}

template <class T, Space S>
void IncompleteOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  gather<T, S>(ctx, values, a_source_, a_val_.span());
  compute(ctx);
}

template <class T, Space S>
Slots<T, S> IncompleteOperator<T, S>::slots(const Context<S>& ctx) {
  return {a_val_.span(), positions_of(ctx, a_source_, a_val_.size())};
}

template <class T, Space S>
void IncompleteOperator<T, S>::slots_written(const Context<S>& ctx) {
  compute(ctx);
}

template <class T, Space S>
OperatorPtr<T, S> IncompleteOperator<T, S>::renumbered(const Context<S>& ctx, const RowOrder<S>& order,
                                                       const SpmvOptions&) {
  if (!natural_) return nullptr;
  Array<Index, S> moved_rows, users;
  if (!order.natural()) {
    const std::vector<Index> new_of_old = to_vector(ctx, order.new_of_old.cspan());
    const std::vector<Index> user = to_vector(ctx, row_.cspan());
    std::vector<Index> rows = user;
    for (Index& row : rows) row = new_of_old[row];
    users = make_array(ctx, user);
    moved_rows = make_array(ctx, rows);
    ctx.synchronize();
  }
  std::unique_ptr<IncompleteOperator> moved(new IncompleteOperator(std::move(*this)));
  if (order.natural()) return moved;
  moved->natural_ = false;
  moved->row_ = std::move(moved_rows);
  moved->user_row_ = std::move(users);
  return moved;
}

template <class T, Space S>
void IncompleteOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  const detail::TriangleArgs<T> args{row_.data(), alpha, beta, x.data, y.data, y_.data(), z_.data()};
  if (recipe_.factors.sweeps > 0) {
    return detail::sweep_triangles(ctx, view_, args, spare_.data(), recipe_.factors.sweeps);
  }
  detail::solve_triangles(ctx, view_, *triangle_work_, args, 1);
}

template <class T, Space S>
std::uint64_t IncompleteOperator<T, S>::column_work_bytes(int columns) const {
  if (columns == 1 || recipe_.factors.sweeps > 0) return LinearOperator<T, S>::column_work_bytes(columns);
  return 2 * sizeof(T) * static_cast<std::uint64_t>(columns) * static_cast<std::uint64_t>(rows_);
}

template <class T, Space S>
void IncompleteOperator<T, S>::apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta,
                                             Span<T, S> y, Span<char, S> work) const {
  if (columns == 1 || recipe_.factors.sweeps > 0) {
    return LinearOperator<T, S>::apply_columns(ctx, columns, alpha, x, beta, y, work);
  }
  const std::int64_t values = std::int64_t{columns} * rows_;
  T* const between = reinterpret_cast<T*>(work.data);
  detail::prepare_vectors(ctx, between, 2 * values);
  const detail::TriangleArgs<T> args{row_.data(), alpha, beta, x.data, y.data, between, between + values};
  detail::solve_triangles(ctx, view_, *triangle_work_, args, columns);
}

template <class T, Space S>
void IncompleteOperator<T, S>::apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y,
                                                 double* xy, Span<char, S> work) const {
  if (columns == 1 || recipe_.factors.sweeps > 0) {
    return LinearOperator<T, S>::apply_dot_columns(ctx, columns, x, y, xy, work);
  }
  apply_columns(ctx, columns, T(1), x, T(0), y, work);
  dot_columns<T, S>(ctx, columns, x, Span<const T, S>(y), xy);
}

template <class T, Space S>
std::string IncompleteOperator<T, S>::detail_text() const {
  std::string text = recipe_.text + " in " + name_of_order(recipe_.factors.order);
  if (recipe_.symmetric && !recipe_.positive) text += ", symmetric, with |D|";
  if (recipe_.factors.sweeps > 0) {
    text += ", applied by " + std::to_string(recipe_.factors.sweeps) + " Jacobi sweeps on each factor";
  } else {
    text += ", " + std::to_string(levels_) + (levels_ == 1 ? " level" : " levels");
  }
  if (verdict_.bounded > 0) {
    text += ", " + std::to_string(verdict_.bounded) + (verdict_.bounded == 1 ? " pivot" : " pivots") + " bounded";
  }
  if (shift_ > 0) text += ", diagonal shifted by " + detail::three_digits(shift_);
  return text;
}

template <class T, Space S>
OperatorInfo IncompleteOperator<T, S>::info() const {
  OperatorInfo info;
  info.name = recipe_.name;
  info.detail = detail_text();
  info.rows = info.cols = rows_;
  info.nonzeros = info.stored_slots = f_val_.size();
  const auto n = static_cast<std::uint64_t>(rows_);
  const std::uint64_t entries = f_val_.bytes() + l_col_.bytes() + u_col_.bytes() + l_ptr_.bytes() + u_ptr_.bytes();
  info.bytes_per_product =
      static_cast<std::uint64_t>(std::max(recipe_.factors.sweeps, 1)) * (entries + 4 * n * sizeof(T)) +
      2 * n * (sizeof(Index) + sizeof(T));
  info.figures = {
      {"density", a_nonzeros_ == 0 ? 0.0 : static_cast<double>(f_val_.size()) / static_cast<double>(a_nonzeros_)},
      {"levels", static_cast<double>(levels_)},
      {"bounded pivots", static_cast<double>(verdict_.bounded)},
      {"shift", shift_}};
  info.bytes = {{"values of the factors", f_val_.bytes()},
                {"pattern of the factors", l_ptr_.bytes() + l_col_.bytes() + u_ptr_.bytes() + u_col_.bytes()},
                {"levels", factor_work_->bytes() + triangle_work_->bytes() + row_.bytes()},
                {"intermediate vectors", y_.bytes() + z_.bytes() + spare_.bytes()},
                {"values of A", a_val_.bytes() + mirror_.bytes()},
                {"value map", a_source_.bytes() + user_row_.bytes()}};
  info.setup_seconds = seconds_;
  return info;
}

#define X(T, S) template class IncompleteOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel

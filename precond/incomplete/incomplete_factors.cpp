// SPDX-License-Identifier: Apache-2.0
// Incomplete factors in both spaces: their pattern, their values for a shift that succeeds, and solves with them.
#include "precond/incomplete/incomplete_factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/incomplete/threshold_fill.hpp"
#include "precond/matrix_on_host.hpp"
#include "precond/placed.hpp"
#include "reorder/host_pattern.hpp"

namespace newel::detail {
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

bool has_failed(const FactorVerdict& verdict) { return verdict.not_positive > 0 || verdict.not_finite > 0; }

}  // namespace

// From the caller's order on, whatever that of A is.
template <class T, Space S>
FactorPattern factor_pattern(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                             const FactorRecipe& recipe) {
  const Context<Space::host> host = host_context(ctx);
  Csr<T, Space::host> kept;
  const HostPattern pattern(ctx, a);
  const Pattern<Space::host>& of_a = pattern.view();
  std::vector<Index> old_of_new(static_cast<std::size_t>(a.rows));
  if (order.natural()) {
    std::iota(old_of_new.begin(), old_of_new.end(), Index{0});
  } else {
    old_of_new = to_vector(ctx, order.new_of_old.cspan());
  }
  Sparsity rows = in_order(host, of_a, old_of_new);
  Sparsity both = with_transpose(host, rows);
  if (recipe.factors.order != FactorOrder::natural) {
    const std::vector<Index> found = elimination_order(both, recipe.factors.order);
    std::vector<Index> composed(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) composed[i] = old_of_new[found[i]];
    old_of_new = std::move(composed);
    rows = in_order(host, rows.view(), found);
    both = with_transpose(host, rows);
  }
  if (recipe.by_size) {
    const Triangles parts = threshold_fill(host, matrix_on_host(ctx, a, kept), old_of_new, recipe.sizes);
    return by_levels(host, of_a, old_of_new, parts, recipe.symmetric);
  }
  const bool symmetric = recipe.symmetric || both.nnz() == rows.nnz();
  const Triangles parts = level_fill(host, symmetric ? both : rows, recipe.level, symmetric);
  return by_levels(host, of_a, old_of_new, parts, recipe.symmetric);
}

template <class T, Space S>
IncompleteFactors<T, S>::IncompleteFactors(const Context<S>& ctx, const FactorRecipe& recipe, FactorPattern&& pattern,
                                           FactorRows<S> rows, Array<T, S> matrix_values)
    : recipe_(recipe), levels_(pattern.levels()), rows_(std::move(rows)), a_val_(std::move(matrix_values)) {
  factor_work_ = std::make_unique<FactorWork<S>>(ctx, pattern);
  triangle_work_ = std::make_unique<TriangleWork<S>>(ctx, pattern);
  rows_.of_vectors = make_array(ctx, pattern.old_of_new);
  const Index n = rows_.count();
  l_ptr_ = placed(ctx, std::move(pattern.parts.lower.row_ptr));
  l_col_ = placed(ctx, std::move(pattern.parts.lower.col));
  u_ptr_ = placed(ctx, std::move(pattern.parts.upper.row_ptr));
  u_col_ = placed(ctx, std::move(pattern.parts.upper.col));
  mirror_ = placed(ctx, std::move(pattern.mirror));
  const Offset of_diagonal = l_col_.size(), of_upper = of_diagonal + n;
  f_val_ = Array<T, S>(ctx, of_upper + u_col_.size());
  y_ = Array<T, S>(ctx, n);
  z_ = Array<T, S>(ctx, n);
  prepare_vectors(ctx, y_.data(), y_.size());
  prepare_vectors(ctx, z_.data(), z_.size());
  spare_ = Array<T, S>(ctx, n);

  view_.rows = n;
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

// With the first shift of 0 (or what the options say), 0.001, 0.002, ... that succeeds.
template <class T, Space S>
void IncompleteFactors<T, S>::compute(const Context<S>& ctx) {
  for (shift_ = recipe_.factors.shift;; shift_ = std::max(first_shift, 2 * shift_)) {
    view_.shift = shift_;
    verdict_ = factorise(ctx, view_, *factor_work_);
    const bool last = shift_ > last_shift;
    if (!has_failed(verdict_) && (last || verdict_.bounded == 0 || is_stable(ctx))) return;
    if (last) refuse(ctx);
    if (verdict_.not_positive > 0 && shift_ == recipe_.factors.shift) {
      // No shift helps where the diagonal itself is not positive.
      const std::vector<T> diagonal = to_vector(ctx, Span<const T, S>(view_.a_d, rows_.count()));
      if (std::any_of(diagonal.begin(), diagonal.end(), [](T d) { return !(d > T(0)); })) refuse(ctx);
    }
  }
}

// Whether M e, e a vector of ones, can be squared: bounded pivots may make factors whose inverse overflows (E. Chow
// and Y. Saad, "Experimental study of ILU preconditioners for indefinite matrices", J. Comput. Appl. Math. 86, 1997).
template <class T, Space S>
bool IncompleteFactors<T, S>::is_stable(const Context<S>& ctx) const {
  fill<T, S>(ctx, T(1), spare_.span());
  const TriangleArgs<T> args{rows_.of_vectors.data(), T(1), T(0), spare_.data(), spare_.data(), y_.data(), z_.data()};
  solve_triangles(ctx, view_, *triangle_work_, args, 1);
  Array<double, S> largest(ctx, 1);
  max_abs(ctx, Span<const T, S>(spare_.span()), largest.data());
  return fetch(ctx, largest.cspan().data) < std::sqrt(static_cast<double>(std::numeric_limits<T>::max()));
}

// The first row, in the caller's numbering, whose diagonal entry is not positive, or else a row that failed.
template <class T, Space S>
void IncompleteFactors<T, S>::refuse(const Context<S>& ctx) const {
  if (verdict_.not_positive == 0) {
    throw InputError("the values of the incomplete factors overflow, whatever is added to the diagonal; " +
                     std::to_string(verdict_.not_finite) + " rows are not finite");
  }
  const std::vector<T> diagonal = to_vector(ctx, Span<const T, S>(view_.a_d, rows_.count()));
  const std::vector<Index> user = to_vector(ctx, rows_.natural ? rows_.of_vectors.cspan() : rows_.of_user.cspan());
  std::int64_t first = rows_.count(), count = 0;
  for (Index i = 0; i < rows_.count(); ++i) {
    if (diagonal[i] > T(0)) continue;
    first = std::min<std::int64_t>(first, user[i]);
    ++count;
  }
  if (count == 0) throw NotPositiveDefinite(0, static_cast<std::int64_t>(verdict_.not_positive));
  throw NotPositiveDefinite(first, count);
}

template <class T, Space S>
void IncompleteFactors<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  const TriangleArgs<T> args{rows_.of_vectors.data(), alpha, beta, x.data, y.data, y_.data(), z_.data()};
  if (recipe_.factors.sweeps > 0) return sweep_triangles(ctx, view_, args, spare_.data(), recipe_.factors.sweeps);
  solve_triangles(ctx, view_, *triangle_work_, args, 1);
}

template <class T, Space S>
void IncompleteFactors<T, S>::apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta,
                                            Span<T, S> y, Span<char, S> work) const {
  const std::int64_t values = std::int64_t{columns} * rows_.count();
  T* const between = reinterpret_cast<T*>(work.data);
  prepare_vectors(ctx, between, 2 * values);
  const TriangleArgs<T> args{rows_.of_vectors.data(), alpha, beta, x.data, y.data, between, between + values};
  solve_triangles(ctx, view_, *triangle_work_, args, columns);
}

template <class T, Space S>
std::string IncompleteFactors<T, S>::text() const {
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
  if (shift_ > 0) text += ", diagonal shifted by " + three_digits(shift_);
  return text;
}

// All but what the operator knows of A.
template <class T, Space S>
void IncompleteFactors<T, S>::describe(OperatorInfo& info) const {
  info.name = recipe_.name;
  info.detail = text();
  info.rows = info.cols = rows_.count();
  info.nonzeros = info.stored_slots = f_val_.size();
  const auto n = static_cast<std::uint64_t>(rows_.count());
  const std::uint64_t entries = f_val_.bytes() + l_col_.bytes() + u_col_.bytes() + l_ptr_.bytes() + u_ptr_.bytes();
  info.bytes_per_product =
      static_cast<std::uint64_t>(std::max(recipe_.factors.sweeps, 1)) * (entries + 4 * n * sizeof(T)) +
      2 * n * (sizeof(Index) + sizeof(T));
  info.figures = {{"levels", static_cast<double>(levels_)},
                  {"bounded pivots", static_cast<double>(verdict_.bounded)},
                  {"shift", shift_}};
  info.bytes = {{"values of the factors", f_val_.bytes()},
                {"pattern of the factors", l_ptr_.bytes() + l_col_.bytes() + u_ptr_.bytes() + u_col_.bytes()},
                {"levels", factor_work_->bytes() + triangle_work_->bytes() + rows_.of_vectors.bytes()},
                {"intermediate vectors", y_.bytes() + z_.bytes() + spare_.bytes()},
                {"values of A", a_val_.bytes() + mirror_.bytes()}};
}

#define X(T, S)                                                                                      \
  template class IncompleteFactors<T, S>;                                                            \
  template FactorPattern factor_pattern(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&, \
                                        const FactorRecipe&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

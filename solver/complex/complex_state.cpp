// SPDX-License-Identifier: Apache-2.0
// The choice of the real form, its setup and its refresh.
#include <limits>
#include <string>

#include <newel/core/error.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/complex/complex_state.hpp"
#include "solver/complex/real_options.hpp"

namespace newel::detail {
namespace {

// Errors that name rows of the real system name the complex rows.
template <class F>
auto in_complex_rows(const F& f) {
  try {
    return f();
  } catch (const ZeroDiagonal& e) {
    throw ZeroDiagonal(e.row() / 2, (e.count() + 1) / 2, e.value());
  } catch (const NotSymmetric& e) {
    throw NotSymmetric(e.row() / 2, e.col() / 2, e.entry(), e.opposite());
  } catch (const NotPositiveDefinite& e) {
    throw NotPositiveDefinite(e.row() / 2, (e.count() + 1) / 2);
  }
}

// The turn after which the sum of the diagonal has the largest real part.
int quarters_for(double re, double im) {
  const double real_parts[] = {re, -im, -re, im};
  int best = 0;
  for (int k = 1; k < 4; ++k) {
    if (real_parts[k] > real_parts[best]) best = k;
  }
  return best;
}

}  // namespace

template <class T, Space S>
void ComplexState<T, S>::take_pattern(const CsrView<Value, S>& a) {
  rows = a.rows;
  if (a.rows != a.cols) {
    throw InputError("expected a square matrix, found " + std::to_string(a.rows) + " rows and " +
                     std::to_string(a.cols) + " columns");
  }
  if (rows > std::numeric_limits<Index>::max() / 2) {
    throw InputError("a complex matrix may have up to " + std::to_string(std::numeric_limits<Index>::max() / 2) +
                     " rows, because its real system has twice as many");
  }
  row_ptr = make_csr(ctx, CsrView<T, S>(Pattern<S>(a), {})).row_ptr;
}

template <class T, Space S>
void ComplexState<T, S>::set_up(const CsrView<Value, S>& a, SystemParts<T, S> parts) {
  change = {};
  if (own_unknowns || has_imaginary_parts(a.val)) {
    col = {};
    set_up_pairs(a, std::move(parts));
    return;
  }
  form = RealForm::real_parts;
  reason = "no imaginary part differs from zero";
  if (col.empty()) col = make_array(ctx, a.col);
  real_val = Array<T, S>(ctx, a.nnz());
  write_values(a.val);
  system.emplace(ctx, CsrView<T, S>(rows, rows, row_ptr.cspan(), a.col, real_val.cspan()), options_of_parts(options));
}

// Whether the named solver needs a symmetric matrix, possibly indefinite, and this one is none.
template <class T, Space S>
bool ComplexState<T, S>::needs_transpose_equal(const CsrView<T, S>& real) const {
  if (options.solver.name == "auto" || find_solver(options.solver.name).demands != Demand::symmetric) return false;
  return !matrix_traits(ctx, real).symmetric();
}

template <class T, Space S>
void ComplexState<T, S>::set_up_pairs(const CsrView<Value, S>& a, SystemParts<T, S> parts) {
  form = RealForm::general;
  reason = "two real unknowns for each complex one";
  Array<Offset, S> real_row_ptr(ctx, 2 * std::int64_t{rows} + 1);
  Array<Index, S> real_col(ctx, 4 * a.nnz());
  real_val = Array<T, S>(ctx, 4 * a.nnz());
  if (rows == 0) real_row_ptr = make_array(ctx, row_ptr.cspan());
  sweep(ctx, rows, RealPatternStep(row_ptr.data(), a.col.data, real_row_ptr.data(), real_col.data()));
  const CsrView<T, S> real(2 * rows, 2 * rows, real_row_ptr.cspan(), real_col.cspan(), real_val.cspan());
  if (!own_unknowns) {
    Array<double, S> sum(ctx, 2);
    sweep(ctx, rows, DiagonalSumStep<T>(row_ptr.data(), a.col.data, pairs(a.val.data), sum.data()));
    const std::vector<double> found = to_vector(ctx, sum.cspan());
    change.quarters = quarters_for(found[0], found[1]);
    if (change.quarters != 0) reason += ", turned so that the diagonal is positive on average";
  }
  write_values(a.val);
  if (!own_unknowns && needs_transpose_equal(real)) {
    const UnknownChange turn = std::exchange(change, UnknownChange{0, true});
    write_values(a.val);
    if (matrix_traits(ctx, real).symmetric()) {
      form = RealForm::symmetric;
      reason = options.solver.name + " needs a symmetric matrix, and this one is equal to its transpose";
    } else {
      change = turn;
      write_values(a.val);
    }
  }
  SystemOptions translated = options_of_pairs(host_context(ctx), options, rows);
  in_complex_rows([&] { system.emplace(ctx, real, std::move(translated), std::move(parts)); });
}

template <class T, Space S>
void ComplexState<T, S>::write_values(Span<const Value, S> values) {
  if (in_parts()) {
    sweep(ctx, values.size, SeparateStep<T>(pairs(values.data), real_val.data(), nullptr));
  } else {
    sweep(ctx, rows, RealValuesStep<T>(row_ptr.data(), pairs(values.data), change, real_val.data()));
  }
}

template <class T, Space S>
void ComplexState<T, S>::refresh(Span<const Value, S> values, RefreshScope scope) {
  ctx.make_current();
  if (!assembled) throw InputError("the system was given an operator, which has no values");
  const Span<const Value, S> canonical = assembled->values(ctx, values);
  if (in_parts() && has_imaginary_parts(canonical)) {
    system.reset();
    const Array<Index, S> kept = std::move(col);
    set_up(CsrView<Value, S>(rows, rows, row_ptr.cspan(), kept.cspan(), canonical), {});
    return;
  }
  real();
  write_values(canonical);
  in_complex_rows([&] { system->refresh(real_val.cspan(), scope); });
}

#define X(T, S) template struct ComplexState<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

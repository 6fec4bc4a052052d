// SPDX-License-Identifier: Apache-2.0
// A system whose matrix is scaled and matched.
#include "solver/equivalent/scaled_system.hpp"

#include <utility>

#include <newel/core/matrix_traits.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {

template <class T, Space S>
ScaledSystem<T, S>::ScaledSystem(const Context<S>& ctx, const CsrView<T, S>& a, const ScalingWish& wish,
                                 SystemOptions options)
    : EquivalentSystem<T, S>(ctx, a.rows),
      options_(std::move(options)),
      matrix_(ctx, wish, matrix_traits(ctx, a).symmetric()),
      permuted_(ctx, a.rows) {
  options_.solver.template of<ScalingOptions>() = {Use::off, Use::off};
  options_.solver.template of<GuessOptions>() = {};
  options_.canonicalise = false;
  make(a);
}

template <class T, Space S>
void ScaledSystem<T, S>::make(const CsrView<T, S>& a) {
  inner_.reset();  // it shows values of B
  matrix_.make(a);
  this->set_inner(matrix_.view(), options_of_inner());
}

// Large entries on the diagonal are what incomplete factors need, and a matrix that had none there rarely converges
// with less.
template <class T, Space S>
SystemOptions ScaledSystem<T, S>::options_of_inner() const {
  SystemOptions options = options_;
  const std::vector<const PrecondMethod*> general = automatic_preconditioners(AutoPrecond::general);
  const bool choose = matrix_.info().matched && !matrix_.symmetric() && same_name(options.precond.name, "auto");
  if (choose && !general.empty()) options.precond.name = general.back()->name;  // the strongest
  return options;
}

template <class T, Space S>
void ScaledSystem<T, S>::refresh(const CsrView<T, S>& a, RefreshScope scope) {
  matrix_.take_values(a.val);
  if (matrix_.needs_other_columns()) return make(a);
  inner_->refresh(matrix_.view().val, scope);
}

template <class T, Space S>
int ScaledSystem<T, S>::carry_rhs(Span<const T, S> v, Span<T, S> c) {
  const int exponent = greatest_exponent(ctx_, matrix_.powers().row.cspan(), v);
  const int shift = exponent == no_exponent ? 0 : exponent;
  scale_vector(ctx_, matrix_.powers().row.cspan(), 1, -shift, v, c);
  return shift;
}

template <class T, Space S>
void ScaledSystem<T, S>::carry_guess(int shift, Span<const T, S> x, Span<T, S> y) {
  Span<const T, S> in_order = x;
  if (!matrix_.column_of_row().empty()) {
    gather<T, S>(ctx_, x, matrix_.column_of_row(), work_.span());
    in_order = work_.cspan();
  }
  scale_vector(ctx_, matrix_.powers().column.cspan(), -1, -shift, in_order, y);
  const auto is_finite = [&](Span<const T, S> v) { return all_finite<T, S>(ctx_, v, scratch_.data()); };
  // A guess that leaves the range here is far from any solution; what is no number is refused with its name.
  if (!is_finite(Span<const T, S>(y)) && is_finite(x)) fill<T, S>(ctx_, T(0), y);
}

template <class T, Space S>
void ScaledSystem<T, S>::carry_back(int shift, Span<const T, S>, Span<const T, S> y, Span<T, S> x) {
  if (matrix_.column_of_row().empty()) return scale_vector(ctx_, matrix_.powers().column.cspan(), 1, shift, y, x);
  scale_vector(ctx_, matrix_.powers().column.cspan(), 1, shift, y, permuted_.span());
  gather<T, S>(ctx_, permuted_.cspan(), matrix_.row_of_column(), x);
}

template <class T, Space S>
double ScaledSystem<T, S>::row_norm(ResidualUnits& units, Span<const T, S> v, bool of_rhs) {
  if (!matrix_.info().scaled) return 0;
  if (of_rhs) {
    const int exponent = greatest_exponent(ctx_, matrix_.row_only(), v);
    units.row_shift = exponent == no_exponent ? 0 : exponent;
  }
  scale_vector(ctx_, matrix_.row_only(), 1, -units.row_shift, v, work_.span());
  return this->norm_of(work_.cspan());
}

template <class T, Space S>
SystemInfo ScaledSystem<T, S>::info() const {
  SystemInfo info = this->inner().info();
  info.scaling = matrix_.info();
  return info;
}

template <class T, Space S>
SystemDecision ScaledSystem<T, S>::decision() const {
  SystemDecision decision = this->inner().history().decision();
  decision.scaled = matrix_.info().scaled;
  decision.matched = matrix_.info().matched;
  return decision;
}

#define X(T, S) template class ScaledSystem<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

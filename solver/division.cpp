// SPDX-License-Identifier: Apache-2.0
// The solver of diagonal matrices.
#include <purlin/solver/division.hpp>

#include <algorithm>
#include <cmath>

#include <purlin/core/instantiate.hpp>
#include <purlin/core/parallel.hpp>
#include <purlin/solver/convergence_monitor.hpp>

namespace purlin::detail {
namespace {

// Of some rows.
struct Seen {
  bool diagonal = true;
  double max_abs = 0;
  RowCount zero, negative;
};

void count(RowCount& rows, Index row) {
  if (rows.count++ == 0) rows.first = row;
}

// The rows of `more` come later.
void join(RowCount& total, const RowCount& more) {
  total.count += more.count;
  if (total.first < 0) total.first = more.first;
}

template <class T>
std::optional<MatrixTraits> traits_of_diagonal(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a) {
  if (a.nnz() != a.rows || a.rows != a.cols) return std::nullopt;
  const Seen seen = with_row_ptr(a, [&](auto row_ptr) {
    return parallel_reduce(
        ctx, a.rows, Seen{},
        [&](Index i, Seen& mine) {
          mine.diagonal &= row_ptr[i] == i && a.col[i] == i;
          const double value = a.val[i];
          mine.max_abs = std::max(mine.max_abs, std::abs(value));
          if (value == 0) count(mine.zero, i);
          if (value < 0) count(mine.negative, i);
        },
        [](Seen& total, const Seen& mine) {
          total.diagonal &= mine.diagonal;
          total.max_abs = std::max(total.max_abs, mine.max_abs);
          join(total.zero, mine.zero);
          join(total.negative, mine.negative);
        });
  });
  if (!seen.diagonal) return std::nullopt;
  MatrixTraits traits;
  traits.square = traits.pattern_symmetric = true;
  traits.max_abs = seen.max_abs;
  traits.zero_diagonal = seen.zero;
  traits.negative_diagonal = seen.negative;
  return traits;
}

}  // namespace

template <class T, Space S>
MatrixTraits traits_of(const Context<S>& ctx, const CsrView<T, S>& a) {
  if constexpr (S == Space::host) {
    if (const std::optional<MatrixTraits> traits = traits_of_diagonal(ctx, a)) return *traits;
  }
  return matrix_traits(ctx, a);
}

template <class T, Space S>
SolveReport Division<T, S>::solve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                                  Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                  const ProgressFn& progress) {
  constexpr int most_steps = 2;
  const SolveArguments<T, S> system{ctx, A, M, b, x, stop, progress};
  ConvergenceMonitor<T, S> convergence(name(), r_.size(), system, scratch_.data(), 0);
  convergence.report().method = {};
  convergence.start_from_zero(this->zero_guess());
  if (convergence.open(r_.span())) {
    bool met = false;
    for (int step = 0; step < most_steps && !met && std::isfinite(convergence.residual()); ++step) {
      M->apply(ctx, T(1), r_.cspan(), T(1), x);
      met = convergence.form_residual(r_.span());
    }
    convergence.report().recurrence_residual = convergence.residual();
    if (met) convergence.conclude(Status::converged);
    if (!std::isfinite(convergence.residual())) convergence.conclude(Event::not_finite);
    convergence.conclude_stagnation();
  }
  return convergence.close(r_.span(), work_.span());
}

#define X(T, S)                  \
  template class Division<T, S>; \
  template MatrixTraits traits_of(const Context<S>&, const CsrView<T, S>&);
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin::detail

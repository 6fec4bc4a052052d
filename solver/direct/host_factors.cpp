// SPDX-License-Identifier: Apache-2.0
// Factors on the host for a system of either space.
#include <algorithm>
#include <type_traits>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/direct/system_factors.hpp"

namespace newel::detail {

template <class T, Space S>
ColumnPattern host_pattern(const Context<S>& ctx, const CsrView<T, S>& a) {
  constexpr Offset most = std::numeric_limits<Index>::max();
  if (a.nnz() > most) {
    throw InputError("solver 'direct' is for at most " + std::to_string(most) + " entries, and this matrix has " +
                     std::to_string(a.nnz()));
  }
  ColumnPattern rows{a.rows, {}, to_vector(ctx, a.col)};
  with_row_ptr(a, [&](auto begin) {
    const auto of_rows = to_vector(ctx, begin);
    rows.begin.assign(of_rows.begin(), of_rows.end());
  });
  return rows;
}

template <class T, Space S>
HostFactors<T, S>::HostFactors(const Context<S>& ctx, const std::vector<HostFactorisation>& table,
                               const SolverMatrix<T, S>& matrix)
    : HostFactors(ctx, table, host_pattern(ctx, matrix.a), is_symmetric(ctx, matrix), matrix.most_seconds) {}

template <class T, Space S>
HostFactors<T, S>::HostFactors(const Context<S>& ctx, const std::vector<HostFactorisation>& table, ColumnPattern rows,
                               bool symmetric, double most_seconds)
    : correction_(static_cast<std::size_t>(rows.size)),
      chain_(host_context(ctx), table, std::move(rows), symmetric, most_seconds) {
  if (S == Space::host) return;
  copied_.resize(correction_.size());
  on_device_ = Array<T, S>(ctx, static_cast<std::int64_t>(correction_.size()));
}

template <class T, Space S>
void HostFactors<T, S>::take_values(const Context<S>& ctx, Span<const T, S> values) {
  std::vector<double>& to = chain_.new_values();
  if constexpr (S == Space::host) {
    std::copy(values.begin(), values.end(), to.begin());
  } else if constexpr (std::is_same_v<T, double>) {
    copy<T>(ctx, values, Span<double, Space::host>(to));
  } else {
    const std::vector<T> on_host = to_vector(ctx, values);
    std::copy(on_host.begin(), on_host.end(), to.begin());
  }
}

template <class T, Space S>
void HostFactors<T, S>::correct(const Context<S>& ctx, Span<const T, S> r, int exponent, Span<T, S> x) {
  add_solution(ctx, r, x, [&] { chain_.solve(correction_, exponent); });
}

template <class T, Space S>
double HostFactors<T, S>::correct_least_squares(const Context<S>& ctx, Span<const T, S> r, int exponent,
                                                Span<T, S> x) {
  double least = 0;
  add_solution(ctx, r, x, [&] { least = chain_.solve_least_squares(correction_, exponent); });
  return least;
}

// x += what `solve` makes of r in `correction_`.
template <class T, Space S>
template <class Solve>
void HostFactors<T, S>::add_solution(const Context<S>& ctx, Span<const T, S> r, Span<T, S> x, const Solve& solve) {
  if constexpr (S == Space::host) {
    correction_.assign(r.begin(), r.end());
    solve();
    for (std::int64_t i = 0; i < x.size; ++i) {
      x[i] = static_cast<T>(x[i] + correction_[static_cast<std::size_t>(i)]);
    }
  } else {
    copied_.resize(static_cast<std::size_t>(r.size));
    if (on_device_.size() < r.size) on_device_ = Array<T, S>(ctx, r.size);
    copy<T>(ctx, r, Span<T, Space::host>(copied_));
    correction_.assign(copied_.begin(), copied_.end());
    solve();
    for (std::size_t i = 0; i < copied_.size(); ++i) copied_[i] = static_cast<T>(correction_[i]);
    const Span<T, S> on_device = on_device_.span().subspan(0, r.size);
    copy<T>(ctx, Span<const T, Space::host>(copied_), on_device);
    axpy<T, S>(ctx, T(1), Span<const T, S>(on_device), x);
  }
}

template <class T>
std::unique_ptr<SystemFactors<T, Space::host>> make_system_factors(const Context<Space::host>& ctx,
                                                                   const SolverMatrix<T, Space::host>& matrix) {
  return std::make_unique<HostFactors<T, Space::host>>(ctx, host_factorisations(), matrix);
}

#define X(T, S)                                                                       \
  template ColumnPattern host_pattern<T, S>(const Context<S>&, const CsrView<T, S>&); \
  template class HostFactors<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X
#define X(T, S) \
  template std::unique_ptr<SystemFactors<T, S>> make_system_factors(const Context<S>&, const SolverMatrix<T, S>&);
NEWEL_FOR_TYPES(X, Space::host)
#undef X

}  // namespace newel::detail

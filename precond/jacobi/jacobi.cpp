// SPDX-License-Identifier: Apache-2.0
// Jacobi in both spaces.
#include "precond/jacobi/jacobi.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "precond/jacobi/jacobi_steps.hpp"

namespace newel {

std::uint64_t detail::estimate_jacobi_bytes(const PrecondOptions&, const SpmvFormat&, Index rows, Offset,
                                            std::size_t value_bytes) {
  return static_cast<std::uint64_t>(rows) * (value_bytes + sizeof(std::uint32_t));
}

namespace {

// Rows that Jacobi does not support.
struct RefusedRows {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t count = 0;
  double value = 0;  // the diagonal entry of the first
};

// Those of all ranks.
RefusedRows of_all_ranks(Communicator& ranks, const RefusedRows& own) {
  const double mine[] = {static_cast<double>(own.count), static_cast<double>(own.first), own.value};
  std::vector<double> all(3 * static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(mine, 3, all.data());
  RefusedRows found;
  for (std::size_t r = 0; r < all.size(); r += 3) {
    if (all[r] == 0) continue;
    found.count += static_cast<std::int64_t>(all[r]);
    const auto first = static_cast<std::int64_t>(all[r + 1]);
    if (first < found.first) found = {first, found.count, all[r + 2]};
  }
  return found;
}

template <class T, Space S>
[[noreturn]] void refuse(const Context<S>& ctx, const Array<Index, S>& users, const std::vector<T>& diagonal) {
  const auto user_row = to_vector(ctx, users.cspan());
  RefusedRows found;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const T inverse = T(1) / diagonal[i];
    if (std::isfinite(inverse) && inverse != T(0)) continue;
    ++found.count;
    const std::int64_t row = detail::first_row(ctx) + (user_row.empty() ? static_cast<Index>(i) : user_row[i]);
    if (row > found.first) continue;
    found.first = row;
    found.value = static_cast<double>(diagonal[i]);
  }
  if (detail::ranks_of(ctx) != nullptr) found = of_all_ranks(*detail::ranks_of(ctx)->communicator, found);
  throw ZeroDiagonal(found.first, found.count, found.value);
}

}  // namespace

template <class T, Space S>
JacobiOperator<T, S>::JacobiOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                     const PrecondOptions&, const SpmvOptions&)
    : inverse_(ctx, a.rows) {
  const auto start = std::chrono::steady_clock::now();
  if (a.rows != a.cols) throw InputError("Jacobi needs a square matrix");
  if (!order.natural()) user_row_ = make_array(ctx, order.old_of_new.cspan());
  find_diagonal(ctx, a);
  setup_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// New memory costs more than the search: positions that fit are found as they are kept.
template <class T, Space S>
void JacobiOperator<T, S>::find_diagonal(const Context<S>& ctx, const CsrView<T, S>& a) {
  const auto find = [&](auto* position) {
    with_row_ptr(a, [&](auto row_ptr) {
      detail::sweep(ctx, a.rows, detail::FindDiagonalStep(row_ptr.data, a.col.data, position));
    });
  };
  if (a.value_map == nullptr && a.nnz() < Offset{ValueMap<S>::none32}) {
    diagonal_source_.narrow = Array<std::uint32_t, S>(ctx, a.rows);
    diagonal_source_.source_size = a.nnz();
    find(diagonal_source_.narrow.data());
    return take(ctx, a.val, diagonal_source_.narrow.cspan());
  }
  Array<Offset, S> position(ctx, a.rows);
  find(position.data());
  diagonal_source_ = make_value_map(ctx, position.cspan(), a.nnz(), a.value_map);
  take(ctx, a.val, position.cspan());
}

template <class T, Space S>
JacobiOperator<T, S>::JacobiOperator(const Context<S>& ctx, const LinearOperator<T, S>& a,
                                     Span<const Index, S> user_row)
    : operator_(&a), inverse_(ctx, a.rows()), user_row_(make_array(ctx, user_row)) {}

template <class T, Space S>
std::unique_ptr<JacobiOperator<T, S>> JacobiOperator<T, S>::of_operator(const Context<S>& ctx,
                                                                        const LinearOperator<T, S>& a,
                                                                        Span<const Index, S> user_row) {
  const auto start = std::chrono::steady_clock::now();
  if (a.rows() != a.cols()) throw InputError("Jacobi needs a square matrix");
  std::unique_ptr<JacobiOperator> made(new JacobiOperator(ctx, a, user_row));
  if (!made->take_from_operator(ctx)) return nullptr;
  made->setup_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

// False where the operator does not show its diagonal.
template <class T, Space S>
bool JacobiOperator<T, S>::take_from_operator(const Context<S>& ctx) {
  if (!operator_->matrix_diagonal(ctx, inverse_.own())) return false;
  if (inverse_.invert(ctx)) return true;
  operator_->matrix_diagonal(ctx, inverse_.own());
  refuse(ctx, user_row_, to_vector(ctx, inverse_.view()));
}

template <class T, Space S>
void JacobiOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  if (operator_ != nullptr) {
    if (!take_from_operator(ctx)) throw InputError("matrix_diagonal() returned false; it succeeded at setup");
    return;
  }
  detail::require_values(diagonal_source_.source_size, values.size);
  if (!diagonal_source_.narrow.empty()) return take(ctx, values, diagonal_source_.narrow.cspan());
  take(ctx, values, diagonal_source_.wide.cspan());
}

template <class T, Space S>
Slots<T, S> JacobiOperator<T, S>::slots(const Context<S>& ctx) {
  return {inverse_.own(), positions_of(ctx, diagonal_source_, rows())};
}

template <class T, Space S>
void JacobiOperator<T, S>::slots_written(const Context<S>& ctx) {
  if (inverse_.invert(ctx)) return;
  std::vector<T> diagonal = to_vector(ctx, inverse_.view());
  for (T& value : diagonal) value = T(1) / value;
  refuse(ctx, user_row_, diagonal);
}

// A missing entry counts as 0, and its row is named like that of a stored one.
template <class T, Space S>
template <class Position>
void JacobiOperator<T, S>::take(const Context<S>& ctx, Span<const T, S> values, Span<const Position, S> position) {
  if (inverse_.take(ctx, values, position)) return;
  const std::vector<T> all = to_vector(ctx, values);
  std::vector<T> diagonal;
  for (const Position at : to_vector(ctx, position)) {
    diagonal.push_back(at == static_cast<Position>(-1) ? T(0) : all[static_cast<std::size_t>(at)]);
  }
  refuse(ctx, user_row_, diagonal);
}

template <class T, Space S>
void JacobiOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  multiply<T, S>(ctx, alpha, inverse_.view(), x, beta, y);
}

template <class T, Space S>
void JacobiOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  multiply_dot<T, S>(ctx, inverse_.view(), x, y, xy);
}

template <class T, Space S>
OperatorInfo JacobiOperator<T, S>::info() const {
  OperatorInfo info;
  info.name = "jacobi";
  info.rows = info.cols = rows();
  info.nonzeros = info.stored_slots = rows();
  info.bytes = {{"values", inverse_.bytes()}, {"value map", diagonal_source_.bytes() + user_row_.bytes()}};
  info.setup_seconds = {{"diagonal", setup_seconds_}};
  return info;
}

#define X(T, S) template class JacobiOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel

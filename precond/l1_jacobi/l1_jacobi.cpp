// SPDX-License-Identifier: Apache-2.0
// l1-Jacobi in both spaces.
#include "precond/l1_jacobi/l1_jacobi.hpp"

#include <algorithm>
#include <chrono>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/vector_ops_steps.hpp"
#include "precond/l1_jacobi/l1_jacobi_steps.hpp"

namespace newel {
namespace {

template <Space S>
Array<Offset, S> wide_row_ptr(const Context<S>& ctx, Span<const Offset, S> row_ptr) {
  return make_array(ctx, row_ptr);
}

template <Space S>
Array<Offset, S> wide_row_ptr(const Context<S>& ctx, Span<const std::int32_t, S> row_ptr) {
  Array<Offset, S> wide(ctx, row_ptr.size);
  detail::sweep(ctx, row_ptr.size, detail::ConvertStep<std::int32_t, Offset>(row_ptr.data, wide.data()));
  return wide;
}

}  // namespace

template <class T, Space S>
L1JacobiOperator<T, S>::L1JacobiOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>&,
                                         const PrecondOptions&, const SpmvOptions&)
    : rows_(a.rows), nonzeros_(a.nnz()), inverse_(ctx, a.rows) {
  const auto start = std::chrono::steady_clock::now();
  if (a.rows != a.cols) throw InputError("l1-Jacobi needs a square matrix");
  with_row_ptr(a, [&](auto row_ptr) { row_ptr_ = wide_row_ptr(ctx, row_ptr); });
  if (a.value_map != nullptr) source_ = copy_of(ctx, *a.value_map);
  take(ctx, a.val, static_cast<const Offset*>(nullptr));
  setup_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// One entry at least, so that ranks without rows take the steps of a diagonal M too.
template <class T, Space S>
L1JacobiOperator<T, S>::L1JacobiOperator(const Context<S>& ctx, Span<const Offset, S> row_ptr, Span<const T, S> val,
                                         Span<const Index, S> row_of)
    : rows_(static_cast<Index>(std::max<std::int64_t>(row_ptr.size - 1, 0))),
      nonzeros_(val.size),
      row_ptr_(make_array(ctx, row_ptr)),
      row_of_(make_array(ctx, row_of)),
      inverse_(ctx, std::max<Index>(rows_, 1)) {
  const auto start = std::chrono::steady_clock::now();
  take(ctx, val, static_cast<const Offset*>(nullptr));
  setup_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class T, Space S>
template <class Position>
void L1JacobiOperator<T, S>::take(const Context<S>& ctx, Span<const T, S> values, const Position* position) {
  if (rows_ == 0) return;
  const Index* const row_of = row_of_.empty() ? nullptr : row_of_.data();
  detail::sweep(ctx, rows_,
                detail::L1RowStep<T, Position>(row_ptr_.data(), row_of, position, values.data, inverse_.data()));
}

template <class T, Space S>
void L1JacobiOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  detail::require_values(source_.identity() ? nonzeros_ : source_.source_size, values.size);
  if (!source_.narrow.empty()) return take(ctx, values, source_.narrow.data());
  take(ctx, values, source_.wide.empty() ? nullptr : source_.wide.data());
}

template <class T, Space S>
Slots<T, S> L1JacobiOperator<T, S>::slots(const Context<S>& ctx) {
  if (slots_.empty()) slots_ = Array<T, S>(ctx, nonzeros_);
  return {slots_.span(), positions_of(ctx, source_, nonzeros_)};
}

template <class T, Space S>
void L1JacobiOperator<T, S>::slots_written(const Context<S>& ctx) {
  take(ctx, slots_.cspan(), static_cast<const Offset*>(nullptr));
}

template <class T, Space S>
void L1JacobiOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  multiply<T, S>(ctx, alpha, inverse(), x, beta, y);
}

template <class T, Space S>
void L1JacobiOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  multiply_dot<T, S>(ctx, inverse(), x, y, xy);
}

template <class T, Space S>
OperatorInfo L1JacobiOperator<T, S>::info() const {
  OperatorInfo info;
  info.name = "l1-jacobi";
  info.rows = info.cols = rows();
  info.nonzeros = info.stored_slots = rows_;
  info.bytes = {{"values", inverse_.bytes() + slots_.bytes()},
                {"row pointers", row_ptr_.bytes() + row_of_.bytes()},
                {"value map", source_.bytes()}};
  info.setup_seconds = {{"row sums", setup_seconds_}};
  return info;
}

#define X(T, S) template class L1JacobiOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel

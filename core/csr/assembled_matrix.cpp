// SPDX-License-Identifier: Apache-2.0
// From a checked pattern in any form to a canonical matrix with its values.
#include <newel/core/assembled_matrix.hpp>

#include <complex>
#include <string>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/csr/complex_steps.hpp"
#include "core/csr/csr_check.hpp"
#include "core/csr/input_entries.hpp"
#include "core/memory/available_memory.hpp"
#include "core/vectors/instantiate.hpp"

namespace newel {
namespace {

template <Space S>
void require_memory(const Context<S>& ctx, const detail::InputEntries& entries) {
  detail::require_available(ctx, "assembling this matrix (an estimate)", detail::assembly_bytes(ctx, entries));
}

// The pattern alone is judged, whatever the values are.
template <class T, Space S>
bool is_canonical(const Context<S>& ctx, const CsrView<T, S>& a) {
  return detail::csr_fault(ctx, CsrView<double, S>(Pattern<S>(a), {})) == detail::no_fault;
}

template <class T, Space S>
void sum_repeated(const Context<S>& ctx, Span<const T, S> values, const Array<Offset, S>& first,
                  const Array<Offset, S>& source, Span<T, S> sums) {
  gather_sum<T, S>(ctx, values, first.cspan(), source.cspan(), sums);
}
template <class T, Space S>
void sum_repeated(const Context<S>& ctx, Span<const std::complex<T>, S> values, const Array<Offset, S>& first,
                  const Array<Offset, S>& source, Span<std::complex<T>, S> sums) {
  detail::sweep(ctx, sums.size,
                detail::PairSumStep<T>(reinterpret_cast<const detail::Pair<T>*>(values.data), first.data(),
                                       source.data(), reinterpret_cast<detail::Pair<T>*>(sums.data)));
}

}  // namespace

template <class T, Space S>
AssembledMatrix<T, S>::AssembledMatrix(const Context<S>& ctx, const MatrixInput<T, S>& input)
    : caller_count_(input.values().size) {
  input.check_lengths();
  detail::check_pointers(ctx, input.form());
  if (const auto csr = as_csr(input); csr && is_canonical(ctx, *csr)) {
    view_ = *csr;
    borrowed_ = true;
    return;
  }
  detail::check_items(ctx, input.form());
  const detail::InputEntries entries = detail::entries_of(input.form());
  require_memory(ctx, entries);
  detail::AssembledPattern<S> pattern = detail::assemble(ctx, entries);
  matrix_.rows = static_cast<Index>(input.rows());
  matrix_.cols = static_cast<Index>(input.cols());
  matrix_.row_ptr = std::move(pattern.row_ptr);
  matrix_.col = std::move(pattern.col);
  matrix_.val = Array<T, S>(ctx, matrix_.col.size());
  begin_ = std::move(pattern.begin);
  source_ = std::move(pattern.source);
  values(ctx, input.values());
  view_ = matrix_;
}

template <class T, Space S>
Span<const T, S> AssembledMatrix<T, S>::values(const Context<S>& ctx, Span<const T, S> callers) {
  if (callers.size != caller_count_) {
    throw InputError("expected " + std::to_string(caller_count_) + " values, found " + std::to_string(callers.size));
  }
  if (borrowed_) return callers;
  sum_repeated(ctx, callers, begin_, source_, matrix_.val.span());
  return matrix_.val.cspan();
}

template <class T, Space S>
void AssembledMatrix<T, S>::drop_pattern() {
  view_ = {};
  matrix_.row_ptr = {};
  matrix_.col = {};
}

#define X(T, S)                         \
  template class AssembledMatrix<T, S>; \
  template class AssembledMatrix<std::complex<T>, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel

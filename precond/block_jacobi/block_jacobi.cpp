// SPDX-License-Identifier: Apache-2.0
// Block Jacobi in both spaces.
#include "precond/block_jacobi/block_jacobi.hpp"

#include <chrono>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/block_jacobi/block_inverse.hpp"
#include "precond/block_jacobi/block_jacobi_steps.hpp"
#include "precond/block_jacobi/block_layout.hpp"
#include "precond/matrix_on_host.hpp"

namespace newel {

template <class T, Space S>
BlockJacobiOperator<T, S>::BlockJacobiOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>&,
                                               const PrecondOptions& options, const SpmvOptions&)
    : singular_(ctx, 1) {
  const auto start = std::chrono::steady_clock::now();
  if (a.rows != a.cols) throw InputError("block Jacobi needs a square matrix");
  Csr<T, Space::host> kept;
  const detail::BlockLayout layout(detail::matrix_on_host(ctx, a, kept), options.of<BlockJacobiOptions>().rows);
  first_ = make_array(ctx, layout.first);
  block_of_ = make_array(ctx, layout.block_of);
  offset_ = make_array(ctx, layout.offset);
  largest_ = layout.largest();
  const auto position = make_array(ctx, layout.position);
  source_ = make_value_map(ctx, position.cspan(), a.nnz(), a.value_map);
  inverse_ = Array<T, S>(ctx, position.size());
  invert(ctx, a.val, position.data());
  setup_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class T, Space S>
template <class Position>
void BlockJacobiOperator<T, S>::invert(const Context<S>& ctx, Span<const T, S> values, const Position* position) {
  const auto blocks = static_cast<Index>(offset_.size() - 1);
  const int none = 0;
  copy<int>(ctx, Span<const int, Space::host>(&none, 1), singular_.span());
  detail::invert_blocks(ctx, detail::BlockInverses<T, Position>{blocks, first_.data(), offset_.data(), values.data,
                                                                position, inverse_.data(), singular_.data()});
  singular_blocks_ = fetch(ctx, static_cast<const int*>(singular_.data()));
}

template <class T, Space S>
void BlockJacobiOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  detail::require_values(source_.source_size, values.size);
  if (!source_.narrow.empty()) return invert(ctx, values, source_.narrow.data());
  invert(ctx, values, source_.wide.data());
}

template <class T, Space S>
Slots<T, S> BlockJacobiOperator<T, S>::slots(const Context<S>& ctx) {
  if (slots_.empty()) {
    slots_ = Array<T, S>(ctx, inverse_.size());
    fill<T, S>(ctx, T(0), slots_);
  }
  return {slots_.span(), positions_of(ctx, source_, inverse_.size())};
}

template <class T, Space S>
void BlockJacobiOperator<T, S>::slots_written(const Context<S>& ctx) {
  invert(ctx, slots_.cspan(), static_cast<const Offset*>(nullptr));
}

template <class T, Space S>
void BlockJacobiOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta,
                                      Span<T, S> y) const {
  detail::sweep(ctx, rows(),
                detail::BlockProduct<T, false>(block_of_.data(), first_.data(), offset_.data(), inverse_.data(),
                                               x.data, y.data, alpha, beta, nullptr));
}

template <class T, Space S>
void BlockJacobiOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  detail::sweep(ctx, rows(),
                detail::BlockProduct<T, true>(block_of_.data(), first_.data(), offset_.data(), inverse_.data(),
                                              x.data, y.data, T(1), T(0), xy));
}

template <class T, Space S>
OperatorInfo BlockJacobiOperator<T, S>::info() const {
  OperatorInfo info;
  info.name = "block-jacobi";
  info.rows = info.cols = rows();
  info.nonzeros = info.stored_slots = inverse_.size();
  info.bytes_per_product = inverse_.bytes() + block_of_.bytes() + first_.bytes() + offset_.bytes() +
                           2 * sizeof(T) * static_cast<std::uint64_t>(rows());
  info.figures = {{"blocks", static_cast<double>(offset_.size() - 1)},
                  {"rows of the largest block", static_cast<double>(largest_)},
                  {"singular blocks", static_cast<double>(singular_blocks_)}};
  info.bytes = {{"values", inverse_.bytes() + slots_.bytes()},
                {"blocks", first_.bytes() + offset_.bytes() + block_of_.bytes()},
                {"value map", source_.bytes()}};
  info.setup_seconds = {{"inverses", setup_seconds_}};
  return info;
}

#define X(T, S) template class BlockJacobiOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel

// SPDX-License-Identifier: Apache-2.0
// Prolongators on the host, in blocks and in the hierarchy's numbering.
#include <algorithm>

#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/amg/cycle/transfer.hpp"

namespace newel::detail {
namespace {

// Row i of the interleaved vectors is row `from[i]` of x.
template <class T>
void gather_rows(const HostContext& ctx, int columns, const T* x, Span<const Index, Space::host> from, T* to) {
  parallel_for(ctx, from.size,
               [&](std::int64_t i) { std::copy_n(x + std::int64_t{from[i]} * columns, columns, to + i * columns); });
}

}  // namespace

template <class T>
AmgTransfer<T, Space::host>::AmgTransfer(const HostContext& ctx, const AmgLevel<Space::host>& level,
                                         const LevelOrder<Space::host>& order)
    : p_(std::make_unique<HostBlockRows<T>>(ctx, level.p)),
      transposed_(std::make_unique<HostBlockRows<T>>(ctx, level.p, &level.galerkin.transposed())),
      old_of_new_(order.old_of_new.cspan()),
      new_of_old_(order.new_of_old.cspan()) {
  if (!old_of_new_.empty()) natural_ = Array<T, Space::host>(ctx, level.a.scalar_rows());
}

template <class T>
void AmgTransfer<T, Space::host>::refresh(const HostContext& ctx, const AmgLevel<Space::host>& level) {
  p_->replace(ctx, level.p.val.cspan());
  transposed_->replace(ctx, level.p.val.cspan());
}

template <class T>
void AmgTransfer<T, Space::host>::restrict_to(const HostContext& ctx, const T* r, T* b) const {
  Span<const T, Space::host> from(r, p_->rows());
  if (!new_of_old_.empty()) {
    gather(ctx, from, new_of_old_, natural_.span());
    from = natural_.cspan();
  }
  transposed_->apply(ctx, T(1), from, T(0), {b, p_->cols()});
}

template <class T>
void AmgTransfer<T, Space::host>::prolong(const HostContext& ctx, const T* e, T* x) const {
  const Span<T, Space::host> to(x, p_->rows());
  const bool ordered = !old_of_new_.empty();
  p_->apply(ctx, T(1), {e, p_->cols()}, T(0), ordered ? natural_.span() : to);
  if (ordered) gather(ctx, natural_.cspan(), old_of_new_, to);
}

template <class T>
std::uint64_t AmgTransfer<T, Space::host>::column_work_bytes(int columns) const {
  return static_cast<std::uint64_t>(columns) * natural_.bytes();
}

template <class T>
void AmgTransfer<T, Space::host>::restrict_columns(const HostContext& ctx, int columns, const T* r, T* b,
                                                   ColumnLayout, Span<char, Space::host> work) const {
  const std::int64_t fine = std::int64_t{columns} * p_->rows(), coarse = std::int64_t{columns} * p_->cols();
  if (!new_of_old_.empty()) {
    T* const natural = reinterpret_cast<T*>(work.data);
    gather_rows(ctx, columns, r, new_of_old_, natural);
    r = natural;
  }
  transposed_->apply_columns(ctx, columns, T(1), {r, fine}, T(0), {b, coarse}, {});
}

template <class T>
void AmgTransfer<T, Space::host>::prolong_columns(const HostContext& ctx, int columns, const T* e, ColumnLayout, T* x,
                                                  Span<char, Space::host> work) const {
  const std::int64_t fine = std::int64_t{columns} * p_->rows(), coarse = std::int64_t{columns} * p_->cols();
  T* const natural = old_of_new_.empty() ? x : reinterpret_cast<T*>(work.data);
  p_->apply_columns(ctx, columns, T(1), {e, coarse}, T(0), {natural, fine}, {});
  if (!old_of_new_.empty()) gather_rows<T>(ctx, columns, natural, old_of_new_, x);
}

template <class T>
Offset AmgTransfer<T, Space::host>::entries() const {
  return p_->info().nonzeros + transposed_->info().nonzeros;
}

template <class T>
std::uint64_t AmgTransfer<T, Space::host>::bytes() const {
  return p_->info().total_bytes() + transposed_->info().total_bytes() + natural_.bytes();
}

template <class T>
std::uint64_t AmgTransfer<T, Space::host>::bytes_read() const {
  return p_->info().bytes_per_product + transposed_->info().bytes_per_product;
}

template class AmgTransfer<double, Space::host>;
template class AmgTransfer<float, Space::host>;

}  // namespace newel::detail

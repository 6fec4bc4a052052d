// SPDX-License-Identifier: Apache-2.0
// Prolongators on the host, in blocks and in the hierarchy's numbering.
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/amg/cycle/transfer.hpp"

namespace newel::detail {

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

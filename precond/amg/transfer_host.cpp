// SPDX-License-Identifier: Apache-2.0
// Prolongators on the host: two matrices in the format csr, which takes rectangular ones in any order.
#include <purlin/core/instantiate.hpp>
#include <purlin/precond/amg/placed_csr.hpp>
#include <purlin/precond/amg/transfer.hpp>
#include <purlin/spmv/registry.hpp>

namespace purlin::detail {
namespace {

template <class T>
OperatorPtr<T, Space::host> csr_of(const HostContext& ctx, const ScalarPattern<Space::host>& pattern,
                                   const HostBlockCsr& p) {
  const PlacedCsr<T, Space::host> placed(ctx, pattern, p.val.cspan());
  return make_spmv<T, Space::host>(ctx, placed.view(), RowOrder<Space::host>{}, SpmvOptions{});
}

template <class T>
void apply(const HostContext& ctx, const MatrixOperator<T, Space::host>& a, const T* x, T* y) {
  a.apply(ctx, T(1), Span<const T, Space::host>(x, a.cols()), T(0), Span<T, Space::host>(y, a.rows()));
}

}  // namespace

template <class T>
AmgTransfer<T, Space::host>::AmgTransfer(const HostContext& ctx, const AmgLevel<Space::host>& level,
                                         const LevelOrder<Space::host>& order)
    : p_(csr_of<T>(ctx, scalar_rows(ctx, level.p, to_vector(ctx, order.old_of_new.cspan())), level.p)),
      transposed_(csr_of<T>(ctx, scalar_columns(ctx, level.p, to_vector(ctx, order.new_of_old.cspan())), level.p)) {}

template <class T>
void AmgTransfer<T, Space::host>::refresh(const HostContext& ctx, const AmgLevel<Space::host>& level) {
  Array<T, Space::host> values(ctx, level.p.val.size());
  convert(ctx, level.p.val.cspan(), values.span());
  p_->refresh(ctx, values.cspan());
  transposed_->refresh(ctx, values.cspan());
}

template <class T>
void AmgTransfer<T, Space::host>::restrict_to(const HostContext& ctx, const T* r, T* b) const {
  apply(ctx, *transposed_, r, b);
}

template <class T>
void AmgTransfer<T, Space::host>::prolong(const HostContext& ctx, const T* e, T* x) const {
  apply(ctx, *p_, e, x);
}

template <class T>
Offset AmgTransfer<T, Space::host>::entries() const {
  return p_->info().nonzeros + transposed_->info().nonzeros;
}

template <class T>
std::uint64_t AmgTransfer<T, Space::host>::bytes() const {
  return p_->info().total_bytes() + transposed_->info().total_bytes();
}

template <class T>
std::uint64_t AmgTransfer<T, Space::host>::bytes_read() const {
  return p_->info().bytes_per_product + transposed_->info().bytes_per_product;
}

template class AmgTransfer<double, Space::host>;
template class AmgTransfer<float, Space::host>;

}  // namespace purlin::detail

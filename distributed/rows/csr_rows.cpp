// SPDX-License-Identifier: Apache-2.0
// A rank's rows in CSR: those that need other ranks are multiplied beside the others, when their halo has come.
#include <algorithm>
#include <cmath>
#include <utility>

#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/spmv/registry.hpp>
#include "core/ranks/device_ranks.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/rows/halo.hpp"
#include "distributed/rows/rank_info.hpp"
#include "distributed/rows/rank_product.hpp"
#include "distributed/links/side_work.hpp"
#include "distributed/rows/values_in_space.hpp"

namespace newel::detail {
namespace {

// The larger, or NaN if one of them is NaN.
double larger(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

template <class T, Space S>
class CsrRows final : public RankProduct<T, S> {
 public:
  CsrRows(const Context<S>& ctx, const RankRows<T>& a, const RowSplit& split,
          const std::vector<std::int64_t>& first_rows)
      : inner_(part_operator<T, S>(ctx, split.inner, static_cast<Index>(a.row_ptr.size - 1), a.val)),
        inner_entries_(static_cast<Offset>(split.inner.source.size())) {
    if (first_rows.size() == 2) return;
    const std::size_t read = split.read.size() + split.ghosts.size();
    border_ = part_operator<T, S>(ctx, split.border, static_cast<Index>(read), a.val);
    border_entries_ = static_cast<Offset>(split.border.source.size());
    side_ = std::make_unique<SideWork<S>>(ctx);
    halo_ = std::make_unique<Halo<T, S>>(side_->context(), first_rows, split.read, split.ghosts, split.new_of_old);
    if constexpr (S == Space::device) exchange_capturable_ = ranks_of(ctx)->device->capturable();
  }

  // A map without entries is that of a matrix whose values are the caller's, as they are.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override {
    if (inner_entries_ > 0) inner_->refresh(ctx, values);
    if (border_entries_ > 0) border_->refresh(ctx, values);
  }

  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override {
    if (alone()) return inner_->apply(ctx, alpha, x, beta, y);
    side_->start();
    halo_->start(side_->context(), x);
    inner_->apply(ctx, alpha, x, beta, of_inner(y));
    halo_->finish();
    border_->apply(side_->context(), alpha, halo_->values(), beta, of_border(y));
    side_->finish();
  }

  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override {
    if (alone()) return inner_->apply_dot(ctx, x, y, xy);
    apply(ctx, T(1), x, T(0), y);
    dot<T, S>(ctx, x, y, xy);
  }

  // A row's terms are all of one part, so that each part is judged as if it were a matrix of its own.
  ResidualSums residual(const Context<S>& ctx, Span<const T, S> b, Span<const T, S> x, const ResidualScale& scale,
                        Span<T, S> r) const override {
    if (alone()) return *inner_->residual(ctx, b, x, scale, r);
    side_->start();
    halo_->start(side_->context(), x);
    const ResidualSums all = *inner_->residual(ctx, of_inner(b), x, scale, of_inner(r));
    halo_->finish();
    side_->finish();
    const ResidualSums more = *border_->residual(ctx, of_border(b), halo_->values(), scale, of_border(r));
    // A part without rows does not know the largest x.
    return {all.square + more.square,
            all.sum + more.sum,
            all.error_sum + more.error_sum,
            all.beyond_square + more.beyond_square,
            std::max(all.worst_row, more.worst_row),
            larger(all.x_max, more.x_max)};
  }

  OperatorInfo info() const override { return alone() ? inner_->info() : joined(inner_->info(), border_->info()); }
  std::uint64_t more_bytes() const override { return alone() ? 0 : halo_->bytes(); }
  bool capturable() const override {
    return exchange_capturable_ && inner_->capturable() && (alone() || border_->capturable());
  }

 private:
  bool alone() const { return border_ == nullptr; }
  template <class Vector>
  Vector of_inner(Vector v) const {
    return v.subspan(0, inner_->rows());
  }
  template <class Vector>
  Vector of_border(Vector v) const {
    return v.subspan(inner_->rows(), border_->rows());
  }

  OperatorPtr<T, S> inner_;
  OperatorPtr<T, S> border_;  // null: one rank has all
  std::unique_ptr<SideWork<S>> side_;
  std::unique_ptr<Halo<T, S>> halo_;  // of `side_`
  Offset inner_entries_, border_entries_ = 0;
  bool exchange_capturable_ = true;
};

}  // namespace

template <class T, Space S>
OperatorPtr<T, S> part_operator(const Context<S>& ctx, const RowPart& part, Index cols,
                                Span<const T, Space::host> values) {
  const auto rows = static_cast<Index>(part.row_ptr.size()) - 1;
  Array<T, Space::host> val(host_context(ctx), static_cast<std::int64_t>(part.source.size()));
  parallel_for(host_context(ctx), val.size(),
               [&](std::int64_t k) { val[k] = values[part.source[static_cast<std::size_t>(k)]]; });
  Array<Offset, S> row_ptr_there, source_there;
  Array<Index, S> col_there;
  Array<T, S> val_there;
  const ValueMap<S> map = make_value_map(
      ctx, in_space<Offset, S>(ctx, Span<const Offset, Space::host>(part.source), source_there), values.size);
  CsrView<T, S> view(rows, cols,
                     in_space<Offset, S>(ctx, Span<const Offset, Space::host>(part.row_ptr), row_ptr_there),
                     in_space<Index, S>(ctx, Span<const Index, Space::host>(part.col), col_there),
                     in_space<T, S>(ctx, val.cspan(), val_there));
  view.value_map = &map;
  return make_spmv<T, S>(ctx, view, RowOrder<S>{}, SpmvOptions{"csr"});
}

template <class T, Space S>
std::unique_ptr<RankProduct<T, S>> make_csr_rows(const Context<S>& ctx, const RankRows<T>& a, const RowSplit& split,
                                                 const std::vector<std::int64_t>& first_rows) {
  return std::make_unique<CsrRows<T, S>>(ctx, a, split, first_rows);
}

#define X(T, S)                                                                                                     \
  template OperatorPtr<T, S> part_operator(const Context<S>&, const RowPart&, Index, Span<const T, Space::host>);   \
  template std::unique_ptr<RankProduct<T, S>> make_csr_rows(const Context<S>&, const RankRows<T>&, const RowSplit&, \
                                                            const std::vector<std::int64_t>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

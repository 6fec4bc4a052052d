// SPDX-License-Identifier: Apache-2.0
// A rank's rows on its device in CSR, as they are: made at once, for systems that need few products.
#include <utility>

#include <newel/core/vector_ops.hpp>
#include <newel/spmv/registry.hpp>
#include "core/ranks/device_ranks.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/rows/halo.hpp"
#include "distributed/rows/rank_csr.hpp"

namespace newel::detail {
namespace {

// Vectors are in the caller's order. A row is multiplied when the halo has come, which takes little beside the rows.
template <class T>
class RankCsr final : public RankProduct<T, Space::device> {
 public:
  RankCsr(const Context<Space::device>& ctx, const std::vector<std::int64_t>& first_rows, const RowsOnDevice<T>& rows)
      : halo_(ctx, first_rows, {}, rows.columns->others, numbers(rows.columns->rows())) {
    const Pattern<Space::device> pattern = rows.columns->pattern();
    const CsrView<T, Space::device> view(pattern.rows, pattern.cols, pattern.row_ptr64, pattern.col,
                                         rows.val.cspan());
    matrix_ = make_spmv<T, Space::device>(ctx, view, RowOrder<Space::device>{}, SpmvOptions{"csr"});
    x_and_halo_ = Array<T, Space::device>(ctx, pattern.cols);
    capturable_ = ranks_of(ctx)->device->capturable();
  }

  void refresh(const Context<Space::device>& ctx, Span<const T, Space::device> values) override {
    if (matrix_->info().nonzeros > 0) matrix_->refresh(ctx, values);
  }
  void apply(const Context<Space::device>& ctx, T alpha, Span<const T, Space::device> x, T beta,
             Span<T, Space::device> y) const override {
    matrix_->apply(ctx, alpha, with_halo(ctx, x), beta, y);
  }
  void apply_dot(const Context<Space::device>& ctx, Span<const T, Space::device> x, Span<T, Space::device> y,
                 double* xy) const override {
    apply(ctx, T(1), x, T(0), y);
    dot<T, Space::device>(ctx, x, Span<const T, Space::device>(y), xy);
  }
  ResidualSums residual(const Context<Space::device>& ctx, Span<const T, Space::device> b,
                        Span<const T, Space::device> x, const ResidualScale& scale,
                        Span<T, Space::device> r) const override {
    return *matrix_->residual(ctx, b, with_halo(ctx, x), scale, r);
  }
  OperatorInfo info() const override { return matrix_->info(); }
  std::uint64_t more_bytes() const override { return halo_.bytes() + x_and_halo_.bytes(); }
  bool capturable() const override { return capturable_ && matrix_->capturable(); }

 private:
  static std::vector<Index> numbers(Index rows) {
    std::vector<Index> all(static_cast<std::size_t>(rows));
    for (Index i = 0; i < rows; ++i) all[static_cast<std::size_t>(i)] = i;
    return all;
  }
  Span<const T, Space::device> with_halo(const Context<Space::device>& ctx, Span<const T, Space::device> x) const {
    const Span<T, Space::device> all = x_and_halo_.span();
    halo_.start(ctx, x);
    copy<T>(ctx, x, all.subspan(0, x.size));
    halo_.finish();
    copy<T>(ctx, halo_.values(), all.subspan(x.size, all.size - x.size));
    return all;
  }

  OperatorPtr<T, Space::device> matrix_;  // columns behind the rows: rows of other ranks
  mutable Halo<T, Space::device> halo_;
  mutable Array<T, Space::device> x_and_halo_;
  bool capturable_ = false;
};

}  // namespace

template <class T>
std::unique_ptr<RankProduct<T, Space::device>> make_rank_csr(const Context<Space::device>& ctx,
                                                             const std::vector<std::int64_t>& first_rows,
                                                             const RowsOnDevice<T>& rows) {
  return std::make_unique<RankCsr<T>>(ctx, first_rows, rows);
}

#define X(T)                                                             \
  template std::unique_ptr<RankProduct<T, Space::device>> make_rank_csr( \
      const Context<Space::device>&, const std::vector<std::int64_t>&, const RowsOnDevice<T>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail

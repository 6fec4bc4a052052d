// SPDX-License-Identifier: Apache-2.0
/// RankEhyb: a rank's rows in EHYB on its device. Internal; only in builds with CUDA.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <newel/distributed/distributed_system.hpp>
#include "distributed/rows/halo.hpp"
#include "distributed/rows/published_ehyb.hpp"
#include "distributed/rows/rank_parts.hpp"
#include "distributed/rows/rank_product.hpp"
#include "distributed/links/side_work.hpp"
#include "spmv/ehyb/ehyb.hpp"
#include "spmv/ehyb/ehyb_across.hpp"

namespace newel::detail {

/// Parts whose rows need other ranks come last. They are multiplied beside the others, when their halo has come.
///
/// If the devices reach each other's memory, a kernel that makes a vector may send it (`published`). If also a part
/// is a multiprocessor's, solves may be one kernel on each device (`across`).
template <class T>
class RankEhyb final : public RankProduct<T, Space::device> {
 public:
  /// Null on all ranks if a rank has no rows, or rows for which EHYB has no layout without a remainder. All ranks
  /// call it together. `ctx` has other ranks too; `rows` are those of `a`.
  static std::unique_ptr<RankEhyb> make(const Context<Space::device>& ctx, const ColumnsOfRank& a,
                                        const RowsOnDevice<T>& rows);
  /// By the plan of another precision, without `across` and `published`.
  static std::unique_ptr<RankEhyb> make(const Context<Space::device>& ctx,
                                        const std::vector<std::int64_t>& first_rows, const RowsOnDevice<T>& rows,
                                        std::shared_ptr<const RankPlan> plan);

  /// The order of this rank's rows: the caller's number of each.
  const std::vector<Index>& old_of_new() const { return plan_->order.old_of_new; }
  const std::shared_ptr<const RankPlan>& plan() const { return plan_; }

  void refresh(const Context<Space::device>& ctx, Span<const T, Space::device> values) override {
    matrix_->refresh(ctx, values);
  }
  void apply(const Context<Space::device>& ctx, T alpha, Span<const T, Space::device> x, T beta,
             Span<T, Space::device> y) const override;
  void apply_dot(const Context<Space::device>& ctx, Span<const T, Space::device> x, Span<T, Space::device> y,
                 double* xy) const override;
  ResidualSums residual(const Context<Space::device>& ctx, Span<const T, Space::device> b,
                        Span<const T, Space::device> x, const ResidualScale& scale,
                        Span<T, Space::device> r) const override;
  OperatorInfo info() const override {
    OperatorInfo info = matrix_->info();
    info.setup_seconds = seconds_;
    info.figures.emplace_back("plans", plans_);
    return info;
  }
  std::uint64_t more_bytes() const override {
    return halo_->bytes() + x_and_halo_.bytes() + halo_node_.bytes() + readers_.bytes() +
           (published_ ? published_->bytes() : 0);
  }
  bool capturable() const override { return capturable_; }
  const EhybAcross<T>* across() const override { return across_ ? &*across_ : nullptr; }
  const PublishedProduct<T>* published() const override { return published_.get(); }

 private:
  RankEhyb() = default;
  void multiply(const Context<Space::device>& ctx, const ProductArgs<T>& args) const;
  void number_across(const Context<Space::device>& ctx, const std::vector<std::int64_t>& first_rows);

  std::shared_ptr<const RankPlan> plan_;
  std::unique_ptr<EhybOperator<T, Space::device>> matrix_;  ///< columns behind the rows: nodes of other ranks
  std::unique_ptr<SideWork<Space::device>> side_;
  std::unique_ptr<Halo<T, Space::device>> halo_;  ///< of `side_`
  EhybView<T> inner_{}, border_{};                ///< the parts that need no other rank, and the others
  Array<PeerDot, Space::device> peer_dot_;        ///< of both
  Array<unsigned, Space::device> tickets_;        ///< of `peer_dot_`
  mutable Array<T, Space::device> x_and_halo_;    ///< of `residual`
  Array<Index, Space::device> halo_node_;         ///< of `across_`
  Array<unsigned char, Space::device> readers_;
  std::optional<EhybAcross<T>> across_;
  std::unique_ptr<PublishedEhyb<T>> published_;
  bool capturable_ = false;
  bool sends_first_ = false;
  int plans_ = 1;                                        ///< until one had room for what parts read
  std::vector<std::pair<std::string, double>> seconds_;  ///< of the setup by phase
};

}  // namespace newel::detail

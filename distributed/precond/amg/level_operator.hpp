// SPDX-License-Identifier: Apache-2.0
/// LevelOperator: the matrix of a level of multigrid on ranks, as a cycle multiplies with it. Internal.
#pragma once

#include <memory>

#include <newel/spmv/operator.hpp>
#include "distributed/links/side_work.hpp"
#include "distributed/precond/amg/rank_level.hpp"
#include "distributed/rows/halo.hpp"
#include "precond/amg/cycle/transfer.hpp"

namespace newel::detail {

/// On a device with several rows to a node in blocks, which are multiplied when the halo has come. Else in CSR:
/// entries in columns of this rank are multiplied while the halo is exchanged, the others after it. All ranks make
/// theirs together, and call its functions together.
template <class T, Space S>
class LevelOperator final : public LinearOperator<T, S> {
 public:
  /// `ctx`: of vectors of the level, which are in `order`. Keeps pointers to the arrays of both.
  LevelOperator(const Context<S>& ctx, const RankLevel<S>& level, const LevelOrder<S>& order);

  /// New values of the level's matrix, in double.
  void refresh(const Context<S>& ctx, const BlockCsr<S>& a);

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  OperatorTraits<T, S> traits() const override;
  OperatorInfo info() const override;
  std::uint64_t bytes() const { return info().total_bytes() + halo_->bytes() + converted_.bytes(); }

 private:
  void make_csr(const Context<S>& ctx, const BlockCsr<S>& a, const LevelOrder<S>& order);

  Index rows_;
  std::unique_ptr<BlockRows<T>> blocks_;       ///< null: the matrix is in CSR
  const Index* place_ = nullptr;               ///< of the rows of `blocks_`; null: as they are
  OperatorPtr<T, S> own_, others_;             ///< in columns of this rank, and of others
  bool has_own_ = false, has_others_ = false;  ///< whether there are entries
  Index others_begin_ = 0;                     ///< the first row of `others_`
  std::unique_ptr<SideWork<S>> side_;
  std::unique_ptr<Halo<T, S>> halo_;  ///< of `side_`, if there is one
  Array<T, S> converted_;             ///< values for a refresh
  bool capturable_ = true;
};

}  // namespace newel::detail

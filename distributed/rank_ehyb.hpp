// SPDX-License-Identifier: Apache-2.0
/// RankEhyb: a rank's rows in EHYB, for solves that are one kernel across the devices of all ranks. Internal; only in
/// builds with CUDA.
#pragma once

#include <memory>
#include <vector>

#include <newel/distributed/distributed_system.hpp>
#include "spmv/ehyb/ehyb.hpp"
#include "spmv/ehyb/ehyb_across.hpp"

namespace newel::detail {

/// A part for each block of the kernel. Parts that need other ranks come last.
template <class T>
class RankEhyb {
 public:
  /// Null on all ranks if there can be no such kernel: the devices do not reach each other's memory, or a rank has no
  /// rows, or rows whose vectors do not fit on its chip. All ranks call it together. `ctx` has ranks; the rows have
  /// been checked.
  static std::unique_ptr<RankEhyb> make(const Context<Space::device>& ctx, const RankRows<T>& a,
                                        const std::vector<std::int64_t>& first_rows);

  /// The order of this rank's rows: the caller's number of each.
  const std::vector<Index>& old_of_new() const { return old_of_new_; }
  /// Valid as long as this.
  const EhybAcross<T>& across() const { return across_; }
  /// New values, in the order of those before.
  void refresh(const Context<Space::device>& ctx, Span<const T, Space::device> values) {
    matrix_->refresh(ctx, values);
  }
  std::uint64_t bytes() const { return matrix_->info().total_bytes() + halo_node_.bytes() + readers_.bytes(); }

 private:
  RankEhyb() = default;

  std::vector<Index> old_of_new_;
  std::unique_ptr<EhybOperator<T, Space::device>> matrix_;  ///< columns behind the rows: nodes of other ranks
  Array<Index, Space::device> halo_node_;                   ///< of `matrix_`, numbered through all ranks
  Array<unsigned char, Space::device> readers_;
  EhybAcross<T> across_{};
};

}  // namespace newel::detail

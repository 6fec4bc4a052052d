// SPDX-License-Identifier: Apache-2.0
/// PublishedEhyb: products in EHYB with vectors whose makers store the rows that other devices read in their memory.
/// Internal; only in builds with CUDA.
#pragma once

#include <memory>
#include <vector>

#include "core/ranks/device_ranks.hpp"
#include "spmv/ehyb/ehyb_arriving.hpp"
#include "spmv/published_product.hpp"

namespace newel::detail {

/// All parts of a rank are one launch, whose first blocks wait for rows of other ranks. Beside it there is no work for
/// an exchange.
template <class T>
class PublishedEhyb final : public PublishedProduct<T> {
 public:
  /// `view`: this rank's parts, of which those from `first_part` on read other ranks. `ghosts`: the rows that they
  /// read, in the order of their columns; `new_of_old`: of this rank's rows. Null on all ranks if their devices do
  /// not reach each other's memory, or one has too little. All ranks call it together. `ctx` has ranks.
  static std::unique_ptr<PublishedEhyb> make(const Context<Space::device>& ctx, const EhybView<T>& view,
                                             Index first_part, const std::vector<std::int64_t>& first_rows,
                                             const std::vector<std::int64_t>& ghosts,
                                             const std::vector<Index>& new_of_old);

  const PeerRows<T>& rows() const override { return rows_; }
  void multiply(const Context<Space::device>& ctx, Span<const T, Space::device> x, Span<T, Space::device> y,
                double* xy) const override;
  std::uint64_t bytes() const {
    return shared_bytes_ + place_.bytes() + target_.bytes() + told_there_.bytes() + told_here_.bytes();
  }

 private:
  PublishedEhyb() = default;

  std::shared_ptr<DeviceRanks> ranks_;
  std::vector<std::shared_ptr<void>> shared_;  ///< of each rank: a counter for each rank, then the values of ghosts
  std::uint64_t shared_bytes_ = 0;             ///< of this rank
  Array<Index, Space::device> place_;
  Array<std::uint64_t, Space::device> target_, rounds_;
  Array<std::uint64_t*, Space::device> told_there_;
  Array<const std::uint64_t*, Space::device> told_here_;
  PeerRows<T> rows_{};
  EhybArriving arriving_{};
  EhybView<T> view_{};
};

}  // namespace newel::detail

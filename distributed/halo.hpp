// SPDX-License-Identifier: Apache-2.0
/// Halo: the values that other ranks' rows need of a vector, and those that this rank's rows need of theirs.
/// Internal.
#pragma once

#include <memory>
#include <vector>

#include <newel/core/array.hpp>
#include <newel/core/communicator.hpp>
#include <newel/core/context.hpp>

namespace newel::detail {

/// Rows of each rank, as the number of the first; one more at the end, which is how many there are in all.
std::vector<std::int64_t> first_rows(Communicator& communicator, std::int64_t rows);

template <class T>
class Halo {
 public:
  /// `ghosts`: what is needed, numbers of the whole system, ascending, none of this rank's own. `new_of_old`: of this
  /// rank's rows. `into`: where the values of the ghosts come to lie. All ranks make theirs together.
  Halo(const Context<Space::host>& ctx, const std::vector<std::int64_t>& first_rows,
       const std::vector<std::int64_t>& ghosts, const std::vector<Index>& new_of_old, T* into);

  /// Sends what others need of x.
  void start(const Context<Space::host>& ctx, Span<const T, Space::host> x);
  /// Returns when the ghosts' values are there.
  void finish() { exchange_->finish(); }

 private:
  Array<Index, Space::host> sent_rows_;  ///< of x, those for the first neighbour first
  Array<T, Space::host> sent_;
  std::unique_ptr<RankExchange> exchange_;
};

}  // namespace newel::detail

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

/// Rows of this rank that others ask for, and how many this rank asks for.
struct RowsToSend {
  std::vector<std::vector<Index>> of_rank;  ///< for each rank, in the order of its ghosts: numbers in rank order
  std::vector<std::size_t> received;        ///< of each rank
};
/// `ghosts`: rows of other ranks, numbers of the whole system, ascending. `new_of_old`: of this rank's rows. All
/// ranks call it together.
RowsToSend ask_for_rows(Communicator& communicator, const std::vector<std::int64_t>& first_rows,
                       const std::vector<std::int64_t>& ghosts, const std::vector<Index>& new_of_old);

/// Memory in S for values that ranks exchange.
template <class T, Space S>
class ExchangedValues {
 public:
  ExchangedValues() = default;
  /// `ctx` has ranks. Throws OutOfMemory.
  ExchangedValues(const Context<S>& ctx, std::int64_t size);
  Span<T, S> span() const { return {static_cast<T*>(memory_.get()), size_}; }

 private:
  std::shared_ptr<void> memory_;
  std::int64_t size_ = 0;
};

/// An exchange between memories in S that ExchangedValues has given, on the stream of `ctx`. All ranks make theirs
/// together.
template <Space S>
std::unique_ptr<RankExchange> exchange_in(const Context<S>& ctx, std::vector<RankMessage> out,
                                          std::vector<RankMessage> in);

/// What a rank reads of a vector for rows that need other ranks: some of its own values, then those of other ranks.
template <class T, Space S = Space::host>
class Halo {
 public:
  /// `ctx`: that of `start`; a device's work is on its stream. `read`: rows of this rank, in rank order. `ghosts`:
  /// rows of other ranks, numbers of the whole system, ascending. `new_of_old`: of this rank's rows. All ranks make
  /// theirs together.
  Halo(const Context<S>& ctx, const std::vector<std::int64_t>& first_rows, const std::vector<Index>& read,
       const std::vector<std::int64_t>& ghosts, const std::vector<Index>& new_of_old);

  /// Reads x, and sends what others need of it.
  void start(const Context<S>& ctx, Span<const T, S> x);
  /// The values are there: when it returns or, on a device, for the work that follows on that stream.
  void finish() { exchange_->finish(); }

  /// Those of `read`, then those of `ghosts`, until the next start.
  Span<const T, S> values() const { return values_.span().subspan(sent_, values_.span().size - sent_); }

  std::uint64_t bytes() const { return rows_.bytes() + static_cast<std::uint64_t>(values_.span().size) * sizeof(T); }

 private:
  Array<Index, S> rows_;          ///< of x: those sent to the first neighbour first, at the end those of `read`
  std::int64_t sent_ = 0;         ///< how many are sent
  ExchangedValues<T, S> values_;  ///< of these rows, then of the ghosts
  std::unique_ptr<RankExchange> exchange_;
};

}  // namespace newel::detail

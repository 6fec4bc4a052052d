// SPDX-License-Identifier: Apache-2.0
/// ValueExchange: values of a matrix that other ranks need, sent whenever the matrix has new ones. Internal.
#pragma once

#include <memory>
#include <vector>

#include <newel/core/array.hpp>
#include <newel/core/communicator.hpp>
#include <newel/core/context.hpp>
#include <newel/core/csr.hpp>

namespace newel::detail {

/// Values on the host on their way between ranks.
template <class T>
class MessageExchange {
 public:
  /// How many values go to each rank, and come from it, in the order of ranks. What this rank sends to itself is
  /// copied.
  MessageExchange(const Context<Space::host>& ctx, const std::vector<Offset>& sent,
                  const std::vector<Offset>& received);

  /// To be written before `run`.
  Span<T, Space::host> to_send() { return sent_.span(); }
  /// What has come: what rank 0 has sent first. Valid until the next call.
  Span<const T, Space::host> run();
  std::uint64_t bytes() const { return sent_.bytes() + received_.bytes(); }

 private:
  Array<T, Space::host> sent_, received_;
  Offset own_begin_ = 0, own_count_ = 0, own_place_ = 0;  ///< what this rank sends to itself
  std::unique_ptr<RankExchange> exchange_;
};

/// All ranks make theirs together, and call `run` together. `ctx` has ranks.
template <class T, Space S = Space::host>
class ValueExchange {
 public:
  /// sent[r]: the positions of the blocks of `width` values that rank r needs, in the order in which it gets them.
  /// received[r]: how many blocks rank r has for this rank, which may be r itself.
  ValueExchange(const Context<Space::host>& ctx, const std::vector<std::vector<Offset>>& sent,
                const std::vector<Offset>& received, int width = 1);

  /// Sends values[width position ...], and returns what has come: what rank 0 has sent first. Valid until the next
  /// call.
  Span<const T, Space::host> run(Span<const T, Space::host> values);

  std::uint64_t bytes() const { return positions_.bytes() + messages_.bytes(); }

 private:
  int width_;
  Array<Offset, Space::host> positions_;
  MessageExchange<T> messages_;
};

/// The same for values on a device. They go by way of the host: a setup allocates and frees, and no kernel may wait
/// for another rank meanwhile.
template <class T>
class ValueExchange<T, Space::device> {
 public:
  ValueExchange(const Context<Space::device>& ctx, const std::vector<std::vector<Offset>>& sent,
                const std::vector<Offset>& received, int width = 1);

  /// Waits for the stream.
  Span<const T, Space::device> run(Span<const T, Space::device> values);

  std::uint64_t bytes() const { return positions_.bytes() + sent_.bytes() + received_.bytes() + messages_.bytes(); }

 private:
  Context<Space::device> ctx_;
  int width_;
  Array<Offset, Space::device> positions_;
  MessageExchange<T> messages_;
  Array<T, Space::device> sent_, received_;
};

/// The rank that has a row of the whole system.
int owner_of(const std::vector<std::int64_t>& first_rows, std::int64_t row);

/// In one, of what goes to each rank.
std::vector<Offset> in_order_of_ranks(const std::vector<std::vector<Offset>>& sent);
/// How many values blocks of `width` have.
std::vector<Offset> values_of_blocks(std::vector<Offset> blocks, int width);
std::vector<Offset> values_of_blocks(const std::vector<std::vector<Offset>>& blocks, int width);

}  // namespace newel::detail

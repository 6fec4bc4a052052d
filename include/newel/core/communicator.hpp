// SPDX-License-Identifier: Apache-2.0
/// Communicator: ranks that solve one system together, each with rows of its own. Ranks are threads of a process
/// (`thread_ranks`) or processes (`newel::mpi`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <newel/core/error.hpp>

namespace newel {
namespace detail {
class DeviceRanks;
}

/// Another rank has failed, so this one cannot continue.
class RankFailed : public Error {
 public:
  using Error::Error;
};

/// Bytes that are sent to a rank, or received from it, in every round of an exchange.
struct RankMessage {
  int rank = 0;           ///< the receiver or the sender
  void* data = nullptr;   ///< this rank's memory, of the caller
  std::size_t bytes = 0;  ///< its length
};

/// A repeated exchange with the same ranks and the same memory. The messages that one rank sends to another are those
/// that the other expects: the same number, order and lengths.
class RankExchange {
 public:
  virtual ~RankExchange() = default;

  /// Begins a round. The memory that is sent must not change until `finish` returns.
  virtual void start() = 0;
  /// Returns when everything has been received. Throws RankFailed.
  virtual void finish() = 0;
};

/// One rank's view of all ranks. All ranks must call the functions in the same order, except `rank`, `size` and
/// `fail`. A rank uses its communicator from one thread at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;  ///< the number of this rank, from 0
  virtual int size() const = 0;  ///< the number of ranks

  /// all[r count + k] = mine[k] of rank r, k < count. `all` has size() count values. Throws RankFailed.
  virtual void all_gather(const double* mine, int count, double* all) = 0;

  /// Sends sent[r] to rank r, and returns what each rank sent to this one. For setups. `sent` has size() strings.
  /// Throws RankFailed.
  virtual std::vector<std::string> all_to_all(const std::vector<std::string>& sent) = 0;

  /// An exchange. The memory of its messages must exist as long as the exchange.
  virtual std::unique_ptr<RankExchange> exchange(std::vector<RankMessage> out, std::vector<RankMessage> in) = 0;

  /// This rank cannot continue. All calls of the other ranks throw RankFailed with `why`, including those that are
  /// waiting. The ranks cannot communicate any more after that.
  virtual void fail(const std::string& why) noexcept = 0;

  /// What the first rank that failed has said; empty: none has failed. Waits for nobody, and may be called from any
  /// thread at any time. The default, nullopt, does not know.
  virtual std::optional<std::string> failure() const { return std::nullopt; }

  /// values[k] = the sum of values[k] over all ranks, added in the order of ranks. All ranks get the same bits.
  void sum(double* values, int count);
  /// values[k] = the largest values[k] of all ranks, or NaN if one of them is NaN.
  void max(double* values, int count);
  /// The text of every rank, in the order of ranks.
  std::vector<std::string> texts(const std::string& mine);

 private:
  std::vector<double> all_;
};

/// `size` ranks for `size` threads of this process; each thread takes one. Every call waits until all ranks have made
/// it. Throws InputError if `size` is less than 1.
std::vector<std::shared_ptr<Communicator>> thread_ranks(int size);

/// The part of a context in a system that ranks share.
struct Ranks {
  std::shared_ptr<Communicator> communicator;  ///< not null
  std::int64_t first_row = 0;                  ///< of this rank, whose rows follow those of the previous rank
  std::int64_t all_rows = 0;                   ///< of all ranks together
  /// How values on devices are exchanged; null for ranks on the host. Internal.
  std::shared_ptr<detail::DeviceRanks> device = nullptr;
};

}  // namespace newel

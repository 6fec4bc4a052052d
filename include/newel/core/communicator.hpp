// SPDX-License-Identifier: Apache-2.0
/// Communicator: ranks that solve one system together, each with rows of its own. Ranks are threads of a process
/// (`thread_ranks`) or processes (`newel::mpi`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <newel/core/error.hpp>

namespace newel {

/// Another rank has failed, and this one cannot go on without it.
class RankFailed : public Error {
 public:
  using Error::Error;
};

/// Bytes that go to a rank, or come from it, in every round of an exchange.
struct RankMessage {
  int rank = 0;           ///< where it goes to, or comes from
  void* data = nullptr;   ///< this rank's memory, of the caller
  std::size_t bytes = 0;  ///< its length
};

/// An exchange with the same ranks and the same memory again and again. Of two ranks each knows the messages of the
/// other: as many, in the same order, of the same lengths.
class RankExchange {
 public:
  virtual ~RankExchange() = default;

  /// What goes out is ready; it stays as it is until `finish` returns.
  virtual void start() = 0;
  /// Returns when all that comes in is there. Throws RankFailed.
  virtual void finish() = 0;
};

/// The ranks, of which this is one. All of them call the functions in the same order, but for `rank`, `size` and
/// `fail`. A rank uses it from one thread at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;  ///< of this one, from 0
  virtual int size() const = 0;  ///< how many there are

  /// all[r count + k] = value k of rank r. Throws RankFailed.
  virtual void all_gather(const double* mine, int count, double* all) = 0;

  /// Sends sent[r] to rank r, and returns what each rank has sent here: for setups. `sent` has `size()` strings.
  /// Throws RankFailed.
  virtual std::vector<std::string> all_to_all(const std::vector<std::string>& sent) = 0;

  /// An exchange that outlives no memory that it names.
  virtual std::unique_ptr<RankExchange> exchange(std::vector<RankMessage> out, std::vector<RankMessage> in) = 0;

  /// This rank cannot go on: the others' calls throw RankFailed with `why`, those that wait already, too. Nothing can
  /// be done with these ranks from then on.
  virtual void fail(const std::string& why) noexcept = 0;

  /// values[k] = the sum of all ranks' values k, added in the order of ranks: the same bits on all of them.
  void sum(double* values, int count);
  /// values[k] = the largest; NaN where one is NaN.
  void max(double* values, int count);
  /// Every rank's text, in the order of ranks.
  std::vector<std::string> texts(const std::string& mine);

 private:
  std::vector<double> all_;
};

/// As many ranks as are asked for, for as many threads of this process, each of which takes one. They meet at every
/// call, where the last to come wakes the others.
std::vector<std::shared_ptr<Communicator>> thread_ranks(int size);

/// A context's part in a system that ranks share.
struct Ranks {
  std::shared_ptr<Communicator> communicator;  ///< with the other ranks; not null
  std::int64_t first_row = 0;                  ///< of this rank's rows, which follow those of the rank before
  std::int64_t all_rows = 0;                   ///< of all ranks together
};

}  // namespace newel

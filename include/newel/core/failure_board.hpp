// SPDX-License-Identifier: Apache-2.0
/// FailureBoard: memory of a host by which processes that are ranks learn that one of them has failed. For those who
/// write a Communicator of processes.
#pragma once

#include <memory>
#include <string>

#include <newel/core/communicator.hpp>

namespace newel {

/// A page of memory that all ranks have mapped. Reading it waits for nobody and sends no message, so that any thread
/// can do it, whatever the library that sends messages allows. A rank whose process ends without a word, as after
/// kill -9, is found by a lock that the system then releases, if the system has such locks.
class FailureBoard {
 public:
  /// A board for all ranks, which call it together. Null on all of them if they are not on one host, or if it has no
  /// memory that processes share. Calls `all_to_all` of the communicator. Throws RankFailed.
  static std::shared_ptr<FailureBoard> make(Communicator& communicator);

  /// This rank leaves: its end is no failure any more.
  ~FailureBoard();
  FailureBoard(const FailureBoard&) = delete;
  FailureBoard& operator=(const FailureBoard&) = delete;

  /// "rank 2: " and why, for all ranks. The first call of all ranks counts; up to 4,000 characters are kept.
  void fail(int rank, const std::string& why) noexcept;

  /// What the first rank that failed has said; empty: none has failed. From any thread at any time.
  std::string failure() const;

 private:
  struct State;
  explicit FailureBoard(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace newel

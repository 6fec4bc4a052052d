// SPDX-License-Identifier: Apache-2.0
/// ThreadTeam: the threads behind a host context. Internal; loops use newel/core/parallel.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace newel::detail {

/// What a region does: `run(work, share, member)` once for every share in [0, shares). `member` in [0, members) is
/// the thread that runs the share, and indexes scratch memory; members from `members` on stay away. Must not throw.
struct Region {
  void (*run)(const void* work, std::int64_t share, int member);
  const void* work;
  std::int64_t shares;  ///< fewer than 2^32
  int members;
};

/// A fixed number of threads, the caller being member 0, that run the shares of one region at a time.
///
/// A thread that waits for work spins for some microseconds, as long as the gaps between the loops of an iteration
/// are, and then sleeps in the kernel. Nobody waits for a thread that has not begun: the caller runs the shares that
/// no other member has claimed. So a team loses little where other processes occupy the processors, which is what
/// barriers of all members do not offer. Share i is first offered to member i, so that a thread meets the data of its
/// last loop in its own cache; which thread runs a share changes no result.
///
/// Threads are started by the first region that has work for them, or are those of a team that has ended, and anew in
/// a process made by fork(). Regions in regions, and of a team in use, run on the calling thread alone.
class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int threads() const { return threads_; }

  /// Runs all shares of `region` and returns when they have ended. Never throws; where the system has no more threads
  /// to give, those that there are do the work.
  void run(const Region& region);

 private:
  class Workers;
  struct Abandon {
    void operator()(Workers* workers) const;
  };

  int threads_;
  std::atomic<bool> busy_{false};
  std::unique_ptr<Workers, Abandon> workers_;
};

/// Processors that this process may run on.
int available_processors();

}  // namespace newel::detail

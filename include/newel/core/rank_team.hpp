// SPDX-License-Identifier: Apache-2.0
/// RankTeam: the ranks of one process, each on a thread of its own. `with_other_ranks`: what one rank does together
/// with the others.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <newel/core/communicator.hpp>

namespace newel {

/// Returns f(), which is this rank's part of what all ranks do together. If f throws, the calls of the other ranks
/// throw RankFailed with its message. If another rank had failed before, RankFailed with the message of that rank is
/// thrown instead: a device then computes with values that have never arrived. An InputError is always this rank's
/// own, because all ranks may refuse the same.
template <class F>
auto with_other_ranks(Communicator& ranks, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const RankFailed&) {
    throw;
  } catch (const InputError& refused) {
    ranks.fail(refused.what());
    throw;
  } catch (const std::exception& failure) {
    const std::string first = ranks.failure().value_or("");
    const bool own = first.rfind("rank " + std::to_string(ranks.rank()) + ": ", 0) == 0;
    if (!first.empty() && !own) throw RankFailed(first);
    ranks.fail(failure.what());
    throw;
  }
}

/// As many ranks as a process wants, each on a thread: for example one for each GPU.
class RankTeam {
 public:
  using Work = std::function<void(const std::shared_ptr<Communicator>& rank)>;  ///< a rank's part

  /// Throws InputError if `size` is less than 1.
  explicit RankTeam(int size) : ranks_(thread_ranks(size)) {}

  int size() const { return static_cast<int>(ranks_.size()); }  ///< the number of ranks

  /// Calls `work` for every rank: for rank 0 on the calling thread, for each other on a thread of its own. Returns
  /// when all calls have ended. If some threw, throws what the first of them threw that was not a RankFailed. The
  /// ranks cannot communicate any more after that.
  void run(const Work& work) const {
    const std::vector<std::exception_ptr> failures = failures_of(work);
    std::exception_ptr first;
    for (const std::exception_ptr& failure : failures) {
      if (failure == nullptr) continue;
      if (first == nullptr) first = failure;
      if (!is_of_another(failure)) std::rethrow_exception(failure);
    }
    if (first != nullptr) std::rethrow_exception(first);
  }

  /// As `run`; returns what each rank threw, in the order of ranks, or null.
  std::vector<std::exception_ptr> failures_of(const Work& work) const {
    std::vector<std::exception_ptr> failures(ranks_.size());
    const auto run_rank = [&](std::size_t r) {
      try {
        with_other_ranks(*ranks_[r], [&] { work(ranks_[r]); });
      } catch (...) {
        failures[r] = std::current_exception();
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t r = 1; r < ranks_.size(); ++r) {
      try {
        threads.emplace_back(run_rank, r);
      } catch (const std::exception& failure) {  // the system has no more threads
        failures[r] = std::current_exception();
        ranks_[r]->fail(failure.what());
      }
    }
    run_rank(0);
    for (std::thread& thread : threads) thread.join();
    return failures;
  }

 private:
  static bool is_of_another(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const RankFailed&) {
      return true;
    } catch (...) {
      return false;
    }
  }

  std::vector<std::shared_ptr<Communicator>> ranks_;
};

}  // namespace newel

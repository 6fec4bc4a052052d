// SPDX-License-Identifier: Apache-2.0
/// FailureWatch: a thread that notices when another rank has failed, while this one waits for its device. Internal.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include <newel/core/communicator.hpp>

namespace newel::detail {

class FailureWatch {
 public:
  /// Calls `on_failure` once, on a thread of its own, soon after a rank has failed: what waits for it has to be
  /// ended.
  FailureWatch(std::shared_ptr<Communicator> communicator, std::function<void()> on_failure)
      : communicator_(std::move(communicator)), on_failure_(std::move(on_failure)), thread_([this] { watch(); }) {}
  FailureWatch(const FailureWatch&) = delete;
  FailureWatch& operator=(const FailureWatch&) = delete;
  ~FailureWatch() { stop(); }

  /// Ends the thread; `on_failure` does not run after that.
  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  bool failed() const { return failed_; }
  /// Throws RankFailed if a rank has failed.
  void check() const {
    if (failed_) throw RankFailed(communicator_->failure().value_or("another rank has failed"));
  }

 private:
  void watch() {
    constexpr auto between_looks = std::chrono::milliseconds(20);
    std::unique_lock<std::mutex> lock(mutex_);
    while (!changed_.wait_for(lock, between_looks, [&] { return stopped_; })) {
      if (communicator_->failure().value_or("").empty()) continue;
      failed_ = true;
      lock.unlock();
      on_failure_();
      return;
    }
  }

  std::shared_ptr<Communicator> communicator_;
  std::function<void()> on_failure_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace newel::detail

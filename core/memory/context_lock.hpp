// SPDX-License-Identifier: Apache-2.0
/// Whether a context, with its copies, belongs to an asynchronous solve; and the limit of its work. Internal.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include <newel/core/context.hpp>
#include <newel/core/error.hpp>
#include "core/memory/work_limit.hpp"

namespace newel::detail {

/// Held from the start of an asynchronous solve until its report has been taken. It finds a caller's mistake; it
/// makes nobody wait.
class ContextLock {
 public:
  /// Throws InUse where it is held.
  void acquire() {
    if (held_.exchange(true)) throw InUse();
  }
  /// To be called by the thread that works for the holder, which `require_free` lets pass from then on.
  void admit_this_thread() noexcept { worker_ = std::this_thread::get_id(); }
  void release() noexcept {
    worker_ = std::thread::id();
    held_ = false;
  }

  /// Throws InUse where it is held and the calling thread is not the holder's.
  void require_free() const {
    if (held_ && worker_.load() != std::this_thread::get_id()) throw InUse();
  }

  /// What limits the work of whoever uses the context.
  WorkLimit& work() { return work_; }

 private:
  WorkLimit work_;
  std::atomic<bool> held_{false};
  std::atomic<std::thread::id> worker_{};
};

/// That of a context and its copies.
const std::shared_ptr<ContextLock>& lock_of(const Context<Space::host>& ctx);
const std::shared_ptr<ContextLock>& lock_of(const Context<Space::device>& ctx);

}  // namespace newel::detail

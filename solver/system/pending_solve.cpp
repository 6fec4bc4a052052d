// SPDX-License-Identifier: Apache-2.0
// Asynchronous solves: the ordinary solve on a worker thread, and a lock on the context until its report is taken.
#include <newel/solver/pending_solve.hpp>

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include <newel/core/error.hpp>
#include "solver/system/solve_gate.hpp"

namespace newel {
namespace detail {
namespace {

// Signals are for the threads that the program knows of: a thread that is started meanwhile takes none.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

// One piece of work on a thread. The context is locked as long as this lives, and the thread runs no longer.
class WorkerThread {
 public:
  explicit WorkerThread(std::shared_ptr<ContextLock> lock) : lock_(std::move(lock)) { lock_->acquire(); }
  ~WorkerThread() {
    if (thread_.joinable()) thread_.join();
    lock_->release();
  }
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  template <class Work>
  void start(Work work) {
    const SignalsBlocked blocked;
    thread_ = std::thread([this, work = std::move(work)] {
      lock_->admit_this_thread();
      try {
        work();
      } catch (...) {
        error_ = std::current_exception();
      }
      const std::lock_guard<std::mutex> held(mutex_);
      ended_ = true;
      has_ended_.notify_all();
    });
  }
  bool ended() const {
    const std::lock_guard<std::mutex> held(mutex_);
    return ended_;
  }
  void wait() const {
    std::unique_lock<std::mutex> held(mutex_);
    has_ended_.wait(held, [&] { return ended_; });
  }
  void rethrow() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }
  void cancel() { cancelled_ = true; }
  bool cancelled() const { return cancelled_; }

 private:
  std::shared_ptr<ContextLock> lock_;
  mutable std::mutex mutex_;
  mutable std::condition_variable has_ended_;
  bool ended_ = false;
  std::atomic<bool> cancelled_{false};
  std::exception_ptr error_;
  std::thread thread_;
};

template <class Result>
struct SolveTask {
  explicit SolveTask(std::shared_ptr<ContextLock> lock) : worker(std::move(lock)) {}

  Result result{};
  WorkerThread worker;  // goes first, and waits for the thread
};

template <class Result>
Pending<Result> SolveGate::start(Solve<Result> solve, ProgressFn progress) {
  const auto task = std::make_shared<SolveTask<Result>>(lock_);
  task->worker.start([task = task.get(), solve = std::move(solve), progress = std::move(progress)] {
    task->result =
        solve([&](const Progress& now) { return !task->worker.cancelled() && (!progress || progress(now)); });
  });
  running_ = std::shared_ptr<WorkerThread>(task, &task->worker);
  return Pending<Result>(task);
}

void SolveGate::settle() const noexcept {
  if (const auto worker = running_.lock()) worker->wait();
}

template Pending<SolveReport> SolveGate::start(Solve<SolveReport>, ProgressFn);
template Pending<std::vector<SolveReport>> SolveGate::start(Solve<std::vector<SolveReport>>, ProgressFn);

}  // namespace detail

template <class Result>
Pending<Result>::Pending(std::shared_ptr<detail::SolveTask<Result>> task) : task_(std::move(task)) {}
template <class Result>
Pending<Result>::Pending(Pending&&) noexcept = default;

template <class Result>
Pending<Result>& Pending<Result>::operator=(Pending&& other) noexcept {
  Pending taken(std::move(other));
  task_.swap(taken.task_);
  return *this;
}

template <class Result>
Pending<Result>::~Pending() {
  if (task_ != nullptr) task_->worker.cancel();
}

template <class Result>
detail::SolveTask<Result>& Pending<Result>::task() const {
  if (task_ == nullptr)
    throw InputError("there is no pending solve: its report was taken already, or this object was moved from");
  return *task_;
}

template <class Result>
bool Pending<Result>::ready() const {
  return task().worker.ended();
}
template <class Result>
void Pending<Result>::wait() const {
  task().worker.wait();
}
template <class Result>
void Pending<Result>::cancel() {
  task().worker.cancel();
}

template <class Result>
Result Pending<Result>::get() {
  task().worker.wait();
  const auto taken = std::move(task_);  // which unlocks when it goes
  taken->worker.rethrow();
  return std::move(taken->result);
}

template class Pending<SolveReport>;
template class Pending<std::vector<SolveReport>>;

}  // namespace newel

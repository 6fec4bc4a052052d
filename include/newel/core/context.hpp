// SPDX-License-Identifier: Apache-2.0
/// Context: who works and in what order. Threads on the host; stream, library handles and pool on the device.
#pragma once

#include <memory>
#include <string>

#include <newel/core/memory.hpp>
#include <newel/core/types.hpp>

// Public headers include no CUDA header: these are the types behind cudaStream_t and cusparseHandle_t.
struct CUstream_st;
struct cusparseContext;

namespace newel {
namespace detail {
class ContextLock;
class ThreadTeam;
}  // namespace detail

struct Ranks;

/// The first argument of everything that works in space `S`. There is no global state: two contexts know
/// nothing of each other. A context is cheap to copy; copies share threads, stream, handles and memory.
///
/// Thread safety: a context, and everything made with it, is used by one thread at a time. Different threads
/// use different contexts. While an asynchronous solve is pending (`LinearSystem::solve_async`), the context and its
/// copies belong to it: systems of them refuse every call with InUse; calls of lower-level functions are not noticed.
template <Space S>
class Context;

/// The host: a number of threads, started when there is first work for them, that sleep while there is none.
template <>
class Context<Space::host> {
 public:
  static constexpr int most_threads = 1024;  ///< that a context may have

  /// `threads` = 0 takes as many as the variable OMP_NUM_THREADS says, which batch systems set, else the processors
  /// that this process may use. Throws InputError for a negative number and for more than `most_threads`.
  explicit Context(int threads = 0);

  /// The same with memory of the caller's. Throws InputError for a null resource, too.
  Context(int threads, std::shared_ptr<MemoryResource> memory);

  int threads() const { return threads_; }  ///< at least 1

  /// Returns at once: host work is finished when a call returns.
  void synchronize() const {}
  /// Does nothing on the host; see the device context.
  void make_current() const {}

  /// What arrays are allocated from, and how much they hold.
  const std::shared_ptr<ContextMemory>& memory() const { return memory_; }
  /// Gives memory that no array holds back to the system: malloc_trim where the memory is the built-in one and the C
  /// library glibc, else what the caller's resource does (`MemoryResource::release_unused`).
  void release_unused_memory() const { memory_->release_unused(); }

  /// The same context as a rank's: vectors made with it are that rank's share, and sums over them are taken over all
  /// ranks, which therefore call every function that computes one. Throws InputError for a null communicator.
  Context with_ranks(Ranks ranks) const;
  /// Null: it shares its vectors with no other.
  const Ranks* ranks() const { return ranks_.get(); }

  detail::ThreadTeam& team() const { return *team_; }  ///< internal: see core/threads/thread_team.hpp
  const std::shared_ptr<detail::ContextLock>& lock() const {
    return lock_;
  }  ///< internal: see core/memory/context_lock.hpp

 private:
  int threads_;
  std::shared_ptr<ContextMemory> memory_;
  std::shared_ptr<detail::ThreadTeam> team_;
  std::shared_ptr<detail::ContextLock> lock_;
  std::shared_ptr<const Ranks> ranks_;
};

/// One CUDA device with a stream. Work is queued on the stream; only `synchronize`, downloads and the functions
/// that say so wait for it. What other streams write must be finished before it is handed in: the context's own
/// stream is a non-blocking one, and nothing but its own order is kept. The constructors make the device current.
template <>
class Context<Space::device> {
 public:
  /// Device number `device` with a stream of its own. Throws DeviceError when there is no such device.
  explicit Context(int device = 0);

  /// Works on a stream that the caller owns and that outlives the context and everything made with it.
  /// The legacy default stream is given as null.
  Context(int device, CUstream_st* stream);

  /// The same with memory of the caller's in place of a pool of the context's own. Throw InputError for a null
  /// resource, OutOfMemory where it cannot give the little that a context needs for itself.
  Context(int device, std::shared_ptr<MemoryResource> memory);
  Context(int device, CUstream_st* stream, std::shared_ptr<MemoryResource> memory);

  /// The number of the device, and the stream that work is queued on.
  int device() const;
  CUstream_st* stream() const;

  /// The cuSPARSE handle of this context, bound to its stream; made by the first call, which also loads cuSPARSE.
  /// Throws DeviceError where it is not there.
  cusparseContext* cusparse() const;

  /// Waits until the stream has finished. Throws DeviceError if any of its work failed.
  void synchronize() const;
  /// Makes the context's device current in the calling thread, as kernels and allocations need it.
  /// LinearSystem and the solvers call it; low-level callers with several devices do so themselves.
  void make_current() const;

  /// For example "NVIDIA H200".
  std::string device_name() const;
  int multiprocessors() const;

  /// What arrays are allocated from, and how much they hold.
  const std::shared_ptr<ContextMemory>& memory() const;
  /// Waits for the stream and gives memory that no array holds back to the device, where the built-in pool otherwise
  /// keeps it for the next allocation; of the caller's resource see `MemoryResource::release_unused`. Throws
  /// DeviceError.
  void release_unused_memory() const;

  /// The host context that setup work uses: as many threads as a host context takes by default.
  const Context<Space::host>& host() const;

  /// Null: ranks share vectors on the host alone.
  const Ranks* ranks() const { return nullptr; }

  const std::shared_ptr<detail::ContextLock>& lock() const;  ///< internal: see core/memory/context_lock.hpp

  struct State;  ///< defined with the device sources
  const State& state() const { return *state_; }

 private:
  void prepare_reductions();

  std::shared_ptr<State> state_;
};

/// The host context that setup work on behalf of `ctx` uses: itself, or the one that a device context holds.
inline const Context<Space::host>& host_context(const Context<Space::host>& ctx) { return ctx; }
inline const Context<Space::host>& host_context(const Context<Space::device>& ctx) { return ctx.host(); }

/// How many CUDA devices answer; 0 also where the driver is missing. Defined only with CUDA on.
int device_count();

}  // namespace newel

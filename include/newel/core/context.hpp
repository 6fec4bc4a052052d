// SPDX-License-Identifier: Apache-2.0
/// Context: where and in what order work runs. Threads on the host; stream, library handles and pool on the device.
#pragma once

#include <memory>
#include <string>

#include <newel/core/memory.hpp>
#include <newel/core/types.hpp>

// Public headers include no CUDA header: this is the type behind cudaStream_t.
struct CUstream_st;

namespace newel {

template <Space S>
class Context;
struct Ranks;

namespace detail {
class ContextLock;
class ThreadTeam;
const std::shared_ptr<ContextLock>& lock_of(const Context<Space::host>& ctx);
}  // namespace detail

/// The first argument of all functions that work in space `S`. There is no global state: two contexts are
/// independent. Copies are cheap and share threads, stream, handles and memory.
///
/// Thread safety: use a context, and everything made with it, from one thread at a time. Different threads use
/// different contexts. While an asynchronous solve is pending (`LinearSystem::async`), the context and its
/// copies belong to it: their systems refuse every call with InUse. Calls of lower-level functions are not detected.
template <Space S>
class Context;

/// The host: a number of threads, started when first needed, that sleep while idle.
template <>
class Context<Space::host> {
 public:
  static constexpr int most_threads = 1024;  ///< maximum number of threads of a context

  /// `threads` = 0 uses the value of the environment variable OMP_NUM_THREADS, which batch systems set, or else the
  /// processors available to this process. Throws InputError for a negative number or more than `most_threads`.
  explicit Context(int threads = 0);

  /// The same with memory from the caller. Also throws InputError for a null resource.
  Context(int threads, std::shared_ptr<MemoryResource> memory);

  int threads() const { return threads_; }  ///< at least 1

  /// Returns at once: host work is finished when a call returns.
  void synchronize() const {}
  /// Does nothing on the host; see the device context.
  void make_current() const {}

  /// The memory that arrays are allocated from, and how much they hold.
  const std::shared_ptr<ContextMemory>& memory() const { return memory_; }
  /// Returns memory that no array holds to the system: by malloc_trim for the built-in memory with glibc, or by the
  /// caller's resource (`MemoryResource::release_unused`).
  void release_unused_memory() const { memory_->release_unused(); }

  /// The same context for a rank of a shared system. Vectors hold this rank's share, and sums over them are taken
  /// over all ranks. All ranks must therefore call every function that computes a sum. Throws InputError for a null
  /// communicator.
  Context with_ranks(Ranks ranks) const;
  /// Null if the context is not of a rank.
  const Ranks* ranks() const { return ranks_.get(); }

  detail::ThreadTeam& team() const { return *team_; }  ///< internal: see core/threads/thread_team.hpp

 private:
  friend const std::shared_ptr<detail::ContextLock>& detail::lock_of(const Context& ctx);

  int threads_;
  std::shared_ptr<ContextMemory> memory_;
  std::shared_ptr<detail::ThreadTeam> team_;
  std::shared_ptr<detail::ContextLock> lock_;
  std::shared_ptr<const Ranks> ranks_;
};

/// One CUDA device with a stream. Work is queued on the stream; only `synchronize`, downloads and functions that say
/// so wait for it. Other streams must have finished writing data before it is passed in: the context's own stream is
/// non-blocking and is not ordered with others. The constructors make the device current.
template <>
class Context<Space::device> {
 public:
  /// Uses device number `device` and creates a stream. Throws DeviceError if there is no such device.
  explicit Context(int device = 0);

  /// Uses a stream owned by the caller, which must outlive the context and everything made with it. Null is the
  /// legacy default stream.
  Context(int device, CUstream_st* stream);

  /// The same with memory from the caller instead of the context's own pool. Throws InputError for a null resource,
  /// and OutOfMemory if the resource cannot provide the small buffers of the context itself.
  Context(int device, std::shared_ptr<MemoryResource> memory);
  Context(int device, CUstream_st* stream, std::shared_ptr<MemoryResource> memory);

  /// The number of the device, and the stream that work is queued on.
  int device() const;
  CUstream_st* stream() const;

  /// Waits until the stream has finished. Throws DeviceError if any of its work failed.
  void synchronize() const;
  /// Makes the context's device current in the calling thread, as kernels and allocations require. LinearSystem and
  /// the solvers call it; callers of low-level functions with several devices must do so themselves.
  void make_current() const;

  /// For example "NVIDIA H200".
  std::string device_name() const;
  int multiprocessors() const;

  /// The memory that arrays are allocated from, and how much they hold.
  const std::shared_ptr<ContextMemory>& memory() const;
  /// Waits for the stream, then returns memory that no array holds to the device; the built-in pool otherwise keeps
  /// it for later allocations. For a caller's resource see `MemoryResource::release_unused`. Throws DeviceError.
  void release_unused_memory() const;

  /// The host context for setup work, with the default number of threads of a host context.
  const Context<Space::host>& host() const;

  /// Null: only host contexts can be of a rank.
  const Ranks* ranks() const { return nullptr; }

  struct State;  ///< defined with the device sources
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

/// The host context for setup work on behalf of `ctx`: `ctx` itself, or the one that a device context owns.
inline const Context<Space::host>& host_context(const Context<Space::host>& ctx) { return ctx; }
inline const Context<Space::host>& host_context(const Context<Space::device>& ctx) { return ctx.host(); }

/// Number of usable CUDA devices; 0 also if the driver is missing. Defined only in builds with CUDA.
int device_count();

}  // namespace newel

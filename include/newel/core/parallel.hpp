// SPDX-License-Identifier: Apache-2.0
/// Loops over the threads of a host context: parallel_for, parallel_tasks, parallel_blocks, parallel_reduce. Programs
/// may use them for their own loops, such as an assembly: these loops share the threads of the solves and do not
/// compete with them.
///
/// An exception in a body does not stop the other shares; when all have ended, the first exception is rethrown. A
/// body of parallel_for, parallel_blocks and parallel_tasks may take a second argument: the index of the thread that
/// runs it, in [0, ctx.threads()), for scratch memory. Loops inside a body run on the calling thread only.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>
#include <exception>
#include <mutex>
#include <type_traits>
#include <vector>

#include <newel/core/context.hpp>

namespace newel {

/// Atomically adds to a number shared by the threads of a loop; returns the previous value.
template <class T>
T atomic_add(T& number, T by) {
  return __atomic_fetch_add(&number, by, __ATOMIC_RELAXED);
}

/// Atomically writes a number that several threads of a loop may write: one of the values remains.
template <class T>
void atomic_write(T& number, T value) {
  __atomic_store_n(&number, value, __ATOMIC_RELAXED);
}

/// For scratch memory of fewer threads than the context has: limits the number of threads.
inline constexpr int all_threads = INT_MAX;

namespace detail {

/// Calls run(work, share, member) for every share in [0, shares), with members in [0, members). `run` must not throw.
void run_region(const Context<Space::host>& ctx, void (*run)(const void* work, std::int64_t share, int member),
                const void* work, std::int64_t shares, int members);

/// The first exception of a region.
class FirstException {
 public:
  void keep() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (first_ == nullptr) first_ = std::current_exception();
  }
  void rethrow() {
    if (first_ != nullptr) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

/// Calls f(share, member) for every share in [0, shares).
template <class F>
void run_shares(const Context<Space::host>& ctx, std::int64_t shares, F&& f, int most_threads = all_threads) {
  const int members = std::min(ctx.threads(), most_threads);
  if (shares <= 1 || members <= 1) {
    for (std::int64_t share = 0; share < shares; ++share) f(share, 0);
    return;
  }
  struct Work {
    std::remove_reference_t<F>* f;
    FirstException failure;
  } work{&f, {}};
  const auto run = [](const void* data, std::int64_t share, int member) {
    Work& w = *static_cast<Work*>(const_cast<void*>(data));
    try {
      (*w.f)(share, member);
    } catch (...) {
      w.failure.keep();
    }
  };
  run_region(ctx, run, &work, shares, members);
  work.failure.rethrow();
}

template <class F, class I>
void call_body(F& f, I i, int member) {
  if constexpr (std::is_invocable_v<F&, I, int>) {
    f(i, member);
  } else {
    f(i);
  }
}

}  // namespace detail

/// Default minimum of items per thread. With the lightest bodies they take a few microseconds, about the time until
/// another thread has started.
inline constexpr std::int64_t light_items = 1024;

/// Number of shares with at least `least` of n items each; at most one per thread.
inline std::int64_t share_count(const Context<Space::host>& ctx, std::int64_t n, std::int64_t least) {
  return std::clamp<std::int64_t>(n / std::max<std::int64_t>(least, 1), 1, ctx.threads());
}

/// Start of share `share` of `shares` equal shares of [0, n). Does not overflow.
inline std::int64_t share_begin(std::int64_t n, std::int64_t shares, std::int64_t share) {
  return n / shares * share + n % shares * share / shares;
}

/// Calls f(begin, end) or f(begin, end, share) for consecutive ranges that cover [0, n): at most one per thread, with
/// at least `least` items each.
template <class I, class F>
void parallel_ranges(const Context<Space::host>& ctx, I n, F&& f, std::int64_t least = light_items) {
  if (n <= 0) return;
  const std::int64_t shares = share_count(ctx, n, least);
  detail::run_shares(ctx, shares, [&](std::int64_t share, int) {
    const I begin = static_cast<I>(share_begin(n, shares, share)),
            end = static_cast<I>(share_begin(n, shares, share + 1));
    if constexpr (std::is_invocable_v<F&, I, I, std::int64_t>) {
      f(begin, end, share);
    } else {
      f(begin, end);
    }
  });
}

/// Calls f(i) for i in [0, n), in consecutive ranges of equal length, one per thread: for items of similar cost.
template <class I, class F>
void parallel_for(const Context<Space::host>& ctx, I n, F&& f, std::int64_t least = light_items) {
  if (n <= 0) return;
  const std::int64_t shares = share_count(ctx, n, least);
  detail::run_shares(ctx, shares, [&](std::int64_t share, int member) {
    const I end = static_cast<I>(share_begin(n, shares, share + 1));
    for (I i = static_cast<I>(share_begin(n, shares, share)); i < end; ++i) detail::call_body(f, i, member);
  });
}

/// Calls f(i) for i in [0, n), in blocks of `block` consecutive items, each by the next free thread: for items of
/// unequal cost.
template <class I, class F>
void parallel_blocks(const Context<Space::host>& ctx, I n, std::int64_t block, F&& f,
                     int most_threads = all_threads) {
  if (n <= 0) return;
  const std::int64_t shares = (static_cast<std::int64_t>(n) + block - 1) / block;
  detail::run_shares(
      ctx, shares,
      [&](std::int64_t share, int member) {
        const I end = static_cast<I>(std::min<std::int64_t>(n, (share + 1) * block));
        for (I i = static_cast<I>(share * block); i < end; ++i) detail::call_body(f, i, member);
      },
      most_threads);
}

/// Calls f(i) for i in [0, count), each by the next free thread: for few items of high cost.
template <class I, class F>
void parallel_tasks(const Context<Space::host>& ctx, I count, F&& f, int most_threads = all_threads) {
  parallel_blocks(ctx, count, 1, f, most_threads);
}

/// For loops that are worth several threads only if there is enough work.
inline int threads_if(bool parallel) { return parallel ? all_threads : 1; }

/// Calls f(i, mine) for i in [0, n), where `mine` starts as `identity`; then join(total, mine) for all ranges, in the
/// order of i. The number of ranges depends on the number of threads, and so would rounded sums.
template <class T, class I, class F, class Join>
T parallel_reduce(const Context<Space::host>& ctx, I n, T identity, F&& f, Join&& join,
                  std::int64_t least = light_items) {
  struct alignas(64) Mine {
    T value;
  };
  std::vector<Mine> mine(static_cast<std::size_t>(share_count(ctx, n, least)), Mine{identity});
  parallel_ranges(
      ctx, n,
      [&](I begin, I end, std::int64_t share) {
        T value = identity;
        for (I i = begin; i < end; ++i) f(i, value);
        mine[static_cast<std::size_t>(share)].value = std::move(value);
      },
      least);
  T total = std::move(identity);
  for (Mine& m : mine) join(total, m.value);
  return total;
}

/// The maximum of f(i) for i in [0, n), and of `least_value`.
template <class T, class I, class F>
T parallel_max(const Context<Space::host>& ctx, I n, T least_value, F&& f, std::int64_t least = light_items) {
  return parallel_reduce(
      ctx, n, least_value, [&](I i, T& most) { most = std::max<T>(most, f(i)); },
      [](T& total, const T& mine) { total = std::max(total, mine); }, least);
}

/// The sum of f(i), integers, for i in [0, n).
template <class T, class I, class F>
T parallel_count(const Context<Space::host>& ctx, I n, F&& f, std::int64_t least = light_items) {
  static_assert(std::is_integral_v<T>, "rounded sums would depend on the number of threads");
  return parallel_reduce(
      ctx, n, T{0}, [&](I i, T& count) { count += static_cast<T>(f(i)); },
      [](T& total, const T& mine) { total += mine; }, least);
}

/// Whether f(i) holds for all i in [0, n). May call f for further i after one has failed.
template <class I, class F>
bool parallel_all(const Context<Space::host>& ctx, I n, F&& f, std::int64_t least = light_items) {
  return parallel_reduce(
      ctx, n, true, [&](I i, bool& all) { all = all && f(i); }, [](bool& total, bool mine) { total = total && mine; },
      least);
}

}  // namespace newel

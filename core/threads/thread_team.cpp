// SPDX-License-Identifier: Apache-2.0
// A team of threads: how shares are claimed, and how threads wait for work and for each other.
#include "core/threads/thread_team.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <newel/core/parallel.hpp>

namespace newel::detail {
namespace {

// Longer than what lies between two loops of an iteration, shorter than what a process that waits for the processor
// would notice. On two cores 20 to 50 us made no difference to a solve that had them for itself.
constexpr std::chrono::microseconds spin_time{30};

using Word = std::atomic<std::uint32_t>;
static_assert(sizeof(Word) == sizeof(std::uint32_t) && Word::is_always_lock_free,
              "the kernel waits on the number itself");

void sleep_while(Word& word, std::uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
void wake_all(Word& word) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0); }

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether `ready` became true while spinning.
template <class Ready>
bool spin_until(bool spinning, Ready&& ready) {
  if (ready()) return true;
  if (!spinning) return false;
  constexpr int spins_per_clock_read = 64;
  for (int i = 0; i < spins_per_clock_read; ++i) {
    pause();
    if (ready()) return true;
  }
  const auto end = std::chrono::steady_clock::now() + spin_time;
  do {
    for (int i = 0; i < spins_per_clock_read; ++i) {
      pause();
      if (ready()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// A child made by fork() has the memory of its parent's teams and none of their threads.
std::atomic<unsigned> forks{0};
unsigned generation() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
  (void)registered;
  return forks.load(std::memory_order_relaxed);
}

// Set while a thread runs shares: a region inside a region is run by that thread alone.
thread_local bool in_region = false;

struct InRegion {
  InRegion() { in_region = true; }
  ~InRegion() { in_region = false; }
};

// None where there are more than a set has room for.
cpu_set_t allowed_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  return set;
}

void run_alone(const Region& region, int member) {
  for (std::int64_t share = 0; share < region.shares; ++share) region.run(region.work, share, member);
}

}  // namespace

int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(
      1, static_cast<int>(std::thread::hardware_concurrency()));  // more processors than the set has room for
}

// The claims of a region are one word or more: the region's number in the upper half; in the lower half a bit for
// each of 32 shares, set where there is none or somebody has taken it, or, where there are more shares than bits, the
// complement of how many are left. A lower half of ones has nothing to give either way. A claim is a compare-and-swap
// on that word alone, so a thread that comes late, and may read what belongs to a later region, takes nothing. What a
// region is (its function and shares) changes only when all its shares have ended: a claim that succeeds proves that
// what was read before it belongs to it.
class ThreadTeam::Workers {
 public:
  explicit Workers(int threads)
      : generation_(generation()),
        wanted_(threads),
        allowed_(allowed_processors()),
        spinning_(threads <= available_processors()),
        claims_(static_cast<std::size_t>((threads + bits - 1) / bits)) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the threads that the program knows of
    threads_.reserve(static_cast<std::size_t>(threads) - 1);
    try {
      for (int member = 1; member < threads; ++member) threads_.emplace_back([this, member] { work(member); });
    } catch (const std::system_error&) {  // no more threads: those that were started, and the caller, do the work
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~Workers() {
    stop_ = true;
    epoch_.fetch_add(1);
    wake_all(epoch_);
    for (std::thread& thread : threads_) thread.join();
  }

  bool in_this_process() const { return generation_ == generation(); }

  /// Threads for a team: those that the last team left, where they are as many and may use the same processors, or
  /// new ones. To start one and to wait for its end takes longer than many a setup.
  static Workers* hire(int threads) {
    Workers* const spare = spare_workers().exchange(nullptr);
    if (spare == nullptr) return new Workers(threads);
    const cpu_set_t now = allowed_processors();
    if (spare->in_this_process() && spare->wanted_ == threads && CPU_EQUAL(&spare->allowed_, &now) != 0) return spare;
    retire(spare);
    return new Workers(threads);
  }
  /// For the next team. One team's threads are kept, the last one's, unless they are more than there are processors.
  static void retire(Workers* workers) {
    if (!workers->in_this_process()) return;  // nobody to join: what the parent's threads held is left as it is
    if (workers->spinning_ && !at_exit.ended) workers = spare_workers().exchange(workers);
    if (workers != nullptr && workers->in_this_process()) delete workers;
  }

  void run(const Region& region) {
    const std::uint32_t epoch = epoch_.load(std::memory_order_relaxed) + 1;
    run_.store(region.run, std::memory_order_relaxed);
    work_.store(region.work, std::memory_order_relaxed);
    shares_.store(region.shares, std::memory_order_relaxed);
    members_.store(region.members, std::memory_order_relaxed);
    ended_.store(0, std::memory_order_relaxed);
    for (std::size_t w = 0; w < claims_.size(); ++w) {
      claims_[w].word.store(std::uint64_t{epoch} << 32 | unclaimed(region.shares, w), std::memory_order_release);
    }
    epoch_.store(epoch);
    if (asleep_.load() > 0 && asleep_.exchange(0) > 0) wake_all(epoch_);
    take_shares(epoch, 0);
    wait_for_all(region.shares);
  }

 private:
  static constexpr int bits = 32;
  struct alignas(64) Claim {
    std::atomic<std::uint64_t> word{0};
  };

  bool in_turn(std::int64_t shares) const { return shares > static_cast<std::int64_t>(claims_.size()) * bits; }

  // The lower half of word w before anybody has claimed.
  std::uint32_t unclaimed(std::int64_t shares, std::size_t w) const {
    if (in_turn(shares)) return w == 0 ? ~static_cast<std::uint32_t>(shares) : ~std::uint32_t{0};
    const std::int64_t here = std::clamp<std::int64_t>(shares - static_cast<std::int64_t>(w) * bits, 0, bits);
    return ~static_cast<std::uint32_t>((std::uint64_t{1} << here) - 1);
  }

  void work(int member) {
    std::uint32_t seen = 0;
    while (true) {
      seen = next_epoch(seen);
      if (stop_) return;
      take_shares(seen, member);
    }
  }

  std::uint32_t next_epoch(std::uint32_t seen) {
    const auto changed = [&] { return epoch_.load(std::memory_order_acquire) != seen; };
    while (!spin_until(spinning_, changed)) {
      asleep_.fetch_add(1);
      // Either this sees the new number, or who wrote it sees a sleeper: both are sequentially consistent.
      if (epoch_.load() == seen) sleep_while(epoch_, seen);
    }
    return epoch_.load(std::memory_order_acquire);
  }

  void take_shares(std::uint32_t epoch, int member) {
    if (member >= members_.load(std::memory_order_relaxed)) return;
    const InRegion inside;
    const std::int64_t shares = shares_.load(std::memory_order_relaxed);
    std::int64_t taken = 0;
    if (in_turn(shares)) {
      taken = take_in_turn(epoch, member);
    } else {
      const auto own = static_cast<std::size_t>(member / bits), words = claims_.size();
      for (std::size_t w = 0; w < words; ++w) taken += take_bits(epoch, member, (own + w) % words);
    }
    if (taken == 0) return;
    const auto total = static_cast<std::uint64_t>(taken);
    const std::uint64_t ended = ended_.fetch_add(total, std::memory_order_acq_rel) + total;
    if (ended == static_cast<std::uint64_t>(shares)) {
      finished_.store(epoch);
      if (caller_asleep_.load()) wake_all(finished_);
    }
  }

  // Many shares: the next one, whichever it is.
  std::int64_t take_in_turn(std::uint32_t epoch, int member) {
    std::atomic<std::uint64_t>& word = claims_[0].word;
    std::int64_t taken = 0;
    std::uint64_t claim = word.load(std::memory_order_acquire);
    while (true) {
      const auto run = run_.load(std::memory_order_relaxed);
      const void* const work = work_.load(std::memory_order_relaxed);
      const std::uint32_t left = ~static_cast<std::uint32_t>(claim);
      const std::int64_t share = shares_.load(std::memory_order_relaxed) - left;
      if (claim >> 32 != epoch || left == 0) return taken;
      if (!word.compare_exchange_weak(claim, claim + 1, std::memory_order_acq_rel, std::memory_order_acquire))
        continue;
      run(work, share, member);
      ++taken;
      claim = word.load(std::memory_order_acquire);
    }
  }

  // At most as many shares as members: the own one first, then those whose member has not come.
  std::int64_t take_bits(std::uint32_t epoch, int member, std::size_t w) {
    std::atomic<std::uint64_t>& word = claims_[w].word;
    std::int64_t taken = 0;
    std::uint64_t claim = word.load(std::memory_order_acquire);
    while (true) {
      const auto run = run_.load(std::memory_order_relaxed);
      const void* const work = work_.load(std::memory_order_relaxed);
      const std::uint32_t open = ~static_cast<std::uint32_t>(claim);
      if (claim >> 32 != epoch || open == 0) return taken;
      const std::int64_t first = static_cast<std::int64_t>(w) * bits, wanted = member - first;
      const bool own = wanted >= 0 && wanted < bits && (open >> wanted & 1) != 0;
      const int bit = own ? static_cast<int>(wanted) : __builtin_ctz(open);
      if (!word.compare_exchange_weak(claim, claim | std::uint64_t{1} << bit, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        continue;
      }
      run(work, first + bit, member);
      ++taken;
      claim = word.load(std::memory_order_acquire);
    }
  }

  void wait_for_all(std::int64_t shares) {
    const auto ended = [&] { return ended_.load(std::memory_order_acquire) == static_cast<std::uint64_t>(shares); };
    if (spin_until(spinning_, ended)) return;
    caller_asleep_ = true;
    while (!ended()) {
      const std::uint32_t last = finished_.load();
      if (!ended()) sleep_while(finished_, last);
    }
    caller_asleep_ = false;
  }

  // The threads that wait for the next team; those of the last one end with the program, or when the library is
  // unloaded.
  static std::atomic<Workers*>& spare_workers() {
    static std::atomic<Workers*> spare{nullptr};
    return spare;
  }
  struct AtExit {
    std::atomic<bool> ended{false};
    ~AtExit() {
      ended = true;
      Workers* const spare = spare_workers().exchange(nullptr);
      if (spare != nullptr && spare->in_this_process()) delete spare;
    }
  };
  static AtExit at_exit;

  const unsigned generation_;
  const int wanted_;  ///< threads, the caller among them
  const cpu_set_t allowed_;
  const bool spinning_;
  std::atomic<bool> stop_{false};

  // The region, written before its number.
  std::atomic<void (*)(const void*, std::int64_t, int)> run_{nullptr};
  std::atomic<const void*> work_{nullptr};
  std::atomic<std::int64_t> shares_{0};
  std::atomic<int> members_{0};
  alignas(64) Word epoch_{0};   ///< the region's number: what members wait on
  std::atomic<int> asleep_{0};  ///< members that sleep, or are about to, and that nobody has woken
  alignas(64) std::atomic<std::uint64_t> ended_{0};  ///< shares of the region that have ended
  Word finished_{0};  ///< the last region whose shares have all ended: what the caller waits on
  std::atomic<bool> caller_asleep_{false};
  std::vector<Claim> claims_;
  std::vector<std::thread> threads_;
};

ThreadTeam::Workers::AtExit ThreadTeam::Workers::at_exit;

void ThreadTeam::Abandon::operator()(Workers* workers) const { Workers::retire(workers); }

ThreadTeam::ThreadTeam(int threads) : threads_(threads) {}
ThreadTeam::~ThreadTeam() = default;

void ThreadTeam::run(const Region& region) {
  if (region.shares <= 0) return;
  if (region.shares == 1 || region.members <= 1 || threads_ == 1 || in_region) return run_alone(region, 0);
  if (busy_.exchange(true, std::memory_order_acquire)) return run_alone(region, 0);
  if (workers_ == nullptr || !workers_->in_this_process()) workers_.reset(Workers::hire(threads_));
  workers_->run(region);
  busy_.store(false, std::memory_order_release);
}

void run_region(const Context<Space::host>& ctx, void (*run)(const void* work, std::int64_t share, int member),
                const void* work, std::int64_t shares, int members) {
  ctx.team().run({run, work, shares, members});
}

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// Loops over a context's threads: every item once, in the share that it belongs to, whoever runs it.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"
#include "core/threads/thread_team.hpp"

#include "tests/catch.hpp"

using namespace newel::detail;

namespace {

using Host = Context<Space::host>;

// How often each of n items was met by `loop(visit)`.
template <class Loop>
std::vector<int> visits(std::int64_t n, Loop&& loop) {
  std::vector<std::atomic<int>> count(static_cast<std::size_t>(n));
  loop([&](std::int64_t i) { count[static_cast<std::size_t>(i)].fetch_add(1); });
  return {count.begin(), count.end()};
}

// Waits until `met` is true; false after a minute, which no machine takes.
bool wait_for(const std::atomic<bool>& met) {
  for (int i = 0; i < 60000 && !met; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return met;
}

// What a child process ends with; -1 where it does not within a minute, as one that waits for its parent's threads.
int exit_code(pid_t child) {
  int status = -1;
  for (int i = 0; i < 60000; ++i) {
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return -1;
}

}  // namespace

TEST_CASE("Every item of a loop is visited once, whatever the threads, the items and the shares",
          "[core][parallel]") {
  for (const int threads : {1, 2, 3, 7, 33, 70}) {
    const Host ctx(threads);
    for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 64, 65, 1000}) {
      CAPTURE(threads, n);
      const std::vector<int> once(static_cast<std::size_t>(n), 1);
      for (int round = 0; round < 20; ++round) {
        CHECK(visits(n, [&](auto visit) { parallel_for(ctx, n, visit, 1); }) == once);
        CHECK(visits(n, [&](auto visit) { parallel_tasks(ctx, n, visit); }) == once);
        CHECK(visits(n, [&](auto visit) { parallel_blocks(ctx, n, 7, visit); }) == once);
      }
    }
  }
}

TEST_CASE("Ranges follow each other and differ in length by one at most", "[core][parallel]") {
  const Host ctx(5);
  std::vector<std::pair<std::int64_t, std::int64_t>> range(5, {-1, -1});
  parallel_ranges(
      ctx, std::int64_t{23},
      [&](std::int64_t begin, std::int64_t end, std::int64_t share) {
        range[static_cast<std::size_t>(share)] = {begin, end};
      },
      1);
  std::int64_t at = 0;
  for (const auto& [begin, end] : range) {
    CHECK(begin == at);
    CHECK((end - begin == 4 || end - begin == 5));
    at = end;
  }
  CHECK(at == 23);
}

TEST_CASE("A loop with too few items for two threads runs on the calling thread", "[core][parallel]") {
  const Host ctx(4);
  std::set<std::thread::id> seen;
  parallel_for(
      ctx, Index{199}, [&](Index) { seen.insert(std::this_thread::get_id()); }, 100);
  CHECK(seen == std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST_CASE("Threads of a loop run at the same time and have numbers of their own", "[core][parallel]") {
  const Host ctx(3);
  std::atomic<int> there{0};
  std::atomic<bool> all{false};
  std::vector<int> members(3, -1);
  // Each share ends only when all three have begun, which takes three threads.
  parallel_tasks(ctx, 3, [&](int i, int member) {
    members[static_cast<std::size_t>(i)] = member;
    if (there.fetch_add(1) == 2) all = true;
    wait_for(all);
  });
  CHECK(all);
  CHECK(std::set<int>(members.begin(), members.end()) == std::set<int>{0, 1, 2});
}

TEST_CASE("The caller does the work of a thread that has not come", "[core][parallel]") {
  const Host ctx(2);
  // The other thread is held in a share; 99 more end without it.
  std::atomic<bool> release{false}, held{false};
  std::atomic<int> ended{0};
  const auto caller = std::this_thread::get_id();
  parallel_tasks(ctx, 100, [&](int) {
    if (std::this_thread::get_id() == caller) {
      if (!held) wait_for(held);  // so that the other thread has one
      if (ended.fetch_add(1) == 98) release = true;
    } else if (!held.exchange(true)) {
      wait_for(release);
    } else {
      ended.fetch_add(1);
    }
  });
  CHECK(ended == 99);
}

TEST_CASE("Only so many threads take part as there is scratch memory for", "[core][parallel]") {
  const Host ctx(8);
  std::atomic<int> most{0};
  for (int round = 0; round < 200; ++round) {
    parallel_tasks(
        ctx, 50,
        [&](int, int member) {
          int known = most;
          while (member > known && !most.compare_exchange_weak(known, member)) {
          }
        },
        3);
  }
  CHECK(most < 3);
}

TEST_CASE("The first exception of a loop is thrown when all others have ended", "[core][parallel]") {
  const Host ctx(3);
  std::atomic<int> ended{0};
  const auto loop = [&] {
    parallel_tasks(ctx, 40, [&](int i) {
      if (i == 17) throw std::runtime_error("item 17");
      ended.fetch_add(1);
    });
  };
  CHECK_THROWS_WITH(loop(), "item 17");
  CHECK(ended == 39);
  CHECK(visits(40, [&](auto visit) { parallel_tasks(ctx, 40, visit); }) == std::vector<int>(40, 1));
}

TEST_CASE("A loop inside a loop runs on the thread that meets it", "[core][parallel]") {
  const Host ctx(3);
  std::vector<std::atomic<int>> count(60);
  std::atomic<int> elsewhere{0};
  parallel_tasks(ctx, 6, [&](int i) {
    const auto self = std::this_thread::get_id();
    parallel_tasks(ctx, 10, [&](int j, int member) {
      if (std::this_thread::get_id() != self || member != 0) elsewhere.fetch_add(1);
      count[static_cast<std::size_t>(10 * i + j)].fetch_add(1);
    });
  });
  CHECK(elsewhere == 0);
  for (const auto& c : count) CHECK(c == 1);
}

TEST_CASE("Reductions join ranges in the order of their items", "[core][parallel]") {
  for (const int threads : {1, 2, 5}) {
    const Host ctx(threads);
    const auto digits = parallel_reduce(
        ctx, Index{1000}, std::vector<Index>{}, [](Index i, std::vector<Index>& mine) { mine.push_back(i); },
        [](std::vector<Index>& all, const std::vector<Index>& mine) {
          all.insert(all.end(), mine.begin(), mine.end());
        },
        1);
    std::vector<Index> expected(1000);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(digits == expected);
    CHECK(parallel_max(
              ctx, Index{1000}, Index{-1}, [](Index i) { return i == 421 ? 5000 : i; }, 1) == 5000);
    CHECK(parallel_max(
              ctx, Index{0}, Index{-1}, [](Index i) { return i; }, 1) == -1);
    CHECK(parallel_count<Offset>(
              ctx, Index{1000}, [](Index i) { return i % 3 == 0; }, 1) == 334);
    CHECK(parallel_all(
        ctx, Index{1000}, [](Index i) { return i < 1000; }, 1));
    CHECK_FALSE(parallel_all(
        ctx, Index{1000}, [](Index i) { return i != 999; }, 1));
  }
}

TEST_CASE("Two threads that share a context get right sums, one of them alone", "[core][parallel]") {
  const Host ctx(2);
  std::atomic<Offset> total{0};
  const auto work = [&] {
    for (int round = 0; round < 500; ++round) {
      total += parallel_count<Offset>(
          ctx, Index{100}, [](Index) { return 1; }, 1);
    }
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(total == 2 * 500 * 100);
}

TEST_CASE("Loops that follow each other at once and after pauses all end", "[core][parallel]") {
  const Host ctx(3);
  Offset total = 0;
  for (int round = 0; round < 3000; ++round) {
    if (round % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // longer than threads spin
    total += parallel_count<Offset>(
        ctx, Index{30}, [](Index) { return 1; }, 1);
  }
  CHECK(total == 3000 * 30);
}

TEST_CASE("A thread that comes late takes nothing of the next loop", "[core][parallel]") {
  const Host ctx(4);
  std::vector<std::atomic<int>> count(300);
  for (int round = 0; round < 20000; ++round) {  // few shares, then many, each way of counting claims
    const int shares = round % 3 == 0 ? 2 : round % 3 == 1 ? 30 : 200;
    parallel_tasks(ctx, shares, [&](int i) { count[static_cast<std::size_t>(i)].fetch_add(1); });
  }
  for (int i = 0; i < 300; ++i) {
    CHECK(count[static_cast<std::size_t>(i)] == (i < 2 ? 20000 : i < 30 ? 13333 : i < 200 ? 6666 : 0));
  }
}

TEST_CASE("A process made by fork has threads of its own", "[core][parallel]") {
  const Host ctx(3);
  const auto sum = [&] {
    return parallel_count<Offset>(
        ctx, Index{300}, [](Index) { return 1; }, 1);
  };
  REQUIRE(sum() == 300);
  const pid_t child = fork();
  if (child == 0) _exit(sum() == 300 && sum() == 300 ? 0 : 1);
  REQUIRE(child > 0);
  CHECK(exit_code(child) == 0);
  CHECK(sum() == 300);
}

TEST_CASE("A context goes on with the threads of one that has ended, where it wants as many", "[core][parallel]") {
  if (available_processors() < 2) return;  // threads beyond one processor are not kept
  // The threads beside the caller of one loop in a context of its own.
  const auto others = [](int threads) {
    const Host ctx(threads);
    const pid_t caller =
        gettid();  // the kernel's number, since the library gives a new thread the name of an old one
    std::mutex mutex;
    std::set<pid_t> seen;
    while (static_cast<int>(seen.size()) < threads - 1) {
      parallel_tasks(ctx, threads, [&](int) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // so that the others come
        const std::lock_guard<std::mutex> lock(mutex);
        if (gettid() != caller) seen.insert(gettid());
      });
    }
    return seen;
  };
  const auto first = others(2);
  CHECK(others(2) == first);
  CHECK(parallel_count<Offset>(
            Host(available_processors() + 1), Index{300}, [](Index) { return 1; }, 1) == 300);
  CHECK(others(2) == first);  // more threads than there are processors did not take their place
  const pid_t child = fork();
  if (child == 0) _exit(others(2).size() == 1 ? 0 : 1);
  REQUIRE(child > 0);
  CHECK(exit_code(child) == 0);
  CHECK(others(2) == first);
}

TEST_CASE("A host context refuses numbers of threads that no machine has", "[core][parallel]") {
  CHECK_THROWS_AS(Host(-1), InputError);
  CHECK_THROWS_AS(Host(Host::most_threads + 1), InputError);
  CHECK_THROWS_AS(Host(100000), InputError);
  CHECK(Host(Host::most_threads).threads() == Host::most_threads);
  CHECK(parallel_count<Offset>(
            Host(Host::most_threads), Index{5000}, [](Index) { return 1; }, 1) == 5000);
}

TEST_CASE("By default a host context has as many threads as OMP_NUM_THREADS says", "[core][parallel]") {
  const char* before = std::getenv("OMP_NUM_THREADS");
  const std::string kept = before != nullptr ? before : "";
  setenv("OMP_NUM_THREADS", "3", 1);
  CHECK(Host().threads() == 3);
  setenv("OMP_NUM_THREADS", "5,2", 1);
  CHECK(Host().threads() == 5);
  setenv("OMP_NUM_THREADS", "many", 1);
  CHECK(Host().threads() == available_processors());
  unsetenv("OMP_NUM_THREADS");
  CHECK(Host().threads() == available_processors());
  CHECK(available_processors() >= 1);
  if (before != nullptr) setenv("OMP_NUM_THREADS", kept.c_str(), 1);
}

TEST_CASE("What a thread has for itself is made once, on cache lines of its own", "[core][parallel]") {
  const Host ctx(3);
  newel::detail::PerThread<int> own(ctx);
  std::vector<std::uintptr_t> at;
  for (int member = 0; member < 3; ++member) {
    CHECK(own.of(member, 10 + member) == 10 + member);
    own.of(member, 99) += 1;
    CHECK(own.of(member) == 11 + member);
    at.push_back(reinterpret_cast<std::uintptr_t>(&own.of(member)));
  }
  constexpr std::uintptr_t line = 64;
  CHECK(at[0] / line != at[1] / line);
  CHECK(at[1] / line != at[2] / line);
}

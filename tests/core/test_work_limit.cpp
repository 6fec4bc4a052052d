// SPDX-License-Identifier: Apache-2.0
// WorkLimit: who ends work, and on which thread the caller is asked.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/catch.hpp"

#include <newel/core/parallel.hpp>
#include "core/memory/work_limit.hpp"

using namespace newel::detail;

namespace {

constexpr double none = std::numeric_limits<double>::infinity();

// Items that take about 0.2 ms each; how many were worked on.
int work(const Context<Space::host>& ctx, int items) {
  std::atomic<int> done{0};
  parallel_blocks(ctx, items, 4, [&](int) {
    work_limit(ctx).check();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    ++done;
  });
  return done;
}

}  // namespace

TEST_CASE("Work without a limit goes on to its end", "[work-limit]") {
  const Context<Space::host> ctx(2);
  CHECK(work(ctx, 50) == 50);
  CHECK(work_limit(ctx).seconds_left() == none);
  const WorkLimit::Scope scope(work_limit(ctx), none, {});
  CHECK(work(ctx, 50) == 50);
  CHECK(work_limit(ctx).ended() == WorkEnd::none);
}

TEST_CASE("A time limit ends work on all threads, and the work after it at once", "[work-limit]") {
  for (const int threads : {1, 3}) {
    const Context<Space::host> ctx(threads), copy = ctx;
    {
      const WorkLimit::Scope scope(work_limit(ctx), 0.02, {});
      CHECK(work_limit(copy).seconds_left() <= 0.02);
      CHECK_THROWS_AS(work(copy, 1000000), WorkInterrupted);
      CHECK(work_limit(ctx).ended() == WorkEnd::time);
      CHECK_THROWS_AS(work(ctx, 1), WorkInterrupted);
    }
    CHECK(work(ctx, 10) == 10);
  }
}

TEST_CASE("The caller is asked on its own thread alone, and may end work", "[work-limit]") {
  const Context<Space::host> ctx(3);
  int asked = 0;
  const auto here = std::this_thread::get_id();
  const auto ask = [&] {
    CHECK(std::this_thread::get_id() == here);
    return ++asked < 3;
  };
  const WorkLimit::Scope scope(work_limit(ctx), none, ask);
  try {
    work(ctx, 1000000);
    FAIL("not ended");
  } catch (const WorkInterrupted& e) {
    CHECK(e.why() == WorkEnd::caller);
  }
  CHECK(asked == 3);
  CHECK(work_limit(ctx).ended() == WorkEnd::caller);
}

TEST_CASE("A limit inside another changes nothing", "[work-limit]") {
  const Context<Space::host> ctx(1);
  const WorkLimit::Scope outer(work_limit(ctx), 1000, {});
  {
    const WorkLimit::Scope inner(work_limit(ctx), 0, {});
    CHECK_FALSE(inner.outermost());
    CHECK(work(ctx, 3) == 3);
  }
  CHECK(work_limit(ctx).seconds_left() > 900);
}

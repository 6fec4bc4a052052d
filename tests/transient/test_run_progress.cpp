// SPDX-License-Identifier: Apache-2.0
// The progress of a run: what the line says, how narrow it gets, how many lines a pipe sees.
#include "tests/catch.hpp"

#include "apps/transient/run_progress.hpp"

using namespace newel::transient;

namespace {

RunState half_way() {
  RunState state;
  state.time = 200;
  state.end = 400;
  state.step = 0.5;
  state.steps = 400;
  state.newton = 3;
  state.iterations = 14;
  state.seconds = 10;
  state.note = "hot";
  return state;
}

std::string drawn(RunProgress::Mode mode, int steps) {
  const TemporaryFolder folder;
  const std::string name = folder.file("out");
  std::FILE* out = std::fopen(name.c_str(), "w");
  {
    RunProgress progress(out, mode, {"s", 1});
    RunState state = half_way();
    state.end = steps;
    for (int i = 1; i <= steps; ++i) {
      state.time = i;
      state.seconds = i;
      progress.update(state);
    }
    progress.say("a word");
  }
  std::fclose(out);
  return file_content(name);
}

}  // namespace

TEST_CASE("a line tells time, share, pace, iterations and what is left", "[transient]") {
  const std::string line = format_run_line(half_way(), {"ms", 1e-3}, 200);
  CHECK(line == "200 of 400 ms   50%  10.0 s left  50 times slower than real time  newton 3  iterations 14  hot");
  for (int width = 0; width < 100; ++width) {
    CHECK(static_cast<int>(format_run_line(half_way(), {"ms", 1e-3}, width).size()) <= width);
  }
}

TEST_CASE("the pace is told as slower or faster, in words that a line of progress and a report share",
          "[transient]") {
  CHECK(pace_text(32.1) == "32.1 times slower than real time");
  CHECK(pace_text(0.02) == "50 times faster than real time");
  CHECK(pace_text(1) == "1 times slower than real time");
  CHECK(pace_text(999.7) == "1,000 times slower than real time");
  CHECK(pace_text(1.0 / 43210) == "43,210 times faster than real time");
  CHECK(pace_text(0).empty());
  const std::string fast = format_run_line(half_way(), {"s", 1}, 200);
  CHECK(contains(fast, "  20 times faster than real time  "));
}

TEST_CASE("a resumed run reckons from where it began", "[transient]") {
  RunState state = half_way();
  state.start = 100;
  CHECK(seconds_left(state) == Approx(20));
  CHECK(real_time_factor(state, {"ms", 1e-3}) == Approx(100));
  state.time = 100;
  CHECK(seconds_left(state) == 0);
  CHECK(real_time_factor(state, {"ms", 1e-3}) == 0);
  CHECK_FALSE(contains(format_run_line(state, {"ms", 1e-3}, 200), "real time"));
}

TEST_CASE("a pipe sees some twenty lines of a long run, a quiet one none", "[transient]") {
  const std::string lines = drawn(RunProgress::Mode::plain, 1000);
  const auto count = std::count(lines.begin(), lines.end(), '\n');
  CHECK(count >= 20);
  CHECK(count <= 24);
  CHECK(contains(lines, "1000 of 1000 s"));
  CHECK_FALSE(contains(lines, "\x1b"));
  CHECK(drawn(RunProgress::Mode::silent, 1000).empty());
  const std::string live = drawn(RunProgress::Mode::live, 10);
  CHECK(contains(live, "a word\n"));
  CHECK(contains(live, "\r\x1b[K"));
}

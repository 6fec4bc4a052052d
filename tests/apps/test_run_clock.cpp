// SPDX-License-Identifier: Apache-2.0
// Phases by a clock that the test sets, and the age of a process from the text of its status.
#include "tests/catch.hpp"

#include "apps/common/run_clock.hpp"

using namespace newel::cli;

namespace {

// The fields behind the name: state, 18 numbers, the start in ticks, and some more.
std::string stat_of(const std::string& name, const std::string& start) {
  std::string stat = "4711 (" + name + ") R";
  for (int field = 4; field < 22; ++field) stat += ' ' + std::to_string(1000 * field);
  return stat + ' ' + start + " 12345 678 18446744073709551615";
}

}  // namespace

TEST_CASE("Every moment since the start of a process belongs to a phase", "[cli][clock]") {
  double now = 100;
  RunClock clock(0.25, [&] { return now; });
  CHECK(clock.total() == 0);
  now += 0.5;
  clock.end("launch");
  now += 2;
  clock.end("read");
  clock.end("checks");
  now += 1;
  clock.end("report");
  now += 4;
  clock.end("solve");
  now += 8;
  clock.end("report");
  CHECK(clock.seconds("launch") == 0.75);
  CHECK(clock.seconds("read") == 2);
  CHECK(clock.seconds("checks") == 0);
  CHECK(clock.seconds("report") == 9);
  CHECK(clock.seconds("solve") == 4);
  CHECK(clock.seconds("files") == 0);
  CHECK(clock.total() == 0.25 + (now - 100));
  REQUIRE(clock.phases().size() == 5);
  CHECK(clock.phases()[3].first == "report");
}

TEST_CASE("The age of a process is never too long, and too short by a tick at most", "[cli][clock]") {
  CHECK(process_age(stat_of("newel", "50000"), 510, 100, 0) == Approx(9.99));
  CHECK(process_age(stat_of("a ) R 1 (b", "50000"), 510, 100, 0) == Approx(9.99));
  // A process younger than a tick: its processor time.
  CHECK(process_age(stat_of("newel", "50000"), 500.005, 100, 0.004) == 0.004);
  for (const std::string& unknown :
       {std::string(), std::string("4711 (newel) R 1 2"), stat_of("newel", "0"), stat_of("newel", "x")}) {
    CHECK(process_age(unknown, 510, 100, 0.004) == 0.004);
  }
  CHECK(process_age() >= 0);
}

// SPDX-License-Identifier: Apache-2.0
// Tones of records that are made of known sines.
#include "tests/beam/beam_support.hpp"

#include "apps/beam/spectrum.hpp"

using namespace newel::beam;

namespace {

std::vector<double> record(int count, double step, const std::vector<Tone>& tones) {
  std::vector<double> values(static_cast<std::size_t>(count), 0.3);
  for (int i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < tones.size(); ++k) {
      values[static_cast<std::size_t>(i)] +=
          tones[k].amplitude * std::sin(2 * pi * tones[k].frequency * step * i + static_cast<double>(k));
    }
  }
  return values;
}

}  // namespace

TEST_CASE("the tones of a record are the sines that it is made of", "[beam]") {
  const std::vector<Tone> made = {{440.3, 2}, {2756.1, 0.05}, {1000, 0.4}};
  for (const int count : {2000, 3001}) {
    const double step = 5e-5;
    const std::vector<Tone> found = tones_of(record(count, step, made), step, 6);
    REQUIRE(found.size() >= 3);
    const double resolution = 1 / (count * step);
    const std::size_t order[] = {0, 2, 1};  // by strength
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(std::fabs(found[k].frequency - made[order[k]].frequency) < 0.01 * resolution);
      CHECK(found[k].amplitude == Approx(made[order[k]].amplitude).epsilon(0.01));
    }
    CHECK(tones_of(record(count, step, made), step, 2).size() == 2);
  }
}

TEST_CASE("silence and short records have no tones", "[beam]") {
  CHECK(tones_of(std::vector<double>(15, 1.0), 1, 3).empty());
  CHECK(tones_of(std::vector<double>(100, 0.25), 1, 3).empty());
}

TEST_CASE("a frequency is freed of the error of the time step", "[beam]") {
  // An oscillation turns by 2 atan(w dt / 2) a step.
  const double frequency = 440, dt = 1e-4;
  const double seen = 2 * std::atan(pi * frequency * dt) / (2 * pi * dt);
  CHECK(seen < 440 - 2);
  CHECK(without_step(seen, dt) == Approx(frequency).epsilon(1e-12));
}

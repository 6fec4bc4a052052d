// SPDX-License-Identifier: Apache-2.0
// Bodies: built-in meshes, forces, probes, and what is refused.
#include "tests/beam/beam_support.hpp"

using namespace newel::beam;

namespace {

double volume_of(const fem::TetMesh& mesh) {
  double sum = 0;
  for (Index t = 0; t < mesh.tet_count(); ++t) sum += fem::element_volume(mesh, t);
  return sum;
}

BeamBody body_of(const BeamParams& params, int strikes = 1) { return small_bar(params, strikes); }

}  // namespace

TEST_CASE("the fork and the bar have the volume of their parts", "[beam]") {
  const Context<Space::host> ctx(2);
  const TuningFork f;
  const fem::TetMesh fork = make_fork(f);
  CHECK(fem::first_inverted(ctx, fork) == -1);
  const double across = f.gap + 2 * f.thickness;
  CHECK(volume_of(fork) ==
        Approx(f.width * (0.5 * f.gap * f.stem + across * f.bridge + 2 * f.thickness * f.length)).epsilon(1e-12));
  const ClampedBar b;
  CHECK(volume_of(make_bar(b)) == Approx(b.length * b.width * b.height).epsilon(1e-12));
}

TEST_CASE("a strike has its force in all, on both sides none", "[beam]") {
  BeamParams params = bar_params();
  const auto total = [](const std::vector<double>& force, std::size_t axis) {
    double sum = 0;
    for (std::size_t row = axis; row < force.size(); row += 3) sum += force[row];
    return sum;
  };
  const BeamBody one = body_of(params);
  CHECK(total(one.strikes[0], 0) == 0);
  CHECK(total(one.strikes[0], 2) == Approx(-50).epsilon(1e-13));
  params.sides = "both";
  const BeamBody both = body_of(params);
  CHECK(std::fabs(total(both.strikes[0], 2)) < 1e-12);
  // Of a bar that is struck at its upper end along z, the mirror image is the lower end.
  double pinched = 0;
  for (std::size_t i = 0; i < both.mesh.nodes.size(); ++i) {
    if (both.strikes[0][3 * i + 2] > 0) pinched += both.mesh.nodes[i][2] == 0 ? 1 : 100;
  }
  CHECK((pinched > 0 && pinched < 100));
}

TEST_CASE("a strike follows half a sine, and its means lose no momentum", "[beam]") {
  BeamParams params;
  params.strike_seconds = 1e-3;
  double momentum = 0;
  for (int i = 0; i < 7; ++i) momentum += 2e-4 * params.mean_force(2e-4 * i, 2e-4 * (i + 1));
  CHECK(momentum == Approx(2e-3 / pi).epsilon(1e-13));
  CHECK(params.mean_force(5e-4 - 1e-7, 5e-4 + 1e-7) == Approx(1).epsilon(1e-6));
  CHECK(params.mean_force(1e-3, 2e-3) == 0);
}

TEST_CASE("several strikes lie evenly between the first and the last", "[beam]") {
  const BeamBody body = body_of(bar_params(), 5);
  REQUIRE(body.strikes.size() == 5);
  for (std::size_t k = 0; k < 5; ++k) CHECK(body.struck_at[k][0] == Approx(0.06 - 0.01 * static_cast<double>(k)));
}

TEST_CASE("a tip is struck at the highest node, whose record is kept", "[beam]") {
  BeamParams params = bar_params();
  params.struck = "tip";
  const BeamBody body = body_of(params);
  CHECK(body.struck_at.front()[0] == Approx(0.06));
  CHECK(body.mesh.nodes[static_cast<std::size_t>(body.probes.front())][0] == Approx(0.06));
  CHECK(contains(message_of<InputError>([&] { (void)body_of(params, 2); }),
                 "--strikes: several need strike.where 'ball'"));
}

TEST_CASE("clamps, strikes and probes that cannot be are refused", "[beam]") {
  BeamParams params = bar_params();
  params.lowest_share = 1;
  CHECK(contains(message_of<InputError>([&] { (void)body_of(params); }), "clamp.lowest_share"));
  params = bar_params();
  params.up = {0, 0, 0};
  CHECK(contains(message_of<InputError>([&] { (void)body_of(params); }), "clamp.up"));
  params = bar_params();
  params.ball_centre = {0, 0, 0};
  params.radius = 0;
  CHECK(contains(message_of<InputError>([&] { (void)body_of(params); }), "is clamped"));
  params = bar_params();
  params.probes = {1, 4711};
  CHECK(contains(message_of<InputError>([&] { (void)body_of(params); }), "probes.nodes: the mesh has no node 4711"));
}

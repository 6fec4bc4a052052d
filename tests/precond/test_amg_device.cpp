// SPDX-License-Identifier: Apache-2.0
// AMG on the device: the host's cycle, and the same from a captured graph, refreshed values included.
#include "tests/capture_device.hpp"
#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"

namespace purlin::testing {

TEST_CASE("AMG's cycle on the device is that of the host", "[amg][device]") {
  const Context<Space::host> host;
  const Context<Space::device> device;
  const MeshSystem elastic("generate:elasticity:6");
  const auto x = random_vector<double>(elastic.a.rows);
  const std::vector<Index> old_of_new = random_order(elastic.a.rows, 5);
  const auto here = amg<double>(host, elastic.a, small_levels(40), elastic.coordinates, old_of_new);
  const auto there = amg<double>(device, elastic.a, small_levels(40), elastic.coordinates, old_of_new);
  const auto y = applied(host, here, x), z = applied(device, there, x);
  double difference = 0;
  for (std::size_t i = 0; i < y.size(); ++i) difference = std::max(difference, std::fabs(y[i] - z[i]));
  CHECK(difference < 1e-13 * norm_oracle(y));
  // The hierarchy is made on the host in both cases.
  const auto& one = here.hierarchy().levels();
  const auto& other = there.hierarchy().levels();
  REQUIRE(one.size() == other.size());
  for (std::size_t l = 0; l < one.size(); ++l) {
    CHECK(one[l].aggregates.of_node == other[l].aggregates.of_node);
    CHECK(eigen_dense(one[l].a) == eigen_dense(other[l].a));
  }
}

TEST_CASE("AMG's captured cycle is its cycle, also after a refresh", "[amg][device]") {
  const Context<Space::device> ctx;
  const HostCsr a = fem_matrix("generate:diffusion:8");
  auto m = amg<double>(ctx, a, small_levels());
  const auto x = upload(ctx, random_vector<double>(a.rows));
  auto y = poisoned<double>(ctx, a.rows);
  const CapturedGraph graph(ctx, [&] { m.apply(ctx, 1.0, x.cspan(), 0.0, y.span()); });
  for (const double factor : {1.0, 3.0, 0.7}) {
    HostCsr changed = a;
    for (double& value : changed.val) value *= factor;
    const auto values = upload(ctx, changed.val);
    m.refresh(ctx, values.cspan());
    auto direct = poisoned<double>(ctx, a.rows);
    m.apply(ctx, 1.0, x.cspan(), 0.0, direct.span());
    graph.launch();
    CHECK(same_bits(download(ctx, y), download(ctx, direct)));
  }
}

}  // namespace purlin::testing

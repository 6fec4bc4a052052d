// SPDX-License-Identifier: Apache-2.0
// AMG on the device: the host's cycle, and the same from a captured graph, refreshed values included.
#include "tests/capture_device.hpp"
#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"

namespace {

// Both spaces decide alike; sums differ in their order.
template <class HostLevels, class DeviceLevels>
void check_same_hierarchy(const Context<Space::host>& host, const Context<Space::device>& device,
                          const HostLevels& here, const DeviceLevels& there) {
  REQUIRE(here.size() == there.size());
  for (std::size_t l = 0; l < here.size(); ++l) {
    CHECK(here[l].aggregates.of_node == on_host(device, there[l].aggregates.of_node));
    CHECK(here[l].aggregates.smallest == there[l].aggregates.smallest);
    CHECK(here[l].aggregates.largest == there[l].aggregates.largest);
    CHECK(here[l].aggregates.mean == there[l].aggregates.mean);
    CHECK(here[l].tentative.missing == there[l].tentative.missing);
    CHECK(here[l].smoother == there[l].smoother);
    CHECK(std::fabs(here[l].lambda - there[l].lambda) <= 1e-10 * std::fabs(here[l].lambda));
    const EigenDense a = eigen_dense(host, here[l].a), p = eigen_dense(host, here[l].p);
    CHECK(largest(a - eigen_dense(device, there[l].a)) <= 1e-11 * largest(a));
    CHECK(largest(p - eigen_dense(device, there[l].p)) <= 1e-11 * largest(p));
  }
}

struct Compared {
  std::string name;
  HostCsr a;
  std::shared_ptr<NodeCoordinates> coordinates;
  PrecondOptions options = small_levels(40);
};

// The matrix with every entry a full block: a_ij B, B definite.
HostCsr with_blocks(const HostCsr& a, int block) {
  MapRows rows(a.rows * block);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      for (int e = 0; e < block * block; ++e) {
        const int r = e / block, c = e % block;
        rows[i * block + r][a.col[k] * block + c] = a.val[k] * (r == c ? 2.0 + r : 0.25);
      }
    }
  }
  return from_rows(a.rows * block, rows);
}

// One node coupled with all others: its row has more columns than a warp collects in its table.
HostCsr with_long_row(const HostCsr& a) {
  MapRows rows(a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) rows[i][a.col[k]] = a.val[k];
  }
  for (Index i = 1; i < a.rows; ++i) {
    rows[0][i] -= 0.5;
    rows[i][0] -= 0.5;
    rows[i][i] += 0.5;
    rows[0][0] += 0.5;
  }
  return from_rows(a.rows, rows);
}

PrecondOptions with_vectors(Index rows, int count) {
  PrecondOptions options = small_levels(60);
  NearNullVectors vectors;
  vectors.count = count;
  vectors.values = random_vector<double>(rows * count);
  options.of<AmgOptions>().vectors = std::make_shared<const NearNullVectors>(std::move(vectors));
  return options;
}

std::vector<Compared> compared_systems() {
  std::vector<Compared> systems;
  const auto add = [&](const std::string& spec, const PrecondOptions& options) {
    MeshSystem system(spec);
    systems.push_back({spec, std::move(system.a), system.coordinates, options});
  };
  PrecondOptions anisotropic = small_levels(20), wide = small_levels(40);
  anisotropic.of<AmgOptions>().theta = 0.25;  // has weak couplings
  wide.of<AmgOptions>().max_width = 64;
  add("generate:elasticity:6", small_levels(40));
  add("generate:elasticity:6", wide);
  add("generate:diffusion:9", anisotropic);
  add("generate:convection:12:5", small_levels(20));
  systems.push_back({"entries without opposites", dominant_matrix(90), nullptr, small_levels(6)});
  // Two nodes to an aggregate have five modes: columns of zeros.
  systems.push_back({"blocks of 2", with_blocks(fem_matrix("generate:diffusion:7"), 2), nullptr, small_levels(20)});
  systems.push_back({"blocks of 4", with_blocks(fem_matrix("generate:diffusion:6"), 4), nullptr, small_levels(30)});
  systems.push_back({"a long row", with_long_row(fem_matrix("generate:grid7:8")), nullptr, small_levels(20)});
  const HostCsr grid = fem_matrix("generate:grid7:9");
  systems.push_back({"eight near-null vectors", grid, nullptr, with_vectors(grid.rows, 8)});
  systems.push_back({"pieces", pieces(neumann_grid(12, 9), neumann_grid(2, 1)), nullptr, small_levels(6)});
  return systems;
}

}  // namespace

TEST_CASE("AMG's hierarchy and cycle on the device are those of the host", "[amg][device]") {
  const Context<Space::host> host;
  const Context<Space::device> device;
  for (const Compared& system : compared_systems()) {
    INFO(system.name);
    const auto x = random_vector<double>(system.a.rows);
    const std::vector<Index> old_of_new = random_order(system.a.rows, 5);
    const auto here = amg<double>(host, system.a, system.options, system.coordinates, old_of_new);
    const auto there = amg<double>(device, system.a, system.options, system.coordinates, old_of_new);
    check_same_hierarchy(host, device, here.hierarchy().levels(), there.hierarchy().levels());
    const auto y = applied(host, here, x), z = applied(device, there, x);
    double difference = 0;
    for (std::size_t i = 0; i < y.size(); ++i) difference = std::max(difference, std::fabs(y[i] - z[i]));
    CHECK(difference < 1e-10 * norm_oracle(y));
  }
}

TEST_ON_DEVICE("AMG's captured cycle is its cycle, also after a refresh", "[amg][device]") {
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

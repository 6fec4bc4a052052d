// SPDX-License-Identifier: Apache-2.0
// AMG for new values: what each scope of a refresh replaces.
#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"

TEST_BOTH("A full refresh of AMG equals a new setup on the same aggregates, bit for bit", "[amg]") {
  const MeshSystem system("generate:elasticity:6");
  HostCsr changed = system.a;
  Random random(7);
  // Symmetric changes of all entries by up to a tenth; without thresholds aggregates and patterns are those of A's
  // pattern.
  for (Index i = 0; i < changed.rows; ++i) {
    for (Offset k = changed.row_ptr[i]; k < changed.row_ptr[i + 1]; ++k) {
      changed.val[k] *= 1 + 0.1 * std::sin(1.0 + std::min(i, changed.col[k]) * std::max(i, changed.col[k]));
    }
  }
  const std::vector<Index> old_of_new = random_order(system.a.rows, 4);
  const auto x = random_vector<double>(system.a.rows);
  const auto values = upload(ctx, changed.val);
  const auto by_pattern = [] {
    PrecondOptions options = small_levels(40);
    options.of<AmgOptions>().theta = 0;
    options.of<AmgOptions>().max_width = 64;
    return options;
  };
  const auto refreshed = [&](AmgRefresh scope) {
    PrecondOptions options = by_pattern();
    options.of<AmgOptions>().refresh = scope;
    auto m = amg<double, S>(ctx, system.a, options, system.coordinates, old_of_new);
    REQUIRE(m.hierarchy().levels().size() >= 2);
    m.refresh(ctx, values.cspan());
    return applied(ctx, m, x);
  };
  const auto fresh = [&](const HostCsr& a) {
    return applied(ctx, amg<double, S>(ctx, a, by_pattern(), system.coordinates, old_of_new), x);
  };
  CHECK(same_bits(refreshed(AmgRefresh::full), fresh(changed)));
  CHECK(same_bits(refreshed(AmgRefresh::keep), fresh(system.a)));
  CHECK_FALSE(same_bits(refreshed(AmgRefresh::galerkin), fresh(changed)));
}

TEST_BOTH("AMG whose nodes have moved is, once it is refreshed, that of the new coordinates, bit for bit", "[amg]") {
  const MeshSystem system("generate:elasticity:6");
  const auto moved = std::make_shared<NodeCoordinates>(*system.coordinates);
  for (std::size_t i = 0; i < moved->xyz.size(); ++i) moved->xyz[i] += 0.02 * std::sin(static_cast<double>(i));
  PrecondOptions options = small_levels(40);
  options.of<AmgOptions>().theta = 0;  // aggregates and patterns are those of A's pattern
  options.of<AmgOptions>().max_width = 64;
  const auto x = random_vector<double>(system.a.rows);
  const auto values = upload(ctx, system.a.val);
  const auto after = [&](AmgRefresh scope, AmgNearNull near_null, int refreshes) {
    options.of<AmgOptions>().refresh = scope;
    options.of<AmgOptions>().near_null = near_null;
    auto m = amg<double, S>(ctx, system.a, options, system.coordinates);
    REQUIRE(m.hierarchy().levels().size() >= 2);
    m.move_nodes(ctx, *moved);
    for (int i = 0; i < refreshes; ++i) m.refresh(ctx, values.cspan());
    return applied(ctx, m, x);
  };
  const auto at = [&](const std::shared_ptr<NodeCoordinates>& coordinates, AmgNearNull near_null) {
    options.of<AmgOptions>().near_null = near_null;
    return applied(ctx, amg<double, S>(ctx, system.a, options, coordinates), x);
  };
  const auto rigid = AmgNearNull::automatic, constant = AmgNearNull::constant;
  REQUIRE_FALSE(same_bits(at(moved, rigid), at(system.coordinates, rigid)));
  CHECK(same_bits(after(AmgRefresh::full, rigid, 1), at(moved, rigid)));
  CHECK(same_bits(after(AmgRefresh::galerkin, rigid, 1), at(moved, rigid)));
  CHECK(same_bits(after(AmgRefresh::galerkin, rigid, 2), at(moved, rigid)));
  CHECK(same_bits(after(AmgRefresh::galerkin, rigid, 0), at(system.coordinates, rigid)));
  CHECK(same_bits(after(AmgRefresh::keep, rigid, 1), at(system.coordinates, rigid)));
  CHECK(same_bits(after(AmgRefresh::full, constant, 1), at(moved, constant)));
}

TEST_BOTH("A full refresh of AMG keeps what thresholds decided, bit for bit", "[amg]") {
  const MeshSystem system("generate:elasticity:7");
  HostCsr changed = system.a;
  for (double& value : changed.val) value *= 8;  // decides nothing differently
  PrecondOptions options = small_levels(30);
  options.of<AmgOptions>().refresh = AmgRefresh::full;
  options.of<AmgOptions>().max_width = 3;
  options.of<AmgOptions>().theta = 0.05;
  auto m = amg<double, S>(ctx, system.a, options, system.coordinates);
  REQUIRE(m.hierarchy().levels()[0].kept.size() > 0);
  const auto values = upload(ctx, changed.val);
  m.refresh(ctx, values.cspan());
  const auto x = random_vector<double>(system.a.rows);
  const auto fresh = amg<double, S>(ctx, changed, options, system.coordinates);
  CHECK(same_bits(applied(ctx, m, x), applied(ctx, fresh, x)));
}

TEST_BOTH("A galerkin refresh of AMG keeps the prolongators and replaces all else", "[amg]") {
  const HostCsr a = fem_matrix("generate:diffusion:8");
  HostCsr changed = a;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.col[k] == i) changed.val[k] *= 1.5 + 0.3 * std::cos(i);
    }
  }
  auto m = amg<double, S>(ctx, a, small_levels());
  const EigenDense p = eigen_dense(ctx, m.hierarchy().levels()[0].p);
  const auto values = upload(ctx, changed.val);
  m.refresh(ctx, values.cspan());
  const auto& levels = m.hierarchy().levels();
  CHECK(eigen_dense(ctx, levels[0].p) == p);
  CHECK(eigen_dense(ctx, levels[0].a) == eigen_dense(changed));
  CHECK(largest(eigen_dense(ctx, levels[1].a) - p.transpose() * eigen_dense(changed) * p) < 1e-13);
  const EigenDense expected = cycle_oracle(ctx, levels, 0, AmgOptions{});
  CHECK(difference_on_vectors(ctx, m, expected) < 1e-12);
}

// SPDX-License-Identifier: Apache-2.0
// In which precision AMG's cycle works where that is left to it: by the iterations that double would take.

#include <newel/solver/linear_system.hpp>

#include "tests/catch.hpp"
#include "tests/solver/options.hpp"
#include "tests/precond/amg_support.hpp"

namespace {

// Diffusion on a grid of n^d cells, held by a unit conductance at two opposite sides: between cells the harmonic mean
// of k.
HostCsr diffusion(int n, int d, const std::function<double(int x, int y, int z)>& k) {
  const int depth = d > 2 ? n : 1, height = d > 1 ? n : 1;
  const auto number = [&](int x, int y, int z) { return (z * height + y) * n + x; };
  MapRows rows(static_cast<std::size_t>(n) * height * depth);
  for (int z = 0; z < depth; ++z) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < n; ++x) {
        const Index i = number(x, y, z);
        const auto join = [&](int x2, int y2, int z2) {
          if (x2 >= n || y2 >= height || z2 >= depth) return;
          const double mean = 2 / (1 / k(x, y, z) + 1 / k(x2, y2, z2));
          const Index j = number(x2, y2, z2);
          rows[i][j] = rows[j][i] = -mean;
          rows[i][i] += mean;
          rows[j][j] += mean;
        };
        join(x + 1, y, z);
        join(x, y + 1, z);
        join(x, y, z + 1);
        if (x == 0 || x == n - 1) rows[i][i] += 1;
      }
    }
  }
  return from_rows(static_cast<Index>(rows.size()), rows);
}

struct Run {
  Status status;
  int iterations = 0;
  bool single = false;
};

template <Space S>
Run run(const Context<S>& ctx, const HostCsr& a, AmgPrecision precision) {
  SystemOptions options = system_options("cg", "amg", "csr", 1e-6);
  options.precond.of<AmgOptions>().precision = precision;
  options.precond.of<AmgOptions>().max_coarse = 40;
  options.stop.max_iterations = 400;
  const auto there = upload_matrix<double>(ctx, a);
  LinearSystem<double, S> system(ctx, there.wide(), options);
  const auto b = upload(ctx, std::vector<double>(static_cast<std::size_t>(a.rows), 1.0));
  auto x = upload(ctx, std::vector<double>(static_cast<std::size_t>(a.rows), 0.0));
  const SolveReport report = system.solve(b.cspan(), x.span());
  return {report.status, report.iterations, contains(system.info().preconditioner.detail, "in single precision")};
}

// An inclusion, layers, a chain of stiff pieces, and stiff needles.
std::vector<std::pair<std::string, HostCsr>> contrasts(double k, int n2, int n3) {
  const auto inside = [](int n) { return [n](int x) { return x >= n / 4 && x < 3 * n / 4; }; };
  const auto in2 = inside(n2), in3 = inside(n3);
  return {
      {"inclusion 2-D", diffusion(n2, 2, [&](int x, int y, int) { return in2(x) && in2(y) ? k : 1.0; })},
      {"inclusion 3-D", diffusion(n3, 3, [&](int x, int y, int z) { return in3(x) && in3(y) && in3(z) ? k : 1; })},
      {"layers 2-D", diffusion(n2, 2, [&](int x, int, int) { return x / 4 % 2 == 1 ? k : 1.0; })},
      {"layers 3-D", diffusion(n3, 3, [&](int, int y, int) { return y / 3 % 2 == 1 ? k : 1.0; })},
      {"soft matrix", diffusion(n2, 2, [&](int x, int y, int) { return x % 6 < 5 && y % 6 < 5 ? k : 1.0; })},
      {"chain", diffusion(40 * n2, 1, [&](int x, int, int) { return x / 10 % 2 == 1 ? k : 1.0; })}};
}

}  // namespace

// The share of an iteration in double that one in single precision takes.
constexpr double share_of_time = 0.6;

TEST_CASE("AMG that chooses its precision gains more than the iterations that it adds, whatever the contrast",
          "[amg][precision]") {
  const Context<Space::host> ctx(1);
  for (const double k : {1.0, 1e2, 1e4, 1e6, 1e7, 1e8, 1e10}) {
    for (const auto& [name, a] : contrasts(k, 32, 12)) {
      const Run in_double = run(ctx, a, AmgPrecision::system), chosen = run(ctx, a, AmgPrecision::automatic);
      INFO(name << ", contrast " << k << ": " << in_double.iterations << " in double, " << chosen.iterations
                << (chosen.single ? " in single" : " chosen double"));
      CHECK((chosen.status == in_double.status || chosen.status == Status::converged));
      if (in_double.status == Status::converged) CHECK(share_of_time * chosen.iterations <= in_double.iterations);
      if (k <= 1e2) CHECK(chosen.single);
    }
  }
}

TEST_CASE("Penalties on single rows leave AMG in single precision", "[amg][precision]") {
  const Context<Space::host> ctx(1);
  for (const double penalty : {1e4, 1e8, 1e12}) {
    HostCsr a = diffusion(32, 2, [](int, int, int) { return 1.0; });
    for (Index i = 0; i < 32; ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) a.val[k] += a.col[k] == i ? penalty : 0;
    }
    const Run in_double = run(ctx, a, AmgPrecision::system), chosen = run(ctx, a, AmgPrecision::automatic);
    INFO("penalty " << penalty);
    CHECK(in_double.status == Status::converged);
    CHECK(chosen.single);
    CHECK(chosen.iterations <= in_double.iterations + 1);
  }
}

// With the usual coarse level, whose dense inverse in single precision fails at this contrast whatever the order of
// sums: it did in 48 of 48 such systems, in two builds.
TEST_BOTH("A cycle in single precision that fails is followed by one in double", "[amg][precision]") {
  const auto with = [](double k) {
    return diffusion(32, 2, [k](int x, int y, int) { return x > 7 && x < 24 && y > 7 && y < 24 ? k : 1.0; });
  };
  SystemOptions options = system_options("cg", "amg", "csr");
  options.stop.rel_tol = 1e-3;  // rounding allows 3e-4
  const HostCsr soft = with(1), stiff = with(1e10);
  const auto there = upload_matrix<double>(ctx, soft);
  LinearSystem<double, S> system(ctx, there.wide(), options);
  const auto values = upload(ctx, stiff.val);
  system.refresh(values.cspan());  // keeps the precision
  CHECK(contains(system.info().preconditioner.detail, "in single precision"));
  const std::vector<double> ones(static_cast<std::size_t>(stiff.rows), 1.0);
  const SolveReport report = checked_solve(ctx, system, stiff, ones, 1e-3);
  CHECK(report.converged());
  const bool in_double = contains(report.changed, "double precision");
  CHECK(in_double == (!contains(system.info().preconditioner.detail, "in single precision")));
  CHECK(in_double);
}

// SPDX-License-Identifier: Apache-2.0
// A cycle for several vectors at once gives each what a cycle for it alone gives.
#include <functional>

#include <newel/solver/linear_system.hpp>

#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"
#include "tests/precond/columns_support.hpp"

TEST_BOTH("A cycle for several vectors gives each what a cycle for it alone gives", "[amg][columns]") {
  struct Case {
    std::string name;
    HostCsr a;
    std::function<void(PrecondOptions&)> set;
    std::shared_ptr<const NodeCoordinates> coordinates = nullptr;
    double tolerance = 1e-13;
  };
  const auto nothing = [](PrecondOptions&) {};
  const MeshSystem body("generate:elasticity:6");
  const HostCsr poisson = fem_matrix("generate:diffusion:12");
  const std::vector<Case> cases = {
      {"single entries", poisson, nothing},
      {"single precision", poisson, [](PrecondOptions& o) { o.of<AmgOptions>().precision = AmgPrecision::single; },
       nullptr, 1e-5},
      {"blocks of rigid body modes", body.a, nothing, body.coordinates},
      {"nodes of three", body.a, nothing},
      {"nodes of two", kron_identity(fem_matrix("generate:diffusion:8"), 2), nothing},
      {"nodes of four", kron_identity(fem_matrix("generate:diffusion:6"), 4), nothing},
      {"FSAI smooths", poisson, [](PrecondOptions& o) { o.of<AmgOptions>().smoother = AmgSmoother::fsai; }},
      {"SPAI smooths", fem_matrix("generate:convection:7"),
       [](PrecondOptions& o) { o.of<AmgOptions>().smoother = AmgSmoother::spai; }},
      {"a polynomial of one step", poisson,
       [](PrecondOptions& o) {
         o.of<AmgOptions>().smoother = AmgSmoother::jacobi;
         o.of<AmgOptions>().degree = 1;
       }},
      {"one level that is smoothed", poisson, [](PrecondOptions& o) { o.of<AmgOptions>().theta = 1; }},
      {"all is inverted", fem_matrix("generate:diffusion:3"),
       [](PrecondOptions& o) { o.of<AmgOptions>().max_coarse = 500; }}};
  for (const Case& of : cases) {
    for (const int max_coarse : {12, 200}) {
      INFO(of.name << ", at most " << max_coarse << " coarse rows");
      PrecondOptions options = small_levels(max_coarse);
      of.set(options);
      check_columns(ctx, amg<double, S>(ctx, of.a, options, of.coordinates), of.tolerance);
    }
  }
}

TEST_BOTH("A cycle for several vectors takes rows in another order", "[amg][columns]") {
  const HostCsr a = fem_matrix("generate:diffusion:9");
  std::vector<Index> reversed(static_cast<std::size_t>(a.rows));
  std::iota(reversed.rbegin(), reversed.rend(), Index{0});
  check_columns(ctx, amg<double, S>(ctx, a, small_levels(40), nullptr, reversed), 1e-13);
}

TEST_BOTH("Columns are solved with one cycle for all, and as one after another", "[amg][columns]") {
  const HostCsr a = fem_matrix("generate:diffusion:12");
  SystemOptions options;
  options.solver.name = "cg";
  options.precond.name = "amg";
  options.columns = 4;
  const auto there = upload_matrix<double>(ctx, a);
  LinearSystem<double, S> system(ctx, there.wide(), options);
  constexpr int columns = 5;  // four together, and one
  std::vector<double> b;
  for (int c = 0; c < columns; ++c) {
    const std::vector<double> one = random_vector<double>(a.rows, 7 + c);
    b.insert(b.end(), one.begin(), one.end());
  }
  const auto b_there = upload(ctx, b);
  auto x = upload(ctx, std::vector<double>(b.size(), 0.0)), alone = upload(ctx, std::vector<double>(b.size(), 0.0));
  const std::vector<SolveReport> reports = system.solve_columns(b_there.cspan(), x.span(), columns);
  const auto solved = download(ctx, x);
  for (int c = 0; c < columns; ++c) {
    const std::int64_t at = std::int64_t{c} * a.rows;
    const SolveReport report = system.solve(b_there.cspan().subspan(at, a.rows), alone.span().subspan(at, a.rows));
    const auto of = [&](const std::vector<double>& all) {
      return std::vector<double>(all.begin() + at, all.begin() + at + a.rows);
    };
    CHECK(reports[static_cast<std::size_t>(c)].converged());
    CHECK(std::abs(reports[static_cast<std::size_t>(c)].iterations - report.iterations) <= 1);
    CHECK(residual_norm(a, of(solved), of(b)) <= 1.01e-8 * norm_oracle(of(b)));
  }
}

// SPDX-License-Identifier: Apache-2.0
// Ranks that pass approximate eigenvectors on from solve to solve.
#include "tests/catch.hpp"

#include <newel/solver/recycle.hpp>

#include "tests/distributed/rank_support.hpp"

namespace {

// Iterations of the solves of a sequence on `size` ranks, which recycle vectors. The last x solves its system.
// `check(report, step)`: of each solve, on each rank.
template <class F>
std::vector<int> recycled_on_ranks(const char* solver, int size, int steps, F&& check) {
  const HostCsr a = fem_matrix("generate:elasticity:7");
  SystemOptions options = choice_of(solver, "jacobi");
  options.solver.of<RecycleOptions>().recycle = "16";
  std::vector<int> iterations;
  std::vector<double> x(static_cast<std::size_t>(a.rows)), b;
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), size);
    DistributedSystem<double> system(Context<host>(1), ranks, own.view(), options);
    for (int step = 0; step < steps; ++step) {
      std::vector<double> rhs = random_vector<double>(a.rows + step),
                          own_x(static_cast<std::size_t>(own.rows()), 0.0);
      rhs.erase(rhs.begin(), rhs.begin() + step);
      const SolveReport report = system.solve(own.part_of(rhs), own_x);
      RANK_CHECK(report.converged());
      check(report, step);
      std::copy(own_x.begin(), own_x.end(), x.begin() + own.first);
      if (ranks->rank() > 0) continue;
      iterations.push_back(report.iterations);
      b = rhs;
    }
  });
  CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
  CAPTURE(size, iterations);
  CHECK(residual_norm(a, x, b) <= 1.01e-8 * norm_oracle(b));
  REQUIRE(iterations.size() == static_cast<std::size_t>(steps));
  CHECK(iterations.back() <= 0.7 * iterations.front());
  return iterations;
}

}  // namespace

TEST_CASE("Ranks, one without rows, pass approximate eigenvectors on from solve to solve", "[distributed][recycle]") {
  std::vector<int> alone;
  for (const int size : {1, 2, 3, 5}) {
    const std::vector<int> iterations = recycled_on_ranks("cg", size, 4, [](const SolveReport& report, int step) {
      RANK_CHECK((report.recycle.vectors > 0) == (step > 0));
    });
    if (size == 1) alone = iterations;
    for (std::size_t k = 0; k < 4; ++k) CHECK(std::abs(iterations[k] - alone[k]) <= 2);
  }
}

TEST_CASE("Ranks, one without rows, leave approximate eigenvectors out of their cycles", "[distributed][recycle]") {
  for (const int size : {1, 2, 5}) {
    recycled_on_ranks("gmres", size, 5, [](const SolveReport& report, int step) {
      if (step > 0) RANK_CHECK(report.recycle.vectors > 0);
    });
  }
}

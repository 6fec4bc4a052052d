// SPDX-License-Identifier: Apache-2.0
// GMRES on a real matrix, where there are some, on which an estimate of the basis' orthogonality is not enough.
#include "tests/solver/systems.hpp"

#include <newel/io/matrix_market.hpp>

TEST_CASE("GMRES orthogonalises carefully where its recurrence did not keep its word", "[solver][gmres][data]") {
  if (skipped_without_data()) return;
  constexpr Space S = Space::host;
  const Context<S> ctx(1);
  const Csr<double, S> a = read_matrix(ctx, data_folder() + "/matrices/lns__131.mtx");
  SystemOptions options = system_options("gmres", "none");
  options.solver.of<GmresOptions>().restart = 50;
  LinearSystem<double, S> system(ctx, a, options);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    INFO("seed " << seed);
    const auto exact = make_array(ctx, noise(a.rows, seed));
    auto b = make_array(ctx, std::vector<double>(static_cast<std::size_t>(a.rows))), x = make_array(ctx, b.cspan());
    system.multiply(exact.cspan(), b.span());
    const SolveReport report = system.solve(b.cspan(), x.span());
    CHECK(report.converged());
    CHECK(report.iterations < 500);
  }
}

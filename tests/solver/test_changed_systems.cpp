// SPDX-License-Identifier: Apache-2.0
// LinearSystem where values change so that an earlier choice no longer fits.
#include "tests/solver/systems.hpp"

namespace {

Rows scaled(Rows a, double (*factor)(Index)) {
  for (Index i = 0; i < a.size(); ++i) {
    for (auto& entry : a.row[static_cast<std::size_t>(i)]) entry.second *= factor(i);
  }
  return a;
}

double mean(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0) / double(x.size()); }

}  // namespace

TEST_BOTH("CG that was chosen for other values is left where the matrix is not symmetric any more", "[system]") {
  const Rows still = laplacian(70);
  const auto exact = noise(still.size());
  for (const double wind : {0.2, 0.9}) {
    INFO("wind " << wind);
    SystemOf<double, S> system(ctx, still);
    CHECK(run_system(ctx, system, still.rhs_for(exact)).report.attempts.size() == 1);
    const Rows a = laplacian(70, wind);
    refresh(ctx, system, a);
    const auto b = a.rhs_for(exact);
    const auto found = run_system(ctx, system, b);
    CHECK(found.report.converged());
    CHECK(true_residual<double>(a, b, found.x) <= 1e-8 * norm(b) * (1 + 1e-6));
    REQUIRE(found.report.attempts.size() > 1);
    CHECK(found.report.attempts[0].solver == "cg");
    CHECK(contains(found.report.attempts[0].reason, "not symmetric"));
    CHECK(found.report.attempts[0].iterations < 4000);
  }
}

TEST_BOTH("Penalties that outweigh a wind do not keep CG at work", "[system]") {
  Rows a = laplacian(30, 0.5);
  for (Index i = 0; i < 30; ++i) a.at(i, i) = 1e30;
  SystemOptions options = system_options("auto", "jacobi");
  SystemOf<double, S> system(ctx, a, options);
  CHECK(system.info().solver == "bicgstab");  // |a_ij - a_ji| is small beside the largest entry, and not in its rows
  auto exact = noise(a.size());
  for (Index i = 0; i < 30; ++i) exact[static_cast<std::size_t>(i)] = 0;
  const auto b = a.rhs_for(exact);
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK(true_residual<double>(a, b, found.x) <= 1e-8 * norm(b) * (1 + 1e-6));
}

TEST_BOTH("CG that stands still for a thousand iterations on a symmetric matrix goes on", "[system]") {
  Rows a = line(4200);
  // Entries that are next to nothing: without them it is a chain, whose factors come before.
  for (Index i = 0; i + 2 < a.size(); ++i) a.at(i, i + 2) = a.at(i + 2, i) = 1e-30;
  SystemOptions options = system_options("auto", "jacobi", "csr");
  SystemOf<double, S> system(ctx, a, options);
  const std::vector<double> b(4200, 1.0);  // the residual grows for 2,100 iterations, and then is gone
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK(found.report.attempts.size() == 1);
  CHECK(found.report.iterations > 1200);
}

TEST_BOTH("What a null space means is looked at again after a refresh", "[system]") {
  const Rows a = neumann(8);
  SystemOptions options = system_options("gmres");
  options.null_space = NullSpace::constant;
  SystemOf<double, S> system(ctx, a, options);
  // Rows scaled one by one: constants are still mapped to zero, and b may have a mean.
  const Rows rows_scaled = scaled(a, [](Index i) { return 1.0 + i % 4; });
  refresh(ctx, system, rows_scaled);
  const auto b = rows_scaled.rhs_for(noise(a.size()));
  const auto found = run_system(ctx, system, b);
  INFO(found.report.reason);
  CHECK(found.report.converged());
  CHECK(true_residual<double>(rows_scaled, b, found.x) <= 1e-8 * norm(b) * (1 + 1e-6));
  CHECK(std::abs(mean(found.x)) <= 1e-14 * norm(found.x));
  refresh(ctx, system, laplacian(8));
  REQUIRE_THROWS_WITH(run_system(ctx, system, b), Catch::Contains("constant vector"));
  refresh(ctx, system, a);
  CHECK(run_system(ctx, system, a.rhs_for(noise(a.size()))).report.converged());
}

TEST_BOTH("With a null space x has mean zero also where the guess was the best", "[system]") {
  Rows a = neumann(8);
  for (Index i = 0; i + 1 < a.size(); i += 2) {  // one strong bond in each pair
    const double bond = a.at(i, i + 1);
    if (bond == 0) continue;
    a.at(i, i + 1) = a.at(i + 1, i) = 1000 * bond;
    a.at(i, i) -= 999 * bond;
    a.at(i + 1, i + 1) -= 999 * bond;
  }
  SystemOptions options = system_options("auto", "none");
  options.null_space = NullSpace::constant;
  options.stop.max_iterations = 1;
  SystemOf<double, S> system(ctx, a, options);
  std::vector<double> guess = noise(a.size(), 3);
  for (double& value : guess) value = 5 + 1e-3 * value;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto found = run_system(ctx, system, a.rhs_for(noise(a.size(), seed)), guess);
    CHECK(std::abs(mean(found.x)) <= 1e-12);
  }
}

TEST_BOTH("What is said to be attainable is no more than what was reached", "[system]") {
  for (const double large : {1.0, 1e8}) {
    INFO("a diagonal entry of " << large);
    Rows a = laplacian(12);
    a.at(40, 40) += large - 1;
    const Arrays<double, S> arrays(ctx, a);
    SystemOptions options = system_options("cg", "auto", "auto", 1e-30);
    LinearSystem<double, S> system(ctx, arrays.view(), options);
    auto exact = noise(a.size());
    exact[40] = 0;
    const auto found = run_system(ctx, system, a.rhs_for(exact));
    CHECK(found.report.status == Status::stagnation);
    CHECK(found.report.attainable_residual > 0);
    CHECK(found.report.attainable_residual <= found.report.true_residual);
    options.solver.name = "auto";
    LinearSystem<double, S> several(ctx, arrays.view(), options);
    const auto best = run_system(ctx, several, a.rhs_for(exact));
    CHECK(best.report.attempts.size() > 1);
    CHECK(best.report.attainable_residual <= best.report.true_residual);
  }
}

TEST_BOTH("Automatic preconditioning predicts for the tolerance that there is", "[system]") {
  const Rows a = laplacian(40);
  for (const auto& [rel_tol, abs_tol] : {std::pair{0.0, 1e-8}, {1e-8, 1e3}}) {
    INFO(rel_tol << " of |b|, or " << abs_tol);
    SystemOptions options = system_options("auto", "auto", "auto", rel_tol);
    options.stop.abs_tol = abs_tol;
    const SystemOf<double, S> system(ctx, a, options);
    CHECK(!contains(system.info().preconditioner_reason, "no progress"));
  }
}

TEST_BOTH("A chosen Jacobi is applied only where the diagonal is not constant", "[system][precond]") {
  const Rows even = laplacian(30, 0, 0.3);
  Rows uneven = even;
  for (Index i = 0; i < uneven.size(); ++i) uneven.at(i, i) += 0.1 * (i % 7);
  const auto b = noise(even.size());
  SystemOptions options = system_options("auto", "auto", "csr");
  const auto history_with = [&](const Rows& a, const std::string& precond) {
    SystemOptions named = options;
    named.precond.name = precond;
    SystemOf<double, S> system(ctx, a, named);
    return run_system(ctx, system, b).report.history;
  };
  options.precond.name = "auto";
  SystemOf<double, S> system(ctx, even, options);
  const auto without = history_with(even, "none"), with = history_with(uneven, "jacobi");
  CHECK(history_with(even, "jacobi") != without);  // as its user asked
  const auto left_out = [&] { return contains(system.info().preconditioner_reason, "is omitted"); };
  for (int turn = 0; turn < 2; ++turn) {
    INFO("turn " << turn);
    CHECK(run_system(ctx, system, b).report.history == without);
    CHECK(system.info().preconditioner.name == "jacobi");
    CHECK(left_out());
    refresh(ctx, system, uneven);
    CHECK(run_system(ctx, system, b).report.history == with);
    CHECK(!left_out());
    refresh(ctx, system, even);
  }
  const LinearOperator<double, S>* const M = system.ordered().preconditioner();
  REQUIRE(M != nullptr);
  CHECK(M->traits().multiple_of_identity);
}

TEST_CASE("In a named format a stronger preconditioner may follow once values are harder", "[system][auto]") {
  const Context<Space::host> ctx;
  const Index side = 150;
  const Rows easy = laplacian(side, 0, 10), hard = laplacian(side);
  const auto exact = noise(hard.size());
  const auto b = hard.rhs_for(exact);
  for (const char* format : {"bce", "ehyb", "ehyb-symmetric"}) {
    INFO(format);
    SystemOf<double, Space::host> system(ctx, easy, system_options("auto", "auto", format));
    CHECK(run_system(ctx, system, b).report.iterations < 20);
    CHECK(system.info().preconditioner.name == "jacobi");
    refresh(ctx, system, hard);
    int iterations = 0;
    for (int turn = 0; turn < 3; ++turn) {
      const auto found = run_system(ctx, system, b);
      CHECK(found.report.converged());
      CHECK(true_residual<double>(hard, b, found.x) <= 1.01e-8 * norm(b));
      iterations = found.report.iterations;
    }
    CHECK(system.info().preconditioner.name == "amg");
    CHECK(iterations < 30);
    CHECK(system.info().format.format == format);
  }
}

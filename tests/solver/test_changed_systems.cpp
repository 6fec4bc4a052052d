// SPDX-License-Identifier: Apache-2.0
// LinearSystem where numbers change so that an earlier choice no longer fits, at the ends of their range, and with
// arguments that do not fit.
#include "tests/catch.hpp"
#include "tests/solver/systems.hpp"

#include <purlin/core/vector_ops.hpp>
#include <purlin/solver/gmres.hpp>

#include <numeric>

using namespace purlin;
using namespace purlin::testing;

namespace {

template <Space S>
void refresh(const Context<S>& ctx, LinearSystem<double, S>& system, const Rows& a) {
  const Arrays<double, S> arrays(ctx, a);
  system.refresh(arrays.val.cspan());
  ctx.synchronize();
}

Rows scaled(Rows a, double (*factor)(Index)) {
  for (Index i = 0; i < a.size(); ++i) {
    for (auto& entry : a.row[static_cast<std::size_t>(i)]) entry.second *= factor(i);
  }
  return a;
}

// The second difference in one dimension.
Rows chain_of(Index n) {
  Rows a(n);
  for (Index i = 0; i < n; ++i) {
    a.at(i, i) = 2;
    if (i > 0) a.at(i, i - 1) = a.at(i - 1, i) = -1;
  }
  return a;
}

Rows diagonal(const std::vector<double>& entries) {
  Rows a(static_cast<Index>(entries.size()));
  for (Index i = 0; i < a.size(); ++i) a.at(i, i) = entries[static_cast<std::size_t>(i)];
  return a;
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

double mean(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0) / double(x.size()); }

}  // namespace

TEST_BOTH("CG that was chosen for other values is left where the matrix is not symmetric any more", "[system]") {
  const Context<S> ctx;
  const Rows still = laplacian(30);
  const Arrays<double, S> arrays(ctx, still);
  LinearSystem<double, S> system(ctx, arrays.view());
  const auto exact = noise(still.size());
  CHECK(run_system(ctx, system, still.rhs_for(exact)).report.attempts.size() == 1);
  for (const double wind : {0.2, 0.9}) {
    INFO("wind " << wind);
    const Rows a = laplacian(30, wind);
    refresh(ctx, system, a);
    const auto b = a.rhs_for(exact);
    const auto found = run_system(ctx, system, b);
    CHECK(found.report.converged());
    CHECK(true_residual<double>(a, b, found.x) <= 1e-8 * norm(b) * (1 + 1e-6));
    REQUIRE(found.report.attempts.size() > 1);
    CHECK(found.report.attempts[0].solver == "cg");
    CHECK(says(found.report.attempts[0].reason, "not symmetric"));
    CHECK(found.report.attempts[0].iterations < 4000);
  }
}

TEST_BOTH("Penalties that outweigh a wind do not keep CG at work", "[system]") {
  const Context<S> ctx;
  Rows a = laplacian(30, 0.5);
  for (Index i = 0; i < 30; ++i) a.at(i, i) = 1e30;
  const Arrays<double, S> arrays(ctx, a);
  SystemOptions options;
  options.precond.name = "jacobi";
  LinearSystem<double, S> system(ctx, arrays.view(), options);
  CHECK(system.info().solver == "cg");  // |a_ij - a_ji| is small beside the largest entry
  auto exact = noise(a.size());
  for (Index i = 0; i < 30; ++i) exact[static_cast<std::size_t>(i)] = 0;
  const auto b = a.rhs_for(exact);
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK(true_residual<double>(a, b, found.x) <= 1e-8 * norm(b) * (1 + 1e-6));
  CHECK(says(found.report.attempts[0].reason, "not symmetric"));
}

TEST_BOTH("CG that stands still for a thousand iterations on a symmetric matrix goes on", "[system]") {
  const Context<S> ctx;
  const Rows a = chain_of(2600);
  const Arrays<double, S> arrays(ctx, a);
  SystemOptions options;
  options.spmv.format = "csr";
  options.precond.name = "jacobi";
  LinearSystem<double, S> system(ctx, arrays.view(), options);
  const std::vector<double> b(2600, 1.0);  // the residual grows for 1,300 iterations, and then is gone
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK(found.report.attempts.size() == 1);
  CHECK(found.report.iterations > 1200);
}

TEST_BOTH("What a null space means is looked at again after a refresh", "[system]") {
  const Context<S> ctx;
  const Rows a = neumann(8);
  const Arrays<double, S> arrays(ctx, a);
  SystemOptions options;
  options.null_space = NullSpace::constant;
  options.solver.name = "gmres";
  LinearSystem<double, S> system(ctx, arrays.view(), options);
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
  const Context<S> ctx;
  Rows a = neumann(8);
  for (Index i = 0; i + 1 < a.size(); i += 2) {  // one strong bond in each pair
    const double bond = a.at(i, i + 1);
    if (bond == 0) continue;
    a.at(i, i + 1) = a.at(i + 1, i) = 1000 * bond;
    a.at(i, i) -= 999 * bond;
    a.at(i + 1, i + 1) -= 999 * bond;
  }
  const Arrays<double, S> arrays(ctx, a);
  SystemOptions options;
  options.null_space = NullSpace::constant;
  options.stop.max_iterations = 1;
  options.precond.name = "none";
  LinearSystem<double, S> system(ctx, arrays.view(), options);
  std::vector<double> guess = noise(a.size(), 3);
  for (double& value : guess) value = 5 + 1e-3 * value;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto found = run_system(ctx, system, a.rhs_for(noise(a.size(), seed)), guess);
    CHECK(std::abs(mean(found.x)) <= 1e-12);
  }
}

TEST_BOTH(
    "Right-hand sides whose squares underflow are solved for, and judged by the absolute tolerance where there is "
    "one",
    "[system]") {
  const Context<S> ctx;
  const Rows a = laplacian(6);
  const Arrays<double, S> arrays(ctx, a);
  for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
    INFO(solver);
    SystemOptions options;
    options.solver.name = solver;
    LinearSystem<double, S> system(ctx, arrays.view(), options);
    const std::vector<double> b(static_cast<std::size_t>(a.size()), 1e-170);
    const auto solved = run_system(ctx, system, b);
    CHECK(solved.report.converged());
    CHECK(true_residual<double>(a, b, solved.x) <= 1e-8 * norm(b) * (1 + 1e-6));
    StopCriterion stop;
    stop.abs_tol = 1e-12;
    system.set_stop_criterion(stop);
    const auto found = run_system(ctx, system, b);
    CHECK(found.report.converged());
    CHECK(found.report.iterations == 0);
    CHECK(found.report.rhs_norm > 0);
    CHECK(found.report.tolerance == 1e-12);
    // From a guess that is not good the iteration continues until it is.
    const auto cold = run_system(ctx, system, b, noise(a.size()));
    CHECK(cold.report.converged());
    CHECK(cold.report.iterations > 0);
    CHECK(true_residual<double>(a, b, cold.x) <= 1e-12 * (1 + 1e-6));
  }
}

TEST_BOTH("Systems near the ends of the range are solved in units of powers of two, and report in their own",
          "[system]") {
  const Context<S> ctx;
  const Rows a = laplacian(12), tilted = laplacian(12, 0.3);
  const auto exact = noise(a.size());
  for (const std::string solver : {"auto", "cg", "bicgstab", "gmres"}) {
    const Rows& shape = solver == "cg" ? a : tilted;
    const auto plain_b = shape.rhs_for(exact);
    for (const std::string precond : {"none", "jacobi", "spai"}) {
      for (const auto& [of_matrix, of_rhs] : std::vector<std::pair<double, double>>{
               {1e-300, 1e-300}, {1e300, 1e300}, {1e-300, 1}, {1e300, 1}, {1, 1e-300}, {1, 1e300}, {1e-160, 1e100}}) {
        CAPTURE(solver, precond, of_matrix, of_rhs);
        Rows scaled_rows = shape;
        for (auto& row : scaled_rows.row) {
          for (auto& entry : row) entry.second *= of_matrix;
        }
        auto b = plain_b;
        for (double& value : b) value *= of_rhs;
        const Arrays<double, S> arrays(ctx, scaled_rows);
        SystemOptions options;
        options.solver.name = solver;
        options.precond.name = precond;
        LinearSystem<double, S> system(ctx, arrays.view(), options);
        const auto found = run_system(ctx, system, b);
        INFO(found.report.reason);
        CHECK(found.report.converged());
        CHECK(true_residual<double>(scaled_rows, b, found.x) <= 1e-8 * norm(b) * (1 + 1e-6));
        CHECK(found.report.rhs_norm == Approx(norm(b)).epsilon(1e-12));
        CHECK(found.report.true_residual <= found.report.tolerance);
        CHECK(found.report.tolerance == Approx(1e-8 * norm(b)).epsilon(1e-12));
        CHECK(found.report.history.back() <= found.report.tolerance);
      }
    }
  }
}

TEST_BOTH("A solution that leaves the range is not called converged", "[system]") {
  const Context<S> ctx;
  for (const double of_matrix : {1e250, 1e-250}) {
    Rows a = laplacian(8);
    for (auto& row : a.row) {
      for (auto& entry : row) entry.second *= of_matrix;
    }
    const Arrays<double, S> arrays(ctx, a);
    LinearSystem<double, S> system(ctx, arrays.view());
    const auto found = run_system(ctx, system, std::vector<double>(64, 1 / of_matrix));
    CHECK(found.report.status == Status::not_finite);
    CHECK(says(found.report.reason, "range"));
  }
}

TEST_BOTH("Systems in single precision near the ends of its range are solved too", "[system]") {
  const Context<S> ctx;
  const Rows shape = laplacian(8);
  const auto exact = noise(shape.size());
  for (const double size : {1e-30, 1e30}) {
    for (const std::string precond : {"none", "jacobi"}) {
      CAPTURE(size, precond);
      Rows a = shape;
      for (auto& row : a.row) {
        for (auto& entry : row) entry.second = static_cast<double>(static_cast<float>(entry.second * size));
      }
      std::vector<float> b = cast<float>(a.rhs_for(exact));
      const Arrays<float, S> arrays(ctx, a);
      SystemOptions options;
      options.precond.name = precond;
      options.stop.rel_tol = 1e-4;
      LinearSystem<float, S> system(ctx, arrays.view(), options);
      const auto bs = make_array(ctx, b);
      auto xs = make_array(ctx, std::vector<float>(b.size(), 0.0f));
      const SolveReport report = system.solve(bs.cspan(), xs.span());
      INFO(report.reason);
      CHECK(report.converged());
      const std::vector<double> b_there(b.begin(), b.end());
      CHECK(true_residual<float>(a, b, to_vector(ctx, xs.cspan())) <= 1.01e-4 * norm(b_there));
    }
  }
}

TEST_BOTH("Where p.Ap overflows CG goes on in other units, for several columns too", "[system]") {
  const Context<S> ctx;
  const Rows a = diagonal(std::vector<double>(10, 1e200));
  const Arrays<double, S> arrays(ctx, a);
  SystemOptions options;
  options.solver.name = "cg";
  options.precond.name = "none";
  LinearSystem<double, S> system(ctx, arrays.view(), options);
  const std::vector<double> b(20, 1e60);
  const auto found = run_system(ctx, system, std::vector<double>(b.begin(), b.begin() + 10));
  CHECK(found.report.converged());
  for (const double value : found.x) CHECK(value == Approx(1e-140));
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<double>(20, 0.0));
  for (const SolveReport& report : system.solve_columns(bs.cspan(), xs.span(), 2)) CHECK(report.converged());
  for (const double value : to_vector(ctx, xs.cspan())) CHECK(value == Approx(1e-140));
}

TEST_BOTH("What is said to be attainable is no more than what was reached", "[system]") {
  const Context<S> ctx;
  for (const double large : {1.0, 1e8}) {
    INFO("a diagonal entry of " << large);
    Rows a = laplacian(12);
    a.at(40, 40) += large - 1;
    const Arrays<double, S> arrays(ctx, a);
    SystemOptions options;
    options.solver.name = "cg";
    options.stop.rel_tol = 1e-30;
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

TEST_BOTH("Mixed precision goes on in double where the diagonal leaves the range of single", "[system][mixed]") {
  const Context<S> ctx;
  for (const double odd : {1e-50, 1e50}) {
    INFO("an entry of " << odd);
    const Rows a = diagonal({1, 1, 1, odd});
    const Arrays<double, S> arrays(ctx, a);
    SystemOptions options;
    options.mixed = true;
    options.precond.name = "jacobi";
    LinearSystem<double, S> system(ctx, arrays.view(), options);
    CHECK(!system.info().mixed);
    CHECK(says(system.info().preconditioner_reason, "single precision"));
    const std::vector<double> b = {1, 2, 3, 4};
    const auto found = run_system(ctx, system, b);
    CHECK(found.report.converged());
    CHECK(true_residual<double>(a, b, found.x) <= 1e-8 * norm(b) * (1 + 1e-6));
  }
  SystemOptions options;
  options.mixed = true;
  options.precond.name = "jacobi";
  const Rows singular = diagonal({1, 0, 1});
  const Arrays<double, S> arrays(ctx, singular);
  REQUIRE_THROWS_AS((LinearSystem<double, S>(ctx, arrays.view(), options)), ZeroDiagonal);
}

TEST_BOTH("GMRES in mixed precision says that it stands still", "[system][mixed]") {
  const Context<S> ctx;
  const Index n = 120;
  Rows a(n);
  for (Index i = 0; i < n; ++i) a.at(i, (i + n - 1) % n) = 1;  // no cycle shorter than n gains anything
  const Arrays<double, S> arrays(ctx, a);
  SystemOptions options;
  options.mixed = true;
  options.solver.name = "gmres";
  options.solver.of<GmresOptions>().restart = 20;
  options.precond.name = "none";
  LinearSystem<double, S> system(ctx, arrays.view(), options);
  std::vector<double> b(static_cast<std::size_t>(n), 0.0);
  b[0] = 1;
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.status == Status::stagnation);
  CHECK(found.report.iterations < 1000);
}

TEST_BOTH("Automatic preconditioning predicts for the tolerance that there is", "[system]") {
  const Context<S> ctx;
  const Rows a = laplacian(40);
  const Arrays<double, S> arrays(ctx, a);
  for (const auto& [rel_tol, abs_tol] : {std::pair{0.0, 1e-8}, {1e-8, 1e3}}) {
    INFO(rel_tol << " of |b|, or " << abs_tol);
    SystemOptions options;
    options.precond.name = "auto";
    options.stop.rel_tol = rel_tol;
    options.stop.abs_tol = abs_tol;
    const LinearSystem<double, S> system(ctx, arrays.view(), options);
    CHECK(!says(system.info().preconditioner_reason, "no progress"));
  }
}

TEST_BOTH("Bounds of parts that do not fit are refused, and those of the natural order are taken", "[system]") {
  const Context<S> ctx;
  const Rows a = laplacian(4);
  const Arrays<double, S> arrays(ctx, a);
  std::vector<Index> natural(16);
  std::iota(natural.begin(), natural.end(), 0);
  for (const std::string format : {"csr", "ehyb", "ehyb-symmetric"}) {
    for (const bool ordered : {false, true}) {
      SystemOptions options;
      options.spmv.format = format;
      if (ordered) options.old_of_new = natural;
      const std::vector<std::vector<Index>> misfits = {{0, 8},   {0, 8, 99},    {16},      {8, 16},
                                                       {-3, 16}, {0, 9, 4, 16}, {0, 16, 8}};
      for (const auto& bounds : misfits) {
        INFO(format << (ordered ? " in an order, bounds " : ", bounds ") << bounds.size() << " to " << bounds.back());
        options.part_begin = bounds;
        REQUIRE_THROWS_WITH((LinearSystem<double, S>(ctx, arrays.view(), options)),
                            Catch::Contains("bounds of parts"));
      }
      options.part_begin = {0, 4, 4, 16};
      LinearSystem<double, S> system(ctx, arrays.view(), options);
      const auto x = noise(16), b = a.rhs_for(x);
      const auto xs = make_array(ctx, x);
      auto y = make_array(ctx, std::vector<double>(16, NAN));
      system.multiply(xs.cspan(), y.span());
      const auto product = to_vector(ctx, y.cspan());
      for (std::size_t i = 0; i < 16; ++i) CHECK(product[i] == Approx(b[i]).margin(1e-14));
      CHECK(system.order().part_begin == options.part_begin);
    }
  }
}

TEST_BOTH("Vectors that share memory are refused, in an order too", "[system]") {
  const Context<S> ctx;
  const Rows a = laplacian(4);
  const Arrays<double, S> arrays(ctx, a);
  for (const bool ordered : {false, true}) {
    SystemOptions options;
    if (ordered) {
      for (Index i = 16; i-- > 0;) options.old_of_new.push_back(i);
    }
    LinearSystem<double, S> system(ctx, arrays.view(), options);
    auto x = make_array(ctx, noise(24));
    const Span<double, S> first = x.span().subspan(0, 16), second = x.span().subspan(8, 16);
    REQUIRE_THROWS_WITH(system.multiply(first, first), Catch::Contains("share memory"));
    REQUIRE_THROWS_WITH(system.multiply(first, second), Catch::Contains("share memory"));
    REQUIRE_THROWS_WITH(system.solve(second, first), Catch::Contains("share memory"));
  }
}

TEST_BOTH("After a refresh that failed there is no product either", "[system]") {
  const Context<S> ctx;
  const Rows a = laplacian(4);
  const Arrays<double, S> arrays(ctx, a);
  SystemOptions options;
  options.precond.name = "jacobi";
  LinearSystem<double, S> system(ctx, arrays.view(), options);
  Rows without = a;
  without.at(3, 3) = 0;
  const Arrays<double, S> refused(ctx, without);
  REQUIRE_THROWS_AS(system.refresh(refused.val.cspan()), ZeroDiagonal);
  const auto x = make_array(ctx, noise(16));
  auto y = make_array(ctx, std::vector<double>(16, 0.0));
  REQUIRE_THROWS_WITH(system.multiply(x.cspan(), y.span()), Catch::Contains("last refresh failed"));
  system.refresh(arrays.val.cspan());
  system.multiply(x.cspan(), y.span());
  ctx.synchronize();
}

TEST_BOTH("Sizes and counts that cannot be are refused before anything is asked for", "[system]") {
  const Context<S> ctx;
  const Rows a = laplacian(4);
  const Arrays<double, S> arrays(ctx, a);
  for (const bool canonicalise : {false, true}) {
    SystemOptions options;
    options.canonicalise = canonicalise;
    CsrView<double, S> view = arrays.view();
    view.rows = view.cols = -1;
    REQUIRE_THROWS_AS((LinearSystem<double, S>(ctx, view, options)), InputError);
    view.rows = view.cols = 5;  // 17 row pointers
    REQUIRE_THROWS_AS((LinearSystem<double, S>(ctx, view, options)), InputError);
  }
  SystemOptions columns, products;
  columns.columns = 0;
  REQUIRE_THROWS_WITH((LinearSystem<double, S>(ctx, arrays.view(), columns)), Catch::Contains("columns"));
  products.expected_products = -1;
  REQUIRE_THROWS_WITH((LinearSystem<double, S>(ctx, arrays.view(), products)), Catch::Contains("expected_products"));
}

TEST_BOTH("Solvers are named in any case, and the automatic choice belongs to a system", "[system]") {
  const Context<S> ctx;
  SolverOptions options;
  REQUIRE_THROWS_WITH((make_solver<double, S>(ctx, 5, options)), Catch::Contains("LinearSystem chooses"));
  options.name = "sor";
  REQUIRE_THROWS_WITH((make_solver<double, S>(ctx, 5, options)), Catch::Contains("cg, bicgstab, gmres"));
  options.name = "BiCGStab";
  CHECK(make_solver<double, S>(ctx, 5, options)->name() == "bicgstab");
  const Arrays<double, S> arrays(ctx, laplacian(4));
  SystemOptions system;
  system.solver.name = "GMRES";
  CHECK(LinearSystem<double, S>(ctx, arrays.view(), system).info().solver == "gmres");
}

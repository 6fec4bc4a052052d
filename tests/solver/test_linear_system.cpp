// SPDX-License-Identifier: Apache-2.0
// LinearSystem: order, refresh, automatic choice, null space, independence of threads, the same bits.
#include "tests/solver/systems.hpp"

#include <thread>

namespace {}  // namespace

TEST_BOTH("a renumbered system gives the caller's solution in the caller's order", "[system]") {
  const Rows a = laplacian(13, 0.2);
  SystemOptions options;
  options.old_of_new = shuffled(a.size());
  options.stop.rel_tol = 1e-11;
  SystemOf<double, S> system(ctx, a, options);
  CHECK(system.info().reordered);
  const auto x = noise(a.size());
  const auto b = a.rhs_for(x);
  SolveReport report;
  const auto found = solve_with(ctx, system, b, &report);
  CHECK(report.converged());
  CHECK(true_residual<double>(a, b, found) <= 1e-11 * norm(b) * (1 + 1e-6));

  // The product, and the way to solver order and back.
  const auto xs = make_array(ctx, x);
  auto y = make_array(ctx, std::vector<double>(x.size(), NAN));
  system.multiply(xs.cspan(), y.span());
  const auto product = to_vector(ctx, y.cspan());
  for (std::size_t i = 0; i < b.size(); ++i) CHECK(product[i] == Approx(b[i]).margin(1e-13));
  auto ordered = make_array(ctx, std::vector<double>(x.size(), NAN));
  system.ordered().from_user_order(xs.cspan(), ordered.span());
  const auto in_order = to_vector(ctx, ordered.cspan());
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(in_order[i] == x[static_cast<std::size_t>(options.old_of_new[i])]);
  system.ordered().to_user_order(ordered.cspan(), y.span());
  CHECK(to_vector(ctx, y.cspan()) == x);
}

TEST_BOTH("a solve in solver order equals a solve in the caller's order", "[system]") {
  const Rows a = laplacian(11);
  SystemOptions options = system_options("auto", "auto", "csr");
  options.old_of_new = shuffled(a.size());
  SystemOf<double, S> system(ctx, a, options);
  const auto b = a.rhs_for(noise(a.size()));
  const auto direct = solve_with(ctx, system, b);
  const auto bs = make_array(ctx, b);
  Array<double, S> bo(ctx, a.size()), xo(ctx, a.size()), x(ctx, a.size());
  system.ordered().from_user_order(bs.cspan(), bo.span());
  fill<double, S>(ctx, 0.0, xo.span());
  CHECK(system.ordered().solve(bo.cspan(), xo.span()).converged());
  system.ordered().to_user_order(xo.cspan(), x.span());
  CHECK(to_vector(ctx, x.cspan()) == direct);
}

TEST_BOTH("refresh equals a new system bit for bit, allocates nothing, and is seen by the preconditioner",
          "[system]") {
  const Rows a = laplacian(12);
  Rows changed = laplacian(12, 0, 2.0);
  for (Index i = 0; i < changed.size(); ++i) changed.at(i, i) *= 1 + i % 3;
  const Arrays<double, S> old_values(ctx, a), new_values(ctx, changed);
  const auto b = changed.rhs_for(noise(a.size()));
  for (const bool reorder : {false, true}) {
    SystemOptions options = system_options("cg", "auto", "csr");
    if (reorder) options.old_of_new = shuffled(a.size());
    LinearSystem<double, S> refreshed(ctx, old_values.view(), options);
    LinearSystem<double, S> rebuilt(ctx, new_values.view(), options);
    const auto before = ctx.memory()->use().allocations;
    refreshed.refresh(new_values.val.span());
    CHECK(ctx.memory()->use().allocations == before);
    const auto x = solve_with(ctx, refreshed, b);
    CHECK(x == solve_with(ctx, rebuilt, b));
    CHECK(true_residual<double>(changed, b, x) <= 1e-8 * norm(b) * (1 + 1e-6));
    CHECK_THROWS_AS(refreshed.refresh(new_values.val.span().subspan(0, 5)), InputError);
  }
}

TEST_BOTH("a refresh that the preconditioner cannot take makes the system unusable until the next", "[system]") {
  const Rows a = laplacian(5);
  Rows holed = laplacian(5);
  holed.at(7, 7) = 0;
  const Arrays<double, S> good(ctx, a), bad(ctx, holed);
  SystemOptions options = system_options("auto", "jacobi");
  LinearSystem<double, S> system(ctx, good.view(), options);
  try {
    system.refresh(bad.val.span());
    FAIL("a zero diagonal entry was accepted");
  } catch (const ZeroDiagonal& e) {
    CHECK(e.row() == 7);
  }
  const auto b = a.rhs_for(noise(25));
  CHECK_THROWS_AS(solve_with(ctx, system, b), InputError);
  system.refresh(good.val.span());
  SolveReport report;
  solve_with(ctx, system, b, &report);
  CHECK(report.converged());
}

TEST_BOTH("a refresh of the operator only keeps the preconditioner, and does not mend one that failed", "[system]") {
  const Rows a = laplacian(12);
  Rows changed = laplacian(12, 0, 1.5), indefinite = laplacian(12);
  indefinite.at(7, 7) = -1;
  const Arrays<double, S> old_values(ctx, a), new_values(ctx, changed), bad(ctx, indefinite);
  const auto b = changed.rhs_for(noise(a.size()));
  for (const bool reorder : {false, true}) {
    SystemOptions options = system_options("cg", "fsai", "csr", 1e-10);
    if (reorder) options.old_of_new = shuffled(a.size());
    LinearSystem<double, S> kept(ctx, old_values.view(), options), whole(ctx, old_values.view(), options);
    const double old_residual = inverse_residual(kept).norm;
    const auto before = ctx.memory()->use().allocations;
    kept.refresh(new_values.val.span(), RefreshScope::operator_only);
    CHECK(ctx.memory()->use().allocations == before);
    whole.refresh(new_values.val.span());
    // The old inverse serves the new matrix, but less well.
    CHECK(inverse_residual(whole).norm < inverse_residual(kept).norm);
    SolveReport with_old, with_new;
    const auto x = solve_with(ctx, kept, b, &with_old);
    CHECK(with_old.converged());
    CHECK(true_residual<double>(changed, b, x) <= 1e-10 * norm(b) * (1 + 1e-6));
    solve_with(ctx, whole, b, &with_new);
    CHECK(with_new.converged());
    // Back to the old numbers: as if nothing had been.
    kept.refresh(old_values.val.span(), RefreshScope::operator_only);
    CHECK(inverse_residual(kept).norm == Approx(old_residual).epsilon(1e-12));

    CHECK_THROWS_AS(whole.refresh(bad.val.span()), NotPositiveDefinite);
    whole.refresh(new_values.val.span(), RefreshScope::operator_only);
    CHECK_THROWS_AS(solve_with(ctx, whole, b), InputError);
    whole.refresh(new_values.val.span());
    CHECK(solve_with(ctx, whole, b).size() == b.size());
    CHECK_THROWS_AS(whole.refresh(new_values.val.span().subspan(0, 5), RefreshScope::operator_only), InputError);
    CHECK_THROWS_AS(solve_with(ctx, whole, b), InputError);
    whole.refresh(new_values.val.span(), RefreshScope::operator_only);
    CHECK(solve_with(ctx, whole, b).size() == b.size());
  }
}

TEST_BOTH("the automatic choice says why, and goes on to the next solver", "[system]") {
  const auto choice_for = [&](const Rows& a) {
    const SystemOf<double, S> system(ctx, a);
    return system.info();
  };
  CHECK(choice_for(laplacian(6)).solver == "cg");
  CHECK(choice_for(laplacian(6, 0.3)).solver == "bicgstab");
  CHECK(contains(choice_for(laplacian(6, 0.3)).solver_reason, "not symmetric"));
  Rows rounded = laplacian(6);
  rounded.at(3, 4) *= 1 + 1e-15;
  CHECK(choice_for(rounded).solver == "cg");
  Rows negative = laplacian(6);
  negative.at(8, 8) = -1;
  CHECK(choice_for(negative).solver == "minres");

  // Symmetric, positive diagonal, yet indefinite: CG finds out, MINRES solves.
  const Rows indefinite = laplacian(9, 0, -1.5);
  SystemOptions options;
  options.solver.of<GmresOptions>().restart = 81;
  SystemOf<double, S> system(ctx, indefinite, options);
  const auto b = indefinite.rhs_for(noise(81));
  SolveReport report;
  const auto x = solve_with(ctx, system, b, &report);
  CHECK(report.converged());
  REQUIRE(report.attempts.size() >= 2);  // on a device factors end what MINRES has begun
  CHECK(report.attempts[0].solver == "cg");
  CHECK(report.attempts[0].status == Status::not_positive_definite);
  CHECK(report.attempts[1].solver == "minres");
  int iterations = 0;
  for (const Attempt& attempt : report.attempts) iterations += attempt.iterations;
  CHECK(report.iterations == iterations);
  CHECK(true_residual<double>(indefinite, b, x) <= 1e-8 * norm(b) * (1 + 1e-6));
}

TEST_BOTH("the automatic choice leaves a method that wanders, and the next solves", "[system]") {
  // Rows of a random matrix, scaled over eight orders of magnitude: BiCGStab finds no better residual for thousands
  // of iterations, and GMRES needs as many as there are unknowns.
  constexpr Index n = 100;
  Rows a(n);
  const auto values = noise(n * n, 5), scales = noise(n, 6);
  for (Index i = 0; i < n; ++i) {
    const double scale = std::pow(10.0, 4 * scales[static_cast<std::size_t>(i)]);
    for (Index j = 0; j < n; ++j) {
      const double value = values[static_cast<std::size_t>(i * n + j)];
      if (i == j || std::abs(value) > 0.9) a.at(i, j) = scale * (value + (i == j ? 1.5 : 0));
    }
  }
  const Context<S> ctx;
  SystemOptions options = system_options("auto", "none");
  SystemOf<double, S> system(ctx, a, options);
  const auto b = a.rhs_for(noise(n));
  SolveReport report;
  const auto x = solve_with(ctx, system, b, &report);
  CHECK(report.converged());
  REQUIRE(report.attempts.size() == 2);
  CHECK(report.attempts[0].solver == "bicgstab");
  const Status first = report.attempts[0].status;
  CHECK((first == Status::stagnation || first == Status::breakdown));  // chance decides
  CHECK(report.attempts[0].iterations < 9000);
  CHECK(true_residual<double>(a, b, x) <= 1e-8 * norm(b) * (1 + 1e-6));

  // A callback still has the last word.
  system.set_stop_criterion({});
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<double>(n, 0.0));
  const SolveReport stopped = system.solve(bs.cspan(), xs.span(), [](const Progress&) { return false; });
  CHECK(stopped.status == Status::stopped_by_caller);
  CHECK(stopped.attempts.size() == 1);
}

TEST_BOTH("a pure Neumann problem is solved with the constant null space taken out", "[system]") {
  const Rows a = neumann(14);
  auto x = noise(a.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  for (double& value : x) value -= mean;
  const auto b = a.rhs_for(x);
  for (const char* solver : {"cg", "bicgstab", "gmres"}) {
    for (const char* precond : {"none", "jacobi"}) {
      SystemOptions options = system_options(solver, precond, "auto", 1e-10);
      options.null_space = NullSpace::constant;
      SystemOf<double, S> system(ctx, a, options);
      SolveReport report;
      const auto found = solve_with(ctx, system, b, &report);
      INFO(solver << " " << precond << " " << report.reason);
      CHECK(report.converged());
      CHECK(std::abs(std::accumulate(found.begin(), found.end(), 0.0)) < 1e-10);
      for (std::size_t i = 0; i < x.size(); ++i) CHECK(found[i] == Approx(x[i]).margin(1e-6));
    }
  }
}

TEST_BOTH("a second solve with the constant null space allocates nothing", "[system]") {
  const Rows a = neumann(14);
  const auto b = make_array(ctx, a.rhs_for(noise(a.size())));
  auto x = make_array(ctx, std::vector<double>(static_cast<std::size_t>(a.size()), 0.0));
  SystemOptions options = system_options("cg", "jacobi");
  options.null_space = NullSpace::constant;
  SystemOf<double, S> system(ctx, a, options);
  CHECK(system.solve(b.cspan(), x.span()).converged());
  fill<double, S>(ctx, 0.0, x.span());
  const auto before = ctx.memory()->use().allocations;
  CHECK(system.solve(b.cspan(), x.span()).converged());
  CHECK(ctx.memory()->use().allocations == before);
}

TEST_BOTH("independent systems work in two threads", "[system]") {
  const Rows a = laplacian(24), c = laplacian(31, 0.4);
  const auto b = a.rhs_for(noise(a.size())), d = c.rhs_for(noise(c.size()));
  const auto work = [](const Rows& rows, const std::vector<double>& rhs, std::vector<double>* x) {
    const Context<S> ctx;  // threads and streams of its own
    SystemOptions options = system_options("auto", "auto", "csr");
    SystemOf<double, S> system(ctx, rows, options);
    for (int repeat = 0; repeat < 5; ++repeat) *x = solve_with(ctx, system, rhs);
  };
  std::vector<double> alone_a, alone_c, x, y;
  work(a, b, &alone_a);
  work(c, d, &alone_c);
  std::thread first(work, std::cref(a), std::cref(b), &x), second(work, std::cref(c), std::cref(d), &y);
  first.join();
  second.join();
  CHECK(x == alone_a);
  CHECK(y == alone_c);
}

TEST_BOTH("an order that is kept with its parts makes the same system again, bit for bit", "[system]") {
  const Rows a = laplacian(21, 0.2);
  const Arrays<double, S> arrays(ctx, a);
  SystemOptions options = system_options("auto", "auto", "ehyb");
  options.spmv.parts = 3;
  LinearSystem<double, S> first(ctx, arrays.view(), options);
  REQUIRE(first.ordered().order().part_begin.size() == 4);

  SystemOptions kept = options;
  kept.old_of_new = to_vector(ctx, first.ordered().order().old_of_new.cspan());
  kept.part_begin = first.ordered().order().part_begin;
  LinearSystem<double, S> again(ctx, arrays.view(), kept);
  CHECK(again.ordered().order().part_begin == first.ordered().order().part_begin);
  const auto b = a.rhs_for(noise(a.size()));
  CHECK(solve_with(ctx, again, b) == solve_with(ctx, first, b));
}

TEST_BOTH("the ordered operators are A and M in solver order", "[system]") {
  const Rows a = laplacian(9, 0.2);
  const Arrays<double, S> arrays(ctx, a);
  SystemOptions options;
  options.old_of_new = shuffled(a.size());
  LinearSystem<double, S> system(ctx, arrays.view(), options);
  const auto x = noise(a.size());
  const auto user = make_array(ctx, x);
  Array<double, S> ordered(ctx, a.size()), product(ctx, a.size()), back(ctx, a.size());
  system.ordered().from_user_order(user.cspan(), ordered.span());
  system.ordered().matrix().apply(ctx, 1, ordered.cspan(), 0, product.span());
  system.ordered().to_user_order(product.cspan(), back.span());
  auto expected = make_array(ctx, std::vector<double>(x.size(), NAN));
  system.multiply(user.cspan(), expected.span());
  CHECK(to_vector(ctx, back.cspan()) == to_vector(ctx, expected.cspan()));
  REQUIRE(system.ordered().preconditioner() != nullptr);
  system.ordered().preconditioner()->apply(ctx, 1, ordered.cspan(), 0, product.span());
  CHECK(std::isfinite(to_vector(ctx, product.cspan()).front()));

  options.precond.name = "none";
  CHECK(LinearSystem<double, S>(ctx, arrays.view(), options).ordered().preconditioner() == nullptr);
}

TEST_BOTH("A deterministic system keeps its bits, and refuses what the clock decides", "[system]") {
  const Rows a = laplacian(21);
  const Arrays<double, S> arrays(ctx, a);
  const auto b = a.rhs_for(noise(a.size()));
  for (const bool mixed : {false, true}) {
    for (const std::string format : {"csr", "auto", "ehyb"}) {
      SystemOptions options = system_options("auto", "auto", format);
      options.deterministic = true;
      options.mixed = mixed;
      options.precond.name = format == "auto" ? "auto" : "fsai";  // by a cost model, not by the clock
      options.precond.format = "CSR";
      std::vector<std::vector<double>> found;
      std::vector<SolveReport> reports(2);
      for (SolveReport& report : reports) {
        LinearSystem<double, S> system(ctx, arrays.view(), options);
        if (format == "csr") CHECK(system.info().matrix.name == "csr");
        if (format == "csr") CHECK(system.info().format.format == "csr");
        found.push_back(solve_with(ctx, system, b, &report));
        CHECK(report.converged());
      }
      CHECK(found[0] == found[1]);
      CHECK(reports[0].history == reports[1].history);
    }
  }
  const auto refuses = [&](auto&& change) {
    SystemOptions options;
    options.deterministic = true;
    change(options);
    CHECK_THROWS_AS((LinearSystem<double, S>(ctx, arrays.view(), options)), InputError);
  };
  refuses([](SystemOptions& o) { o.spmv.format = "measure"; });
  refuses([](SystemOptions& o) { o.spmv.format = "csr:alg1"; });
  refuses([](SystemOptions& o) {
    o.precond.name = "fsai";
    o.precond.format = "csr:alg1";
  });
}

// SPDX-License-Identifier: Apache-2.0
// Several right-hand sides at once under CG: each column is what it is alone, judged by residuals that the test
// forms.
#include "tests/solver/column_support.hpp"

TEST_BOTH("each of k columns takes the iterations that it takes alone, and is solved", "[columns]") {
  const Rows a = laplacian(15);
  for (const char* precond : {"none", "jacobi", "fsai"}) {
    SystemOptions options = cg_options(precond);
    options.stop.rel_tol = 1e-10;
    for (const Index k : {0, 1, 2, 3, 7, 8, 11}) {
      INFO(k << " columns with " << precond);
      check_against_alone<double, S>(ctx, a, options, noise_columns(a, k));
    }
    options.stop.rel_tol = 1e-4;
    check_against_alone<float, S>(ctx, a, options, noise_columns(a, 11));
  }
}

TEST_CASE("on the host a column of a batch has the bits that it has alone", "[columns]") {
  constexpr Space S = Space::host;
  for (const int threads : {1, 2}) {
    const Context<S> ctx(threads);
    const Rows a = laplacian(41);
    for (const char* format : {"csr", "ehyb", "ehyb:paper", "bce"}) {
      // With a diagonal preconditioner p = d r + beta p has two products: which one is rounded, the compiler chooses.
      for (const char* precond : {"none", "fsai"}) {
        SystemOptions options = cg_options(precond);
        options.spmv.format = format;
        LinearSystem<double, S> system(ctx, Arrays<double, S>(ctx, a).view(), options);
        const Columns b = noise_columns(a, 11);
        const Batch<double> together = solve_together<double, S>(ctx, system, b, zeros_like(b));
        const Batch<double> alone = solve_alone<double, S>(ctx, system, b, zeros_like(b));
        for (std::size_t c = 0; c < b.size(); ++c) {
          INFO(format << " " << precond << ", column " << c);
          CHECK((together.x[c] == alone.x[c]));
          CHECK((together.report[c].history == alone.report[c].history));
        }
      }
    }
  }
}

TEST_BOTH("columns that end at very different times have the counts that they have alone", "[columns]") {
  const Rows a = laplacian(24);
  // Guesses nearer and nearer to the solution, a right-hand side of zeros, an exact guess, and eigenvectors, for
  // which one iteration suffices; in an order in which places fall free all the time.
  Columns b, guess;
  for (Index c = 0; c < 19; ++c) {
    const auto x = noise(a.size(), static_cast<std::uint64_t>(c) + 1);
    b.push_back(a.rhs_for(x));
    guess.push_back(x);
    const double distance = c % 5 == 4 ? 0 : std::pow(10.0, -2.0 * (c % 5));
    const auto error = noise(a.size(), 100);
    for (std::size_t i = 0; i < x.size(); ++i) guess.back()[i] += distance * error[i];
  }
  b[3].assign(b[3].size(), 0.0);
  for (const std::size_t c : {std::size_t{6}, std::size_t{11}}) {
    for (Index i = 0; i < 24; ++i) {
      for (Index j = 0; j < 24; ++j) {
        b[c][static_cast<std::size_t>(i * 24 + j)] =
            std::sin(M_PI * (i + 1) / 25.0) * std::sin(M_PI * (j + 1) / 25.0);
      }
    }
    guess[c].assign(guess[c].size(), 0.0);
  }
  SystemOptions options = cg_options("jacobi");
  const Batch<double> found = check_against_alone<double, S>(ctx, a, options, b, guess);
  CHECK(found.report[3].iterations == 0);
  CHECK(std::all_of(found.x[3].begin(), found.x[3].end(), [](double value) { return value == 0; }));
  CHECK(found.report[4].iterations == 0);
  CHECK(found.report[6].iterations <= 2);
  CHECK(found.report[0].iterations > 20);
}

TEST_BOTH("NaN and infinity in a column, and a breakdown of one, touch no other", "[columns]") {
  const Rows a = laplacian(16);
  const Index n = a.size();
  SystemOptions options = cg_options("none");
  LinearSystem<double, S> system(ctx, Arrays<double, S>(ctx, a).view(), options);
  Columns b = noise_columns(a, 8);
  Columns guess = zeros_like(b);
  b[1][7] = NAN;
  guess[4][3] = INFINITY;
  b[6].assign(static_cast<std::size_t>(n), 1e-180);  // its squares vanish
  const Batch<double> found = solve_together<double, S>(ctx, system, b, guess);
  const Batch<double> alone = solve_alone<double, S>(ctx, system, b, guess);
  for (std::size_t c = 0; c < b.size(); ++c) {
    INFO("column " << c);
    CHECK(found.report[c].status == alone.report[c].status);
    CHECK(found.report[c].reason == alone.report[c].reason);
    CHECK(found.report[c].iterations == alone.report[c].iterations);
    if (c == 1 || c == 4 || c == 6) continue;
    CHECK(found.report[c].converged());
    CHECK(true_residual<double>(a, b[c], found.x[c]) <= 1.001e-8 * norm(b[c]));
  }
  CHECK(found.report[1].status == Status::not_finite);
  CHECK(found.report[4].status == Status::not_finite);
}

TEST_BOTH("an indefinite matrix breaks the columns that see it, and not the others", "[columns]") {
  // Two blocks: an indefinite one in front, a Laplacian behind it.
  const Rows good = laplacian(12);
  const Index m = 20, n = good.size() + m;
  Rows a(n);
  for (Index i = 0; i < m; ++i) a.at(i, i) = i % 2 == 0 ? 1.0 : -1.0;
  for (Index i = 0; i < good.size(); ++i) {
    for (const auto& [j, value] : good.row[static_cast<std::size_t>(i)]) a.at(m + i, m + j) = value;
  }
  Columns b;
  for (Index c = 0; c < 5; ++c) {
    b.push_back(noise(n, static_cast<std::uint64_t>(c) + 1));
    if (c % 2 == 0) std::fill(b.back().begin(), b.back().begin() + m, 0.0);
  }
  const SystemOptions options = cg_options("none");
  LinearSystem<double, S> system(ctx, Arrays<double, S>(ctx, a).view(), options);
  const Batch<double> found = solve_together<double, S>(ctx, system, b, zeros_like(b));
  const Batch<double> alone = solve_alone<double, S>(ctx, system, b, zeros_like(b));
  for (std::size_t c = 0; c < b.size(); ++c) {
    INFO("column " << c << " " << found.report[c].reason);
    CHECK(found.report[c].status == (c % 2 == 0 ? Status::converged : Status::not_positive_definite));
    CHECK(found.report[c].reason == alone.report[c].reason);
    CHECK(found.report[c].true_residual == Approx(true_residual<double>(a, b[c], found.x[c])).epsilon(1e-6));
  }

  // Under "auto" those columns continue alone.
  SystemOptions automatic = system_options("auto", "none");
  automatic.solver.of<GmresOptions>().restart = n;
  const Rows shifted = laplacian(9, 0, -1.5);  // symmetric, positive diagonal, indefinite
  const Columns rhs = noise_columns(shifted, 3);
  LinearSystem<double, S> chained(ctx, Arrays<double, S>(ctx, shifted).view(), automatic);
  const Batch<double> solved = solve_together<double, S>(ctx, chained, rhs, zeros_like(rhs));
  for (std::size_t c = 0; c < rhs.size(); ++c) {
    CHECK(solved.report[c].converged());
    REQUIRE(solved.report[c].attempts.size() == 2);
    CHECK(solved.report[c].attempts[0].solver == "cg");
    CHECK(solved.report[c].attempts[0].status == Status::not_positive_definite);
    CHECK(true_residual<double>(shifted, rhs[c], solved.x[c]) <= 1.001e-8 * norm(rhs[c]));
  }
}

TEST_BOTH("a tolerance that rounding forbids ends each column in stagnation, alone or not", "[columns]") {
  const Rows a = laplacian(20);
  SystemOptions options = cg_options("none");
  options.stop.rel_tol = 1e-9;
  LinearSystem<float, S> system(ctx, Arrays<float, S>(ctx, a).view(), options);
  const Columns b = noise_columns(a, 5);
  const Batch<float> found = solve_together<float, S>(ctx, system, b, zeros_like(b));
  const Batch<float> alone = solve_alone<float, S>(ctx, system, b, zeros_like(b));
  for (std::size_t c = 0; c < b.size(); ++c) {
    CHECK(found.report[c].status == Status::stagnation);
    CHECK(found.report[c].residual_replacements == alone.report[c].residual_replacements);
    if (S == Space::host) CHECK((found.x[c] == alone.x[c]));
  }
}

TEST_BOTH("the callback hears of every column, and its word ends all of them", "[columns]") {
  const Rows a = laplacian(20);
  SystemOptions options = cg_options("jacobi");
  options.stop.check_every = 1;
  LinearSystem<double, S> system(ctx, Arrays<double, S>(ctx, a).view(), options);
  const Columns b = noise_columns(a, 11);
  std::vector<int> last(b.size(), 0);
  const Batch<double> all = solve_together<double, S>(ctx, system, b, zeros_like(b), [&](const Progress& now) {
    CHECK(now.columns == 11);
    CHECK(now.iteration == last[static_cast<std::size_t>(now.column)] + 1);
    last[static_cast<std::size_t>(now.column)] = now.iteration;
    return true;
  });
  for (std::size_t c = 0; c < b.size(); ++c) CHECK(last[c] == all.report[c].iterations);

  int calls = 0;
  const Batch<double> stopped = solve_together<double, S>(ctx, system, b, zeros_like(b), [&](const Progress& now) {
    ++calls;
    return !(now.column == 2 && now.iteration == 5);
  });
  CHECK(calls == 4 * 8 + 3);
  for (std::size_t c = 0; c < b.size(); ++c) {
    INFO("column " << c);
    CHECK(stopped.report[c].status == Status::stopped_by_caller);
    CHECK(stopped.report[c].iterations == (c < 8 ? 5 : 0));
    CHECK(stopped.report[c].true_residual == Approx(true_residual<double>(a, b[c], stopped.x[c])).epsilon(1e-9));
  }
}

TEST_BOTH("iterations and time are limited for each column, and for all", "[columns]") {
  const Rows a = laplacian(20);
  SystemOptions options = cg_options("jacobi");
  options.stop.max_iterations = 4;
  check_against_alone<double, S>(ctx, a, options, noise_columns(a, 9));
  for (const char* solver : {"cg", "bicgstab"}) {
    SystemOptions hurried = cg_options("jacobi");
    hurried.solver.name = solver;
    hurried.stop.time_limit_seconds = 1e-9;
    hurried.stop.check_every = 4;  // before one kernel has solved the system
    LinearSystem<double, S> system(ctx, Arrays<double, S>(ctx, a).view(), hurried);
    const Columns b = noise_columns(a, 9);
    for (const SolveReport& report : solve_together<double, S>(ctx, system, b, zeros_like(b)).report) {
      CHECK(report.status == Status::time_limit);
    }
  }
}

TEST_BOTH("a second call for as many columns allocates nothing", "[columns]") {
  const Rows a = laplacian(14);
  for (const char* solver : {"cg", "auto", "bicgstab"}) {
    for (const char* format : {"csr", "ehyb"}) {
      for (const char* precond : {"jacobi", "fsai"}) {
        SystemOptions options = cg_options(precond);
        options.solver.name = solver;
        options.spmv.format = format;
        LinearSystem<double, S> system(ctx, Arrays<double, S>(ctx, a).view(), options);
        const Columns b = noise_columns(a, 11);
        const auto bs = make_array(ctx, joined<double>(b));
        auto xs = make_array(ctx, joined<double>(zeros_like(b)));
        CHECK(system.solve_columns(bs.cspan(), xs.span(), 11).size() == 11);
        const auto before = ctx.memory()->use().allocations;
        fill<double, S>(ctx, 0.0, xs.span());
        CHECK(system.solve_columns(bs.cspan(), xs.span(), 11).size() == 11);
        const std::int64_t three = 3 * std::int64_t{a.size()};
        fill<double, S>(ctx, 0.0, xs.span());
        CHECK(system.solve_columns(bs.cspan().subspan(0, three), xs.span().subspan(0, three), 3).size() == 3);
        INFO(solver << " " << format << " " << precond);
        CHECK(ctx.memory()->use().allocations == before);
      }
    }
  }
}

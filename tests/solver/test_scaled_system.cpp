// SPDX-License-Identifier: Apache-2.0
// Systems that are solved with scaled rows and columns or permuted columns: x, residuals and reports are those of the
// system as it was given.
#include "tests/solver/dense_solution.hpp"
#include "tests/solver/equivalent_support.hpp"
#include "tests/solver/reported_systems.hpp"

#include <newel/reorder/scaling.hpp>

namespace {

SystemOptions scaled_options(Use scale, Use match, const std::string& solver = "auto",
                             const std::string& precond = "auto") {
  SystemOptions options = system_options(solver, precond, "auto");
  options.solver.of<ScalingOptions>() = {scale, match};
  return options;
}

double largest_error(const std::vector<double>& x, const std::vector<double>& right) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error = std::max(error, std::fabs(x[i] - right[i]));
    size = std::max(size, std::fabs(right[i]));
  }
  return error / size;
}

// A regular matrix whose diagonal is empty: the rows of a system with a strong diagonal, moved on by one.
Rows moved_rows(Index k, double wind = 0.3) {
  const Rows a = laplacian(k, wind);
  Rows moved(a.size());
  for (Index i = 0; i < a.size(); ++i) {
    moved.row[static_cast<std::size_t>((i + k * k / 3) % a.size())] = a.row[static_cast<std::size_t>(i)];
  }
  return moved;
}

// Rows and columns of very different units.
Rows in_units(Rows a, int bits, std::uint64_t seed, bool symmetric = false) {
  const auto rows = noise(a.size(), seed), columns = noise(a.size(), symmetric ? seed : seed + 1);
  for (Index i = 0; i < a.size(); ++i) {
    for (auto& [j, value] : a.row[static_cast<std::size_t>(i)]) {
      value = std::ldexp(value, static_cast<int>(bits * rows[static_cast<std::size_t>(i)]) +
                                    static_cast<int>(bits * columns[static_cast<std::size_t>(j)]));
    }
  }
  return a;
}

// b of an x in the units that `in_units` gave to the columns, so that no row of A x is lost to rounding.
std::vector<double> rhs_in_units(const Rows& a, int bits, std::uint64_t seed, std::uint64_t of_x) {
  std::vector<double> x = noise(a.size(), of_x);
  const auto columns = noise(a.size(), seed + 1);
  for (std::size_t j = 0; j < x.size(); ++j) x[j] = std::ldexp(x[j], -static_cast<int>(bits * columns[j]));
  return a.rhs_for(x);
}

// The values that a matrix in single precision stores.
Rows in_single(Rows a) {
  for (auto& row : a.row) {
    for (auto& [j, value] : row) value = static_cast<float>(value);
  }
  return a;
}

}  // namespace

TEST_BOTH("Rows with penalties of 1e20 do not hide the others: x is right in all of them", "[solver][scaling]") {
  for (const ReportedSystem& s : {penalty_dirichlet(), penalty_convection()}) {
    const auto right = dense_solution(s.a, s.b);
    for (const Use use : {Use::automatic, Use::on}) {
      SystemOf<double, S> system(ctx, s.a, scaled_options(use, Use::automatic));
      CHECK(system.info().scaling.scaled);
      const auto found = run_system(ctx, system, s.b);
      check_report(s.a, s.b, found.report, found.x);
      CHECK(found.report.warning.empty());
      CHECK(found.report.scaled_residual <= 1e-8);
      CHECK(found.report.scaled_residual >= 0);
      CHECK(largest_error(found.x, right) <= 1e-6);
    }
  }
}

TEST_BOTH("A symmetric system stays symmetric, and CG solves it", "[solver][scaling]") {
  const Rows a = in_units(laplacian(14), 30, 5, true);
  const auto right = noise(a.size(), 8);
  const auto b = a.rhs_for(right);
  SystemOf<double, S> system(ctx, a, scaled_options(Use::on, Use::off));
  CHECK(system.info().method == "cg");
  const auto found = run_system(ctx, system, b);
  check_report(a, b, found.report, found.x);
  for (const Attempt& attempt : found.report.attempts) CHECK(attempt.solver == "cg");
  // A matching scales a symmetric indefinite matrix from both sides, and permutes nothing.
  Rows saddle(3 * 40);
  for (Index i = 0; i < 40; ++i) {
    for (const Index k : {0, 40}) {
      saddle.at(i + k, i + k) = std::exp2(i % 30);
      if (i > 0) saddle.at(i + k, i + k - 1) = saddle.at(i + k - 1, i + k) = 0.3;
      saddle.at(80 + i, i + k) = saddle.at(i + k, 80 + i) = 1 + k / 80.0;
    }
  }
  const auto rhs = saddle.rhs_for(noise(saddle.size(), 3));
  SystemOf<double, S> indefinite(ctx, saddle, scaled_options(Use::on, Use::on));
  CHECK(indefinite.info().scaling.matched);
  CHECK(indefinite.info().method == "minres");
  const auto solved = run_system(ctx, indefinite, rhs);
  check_report(saddle, rhs, solved.report, solved.x);
}

TEST_BOTH("Matched columns fill an empty diagonal, so that Jacobi's method has one", "[solver][matching]") {
  const Rows a = moved_rows(15);
  const auto b = a.rhs_for(noise(a.size(), 4));
  CHECK_THROWS_AS((SystemOf<double, S>(ctx, a, scaled_options(Use::off, Use::off, "bicgstab", "jacobi"))),
                  InputError);
  for (const Use scale : {Use::off, Use::on}) {
    SystemOf<double, S> system(ctx, a, scaled_options(scale, Use::on, "bicgstab", "jacobi"));
    CHECK(system.info().scaling.matched);
    CHECK(system.info().scaling.scaled == (scale == Use::on));
    CHECK(system.info().preconditioner.name == "jacobi");
    // From zero, and from a guess in the caller's numbering.
    for (const auto& guess : {std::vector<double>(), noise(a.size(), 9)}) {
      const auto found = run_system(ctx, system, b, guess);
      check_report(a, b, found.report, found.x);
      if (!guess.empty()) CHECK(found.report.initial_residual == Approx(true_residual(a, b, guess)).epsilon(1e-9));
      const auto again = run_system(ctx, system, b, found.x);
      CHECK(again.report.iterations == 0);
    }
  }
}

TEST_BOTH("Rows from 1e-300 to 1e300 are solved without overflow", "[solver][scaling]") {
  for (const int bits : {100, 480}) {
    for (const bool moved : {false, true}) {
      CAPTURE(bits, moved);
      const Rows plain = moved ? moved_rows(9) : laplacian(9, 0.3);
      const Rows a = in_units(plain, bits, 21);
      // x in the units of the columns, so that each row is of about 1.
      std::vector<double> right = noise(a.size(), 5);
      const auto columns = noise(a.size(), 22);
      for (std::size_t j = 0; j < right.size(); ++j) {
        right[j] = std::ldexp(right[j], -static_cast<int>(bits * columns[j]));
      }
      const auto b = a.rhs_for(right);
      SystemOf<double, S> system(ctx, a, scaled_options(Use::on, moved ? Use::on : Use::off));
      const auto found = run_system(ctx, system, b);
      INFO(found.report.reason);
      CHECK(found.report.converged());
      CHECK(found.report.scaled_residual <= 1e-8);
      for (std::size_t j = 0; j < right.size(); ++j) {
        CHECK(std::fabs(std::ldexp(found.x[j] - right[j], static_cast<int>(bits * columns[j]))) <= 1e-5);
      }
    }
  }
}

TEST_BOTH("An x beyond the range is not called a solution", "[solver][scaling]") {
  Rows a = diagonal({1e-200, 1, 1});
  a.at(0, 1) = 1e-210;
  SystemOf<double, S> system(ctx, a, scaled_options(Use::on, Use::off));
  const auto found = run_system(ctx, system, std::vector<double>{1e200, 1, 1});
  CHECK(found.report.status == Status::not_finite);
  CHECK(found.report.failure.cause == Cause::solution_out_of_range);
}

TEST_BOTH("New values: scaled anew with the same bits as a new system, and matched anew if the diagonal is lost",
          "[solver][scaling][matching]") {
  const Rows a = in_units(moved_rows(10), 20, 2), other = in_units(moved_rows(10, -0.4), 25, 7);
  const auto of_a = rhs_in_units(a, 20, 2, 6), of_other = rhs_in_units(other, 25, 7, 6);
  for (const Use match : {Use::off, Use::on}) {
    SystemOf<double, S> system(ctx, a, scaled_options(Use::on, match));
    CHECK(run_system(ctx, system, of_a).report.converged());
    refresh(ctx, system, other);
    const auto found = run_system(ctx, system, of_other);
    check_report(other, of_other, found.report, found.x);
  }
  const auto b = noise(a.size(), 6);
  const Rows strong = in_units(laplacian(10, 0.3), 20, 2), weak = in_units(laplacian(10, -0.4), 25, 7);
  SystemOf<double, S> renewed(ctx, strong, scaled_options(Use::on, Use::off, "gmres", "jacobi"));
  refresh(ctx, renewed, weak);
  SystemOf<double, S> made(ctx, weak, scaled_options(Use::on, Use::off, "gmres", "jacobi"));
  CHECK(run_system(ctx, renewed, b).x == run_system(ctx, made, b).x);
  // The pattern of two matrices with different strong entries: the matching of the first leaves the second without a
  // diagonal.
  Rows first = laplacian(10, 0.3), second = first;
  for (Index i = 0; i < first.size(); ++i) {
    const Index next = (i + 17) % first.size();
    first.at(i, next) = 1e-9;
    second.at(i, next) = 50;
    second.at(i, i) = 1e-9;
  }
  SystemOf<double, S> changing(ctx, first, scaled_options(Use::on, Use::on, "bicgstab", "jacobi"));
  check_report(first, b, run_system(ctx, changing, b).report, run_system(ctx, changing, b).x);
  refresh(ctx, changing, second);
  const auto found = run_system(ctx, changing, b);
  check_report(second, b, found.report, found.x);
  CHECK(found.report.iterations < 20);  // with the strong entries on the diagonal
}

TEST_BOTH("Values that are written into the slots are scaled too", "[solver][scaling][slots]") {
  const Rows a = in_units(laplacian(8, 0.2), 20, 2);
  const auto b = rhs_in_units(a, 20, 2, 6);
  SystemOf<double, S> system(ctx, a, scaled_options(Use::on, Use::off));
  CHECK(run_system(ctx, system, b).report.converged());
  Rows twice = a;
  for (auto& row : twice.row) {
    for (auto& [j, value] : row) value *= j % 2 == 0 ? 2 : 3;
  }
  const Arrays<double, S> values(ctx, twice);
  const Slots<double, S> slots = system.in_place().matrix();
  copy<double>(ctx, values.val.cspan(), slots.values);
  system.in_place().written();
  const auto found = run_system(ctx, system, b);
  check_report(twice, b, found.report, found.x);
}

TEST_BOTH("Columns are solved together and each is judged in its own units", "[solver][scaling][columns]") {
  const Rows a = in_units(moved_rows(8), 15, 3);
  constexpr Index columns = 3;
  std::vector<double> b;
  for (Index c = 0; c < columns; ++c) {
    for (const double value : a.rhs_for(noise(a.size(), 40 + static_cast<std::uint64_t>(c)))) {
      b.push_back(std::ldexp(value, 100 * c));
    }
  }
  SystemOf<double, S> system(ctx, a, scaled_options(Use::on, Use::on));
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<double>(b.size(), 0.0));
  const auto reports = system.solve_columns(bs.cspan(), xs.span(), columns);
  REQUIRE(reports.size() == columns);
  const auto x = to_vector(ctx, xs.cspan());
  for (Index c = 0; c < columns; ++c) {
    const auto of = [&](const std::vector<double>& v) {
      return std::vector<double>(v.begin() + c * a.size(), v.begin() + (c + 1) * a.size());
    };
    check_report(a, of(b), reports[static_cast<std::size_t>(c)], of(x));
  }
}

TEST_BOTH("In single precision the same is done, with its own tolerance", "[solver][scaling]") {
  const Rows a = in_single(in_units(moved_rows(8), 15, 3));
  const auto b = a.rhs_for(noise(a.size(), 4));
  SystemOptions options = scaled_options(Use::on, Use::on);
  options.stop.rel_tol = 1e-4;
  SystemOf<float, S> system(ctx, a, options);
  const auto found = run_system(ctx, system, b);
  check_report(a, b, found.report, found.x, 1e-4);
}

TEST_BOTH("An absolute tolerance is one of the rows as they were given, and b = 0 gives x = 0", "[solver][scaling]") {
  const Rows a = in_units(laplacian(8, 0.2), 20, 2);
  const auto b = noise(a.size(), 6);
  SystemOptions options = scaled_options(Use::on, Use::off);
  options.stop.rel_tol = 0;
  options.stop.abs_tol = 1e-3 * norm(b);
  SystemOf<double, S> system(ctx, a, options);
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK(found.report.tolerance == options.stop.abs_tol);
  CHECK(true_residual(a, b, found.x) <= options.stop.abs_tol);
  const auto zero = run_system(ctx, system, std::vector<double>(b.size(), 0.0), noise(a.size(), 1));
  CHECK(zero.report.converged());
  CHECK(norm(zero.x) <= 1e-3 * norm(b));
}

TEST_BOTH("Finite-element systems are neither scaled nor matched under auto, and keep their bits",
          "[solver][scaling][auto]") {
  for (const Rows& a : {laplacian(12), laplacian(12, 0.4), in_units(laplacian(12), 8, 2, true)}) {
    const auto b = noise(a.size(), 6);
    SystemOf<double, S> open(ctx, a, scaled_options(Use::automatic, Use::automatic));
    SystemOf<double, S> closed(ctx, a, scaled_options(Use::off, Use::off));
    const auto found = run_system(ctx, open, b), as_before = run_system(ctx, closed, b);
    CHECK(found.x == as_before.x);
    CHECK(found.report.attempts.size() == as_before.report.attempts.size());
    CHECK_FALSE(open.info().scaling.scaled);
    CHECK(found.report.scaled_residual == -1);
  }
}

TEST_CASE("What cannot be scaled says so", "[solver][scaling]") {
  const Context<Space::host> ctx;
  const Rows a = laplacian(5);
  SystemOptions null_space = scaled_options(Use::on, Use::off);
  null_space.null_space = NullSpace::constant;
  CHECK_THROWS_WITH((SystemOf<double, Space::host>(ctx, neumann(5), null_space)), Catch::Contains("null_space"));
  const auto same = std::make_shared<FunctionOperator<double, Space::host>>(
      a.size(), a.size(), [](const auto& c, double alpha, auto x, double beta, auto y) {
        axpby<double, Space::host>(c, alpha, x, beta, y);
      });
  for (const auto& [scale, match] : {std::pair{Use::on, Use::off}, std::pair{Use::off, Use::on}}) {
    CHECK_THROWS_WITH((LinearSystem<double, Space::host>(ctx, same, scaled_options(scale, match))),
                      Catch::Contains("needs the entries"));
  }
  SystemParts<double, Space::host> parts;
  parts.preconditioner = same;
  const Arrays<double, Space::host> arrays(ctx, a);
  CHECK_THROWS_WITH((LinearSystem<double, Space::host>(ctx, arrays.view(), scaled_options(Use::on, Use::off), parts)),
                    Catch::Contains("preconditioner"));
}

TEST_CASE("A system that begins with a decision is scaled and matched as the one that made it", "[solver][scaling]") {
  const Context<Space::host> ctx;
  const Rows a = in_units(moved_rows(10), 20, 2);
  const auto b = noise(a.size(), 6);
  SystemOf<double, Space::host> system(ctx, a, scaled_options(Use::on, Use::on));
  run_system(ctx, system, b);
  SystemOptions options = scaled_options(Use::automatic, Use::automatic);
  options.decision = decision_of(json_of(system.history().decision()));
  CHECK(options.decision->scaled);
  CHECK(options.decision->matched);
  SystemOf<double, Space::host> next(ctx, a, options);
  CHECK(next.info().scaling.matched);
  CHECK(run_system(ctx, next, b).x == run_system(ctx, system, b).x);
}

TEST_CASE("A structurally singular matrix is not matched, and a row and a column without partner are named",
          "[solver][matching][singular]") {
  const Context<Space::host> ctx;
  Rows a = laplacian(6, 0.4);
  for (const Index i : {30, 14, 5}) a.row[static_cast<std::size_t>(i)] = {{3, 1.0 + i}, {4, 2.0 - i}};
  const auto b = noise(a.size(), 9);
  for (const bool renumbered : {false, true}) {
    for (const Use use : {Use::on, Use::automatic, Use::off}) {
      SystemOptions options = scaled_options(use, use);
      if (renumbered) options.old_of_new = shuffled(a.size());
      SystemOf<double, Space::host> system(ctx, a, options);
      const SolveReport report = run_system(ctx, system, b).report;
      CHECK_FALSE(system.info().scaling.matched);
      CHECK(report.failure.cause == Cause::singular);
      CHECK(report.failure.structural_rank == a.size() - 1);
      const Index row = report.failure.unmatched_row;
      CHECK((row == 30 || row == 14 || row == 5));
      // Columns 3 and 4 belong to those rows; any other may be the one that is left.
      const Index column = report.failure.unmatched_column;
      CHECK((column >= 0 && column != 3 && column != 4));
    }
  }
}

TEST_BOTH(
    "Under auto zeros on the diagonal of an unsymmetric matrix mean factors on a host, and a matching on a device",
    "[solver][matching][auto][direct]") {
  const Rows a = in_units(moved_rows(20, 0.2), 14, 11);
  const auto b = noise(a.size(), 6);
  SystemOf<double, S> system(ctx, a, scaled_options(Use::automatic, Use::automatic));
  CHECK(system.info().scaling.matched == (S == Space::device));
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK(true_residual(a, b, found.x) <= 1.01e-8 * norm(b));
  CHECK(found.report.attempts.front().status == Status::converged);
  CHECK((found.report.solver == "direct") == (S == Space::host));
  if (S == Space::device) check_report(a, b, found.report, found.x);
  const Rows other = in_units(moved_rows(20, 0.25), 14, 11);
  refresh(ctx, system, other);
  const auto third = run_system(ctx, system, b);
  CHECK(third.report.converged());
  if (S == Space::host) CHECK(third.report.attempts.size() == 1);
  CHECK(true_residual(other, b, third.x) <= 1.01e-8 * norm(b));
}

TEST_CASE("If factors come first, a singular system is solved if it has a solution, and else is not",
          "[solver][auto][direct]") {
  const Context<Space::host> ctx(1);
  Rows a = moved_rows(12, 0.2);
  for (Index j = 0; j < a.size(); ++j) a.at(a.size() - 1, j) = a.at(0, j);  // twice the same equation
  const auto exact = noise(a.size(), 6);
  SystemOf<double, Space::host> system(ctx, a, scaled_options(Use::automatic, Use::automatic));
  const auto solved = run_system(ctx, system, a.rhs_for(exact));
  INFO(solved.report.reason);
  CHECK(solved.report.converged());
  CHECK(true_residual(a, a.rhs_for(exact), solved.x) <= 1.01e-8 * norm(a.rhs_for(exact)));
  const auto unsolved = run_system(ctx, system, exact);  // whose first and last value differ
  CHECK_FALSE(unsolved.report.converged());
  CHECK(unsolved.report.attempts.size() > 1);
  CHECK(unsolved.report.true_residual == Approx(true_residual(a, exact, unsolved.x)).epsilon(1e-6));
}

TEST_BOTH("A solve that a limit ends while it is matched returns the x that it reports", "[solver][matching][auto]") {
  const Rows a = in_units(moved_rows(20, 0.2), 3, 11);
  const auto b = noise(a.size(), 6);
  for (const int limit : {1, 2, 3}) {
    SystemOptions options = scaled_options(Use::automatic, Use::automatic);
    options.stop.rel_tol = 1e-15;
    options.stop.max_iterations = limit;
    SystemOf<double, S> system(ctx, a, options);
    const auto found = run_system(ctx, system, b);
    CHECK(found.report.iterations <= limit);
    CHECK(found.report.true_residual == Approx(true_residual(a, b, found.x)).epsilon(1e-6).margin(1e-15 * norm(b)));
  }
}

TEST_BOTH("A solve that leaves rows unsolved is continued with scaled rows, and later solves begin so",
          "[solver][scaling][auto]") {
  ReportedSystem s = penalty_dirichlet();
  for (Index i = 0; i < s.a.size(); ++i) {  // too little to be seen beforehand
    double& diagonal = s.a.at(i, i);
    if (diagonal != 1e20) continue;
    diagonal = 1e12;
    s.b[static_cast<std::size_t>(i)] *= 1e-8;
  }
  const auto right = dense_solution(s.a, s.b);
  SystemOf<double, S> system(ctx, s.a, scaled_options(Use::automatic, Use::automatic));
  CHECK_FALSE(system.info().scaling.scaled);
  SystemOf<double, S> closed(ctx, s.a, scaled_options(Use::off, Use::off));
  const auto as_before = run_system(ctx, closed, s.b);
  CHECK_FALSE(as_before.report.warning.empty());
  for (int k = 0; k < 2; ++k) {
    const auto found = run_system(ctx, system, s.b);
    check_report(s.a, s.b, found.report, found.x);
    CHECK(found.report.warning.empty());
    CHECK(largest_error(found.x, right) <= 1e-6);
    CHECK(system.info().scaling.scaled);
  }
}

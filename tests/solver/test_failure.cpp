// SPDX-License-Identifier: Apache-2.0
// Failures: a cause with its figures, and one sentence for each.
#include "tests/solver/systems.hpp"

namespace {

constexpr int causes = static_cast<int>(Cause::inconsistent) + 1;

template <Space S>
SolveReport solved(const Rows& a, const std::vector<double>& b, const SystemOptions& options) {
  const Context<S> ctx;
  SystemOf<double, S> system(ctx, a, options);
  return run_system(ctx, system, b).report;
}

}  // namespace

TEST_CASE("Every cause has a name and a sentence of its own, and none has no sentence", "[solver][failure]") {
  std::set<std::string> names, sentences;
  for (int k = 0; k < causes; ++k) {
    const auto cause = static_cast<Cause>(k);
    names.insert(std::string(name_of(cause)));
    sentences.insert(text_of({cause}));
    CHECK(name_of(cause) != "unknown");
    CHECK(text_of({cause}).empty() == (cause == Cause::none));
  }
  CHECK(static_cast<int>(names.size()) == causes);
  CHECK(static_cast<int>(sentences.size()) == causes);
}

TEST_CASE("A sentence names the preconditioner, the level, what is not symmetric and what was not tried",
          "[solver][failure]") {
  CHECK(text_of({Cause::precond_not_positive}) ==
        "r.Mr <= 0: the preconditioner, as computed, is not positive definite");
  CHECK(text_of({Cause::precond_not_positive}, "spai") ==
        "r.Mr <= 0: the preconditioner spai, as computed, is not positive definite");
  CHECK(contains(text_of({Cause::rounding, Subject::none, 3e-9}), "about 3.00e-09 of |b| is attainable"));
  CHECK(contains(text_of({Cause::norm_overflows, Subject::initial_guess}), "squares of the initial guess overflow"));
  Failure grew{Cause::residual_grew, Subject::none, 250};
  grew.asymmetric = Asymmetric::matrix;
  CHECK(text_of(grew) ==
        "the residual grew to 2.50e+02 of |b|: the matrix is not symmetric, but the method needs symmetry");
  Failure stuck{Cause::no_better_residual, Subject::none, 0, 1000};
  stuck.asymmetric = Asymmetric::preconditioner;
  CHECK(text_of(stuck, "spai") ==
        "the residual did not improve for 1000 iterations, and the preconditioner spai is not symmetric, but the "
        "method needs symmetry");
  Failure slow{Cause::slow_residual, Subject::none, 0, 1000};
  CHECK(text_of(slow) == "the residual did not decrease by a factor of 10 in 1000 iterations");
  Failure low{Cause::omega_vanished};
  low.in_single_precision = true;
  CHECK(text_of(low).rfind("in single precision: omega vanished", 0) == 0);
  Failure poor{Cause::rho_vanished};
  poor.untried = {{"gmres", "out of host memory"}};
  CHECK(contains(text_of(poor), "; gmres was not tried: out of host memory"));
}

TEST_BOTH("A solve that fails says its cause, and the sentence is that of the cause", "[solver][failure]") {
  const auto check = [](const SolveReport& report, Cause cause, const std::string& precond) {
    CAPTURE(report.reason);
    CHECK(report.failure.cause == cause);
    CHECK(report.reason == text_of(report.failure, precond));
    REQUIRE_FALSE(report.attempts.empty());
    CHECK(report.attempts.back().failure.cause == cause);
    CHECK(report.attempts.back().reason == text_of(report.attempts.back().failure, precond));
  };
  const Rows a = laplacian(8);
  const auto b = a.rhs_for(noise(a.size()));
  check(solved<S>(a, b, system_options("cg", "none", "csr")), Cause::none, "");
  SystemOptions few = system_options("cg", "none", "csr");
  few.stop.max_iterations = 2;
  check(solved<S>(a, b, few), Cause::iteration_limit, "");
  check(solved<S>(laplacian(8, 0, -9), b, system_options("cg", "none", "csr")), Cause::matrix_not_positive, "");
  Rows mixed_signs(2);
  mixed_signs.at(0, 0) = 1;
  mixed_signs.at(1, 1) = -1;
  check(solved<S>(mixed_signs, {1, 2}, system_options("cg", "jacobi", "csr")), Cause::precond_not_positive, "jacobi");
  auto wrong = b;
  wrong[3] = NAN;
  const SolveReport nan = solved<S>(a, wrong, system_options("gmres", "none", "csr"));
  check(nan, Cause::not_finite_input, "");
  CHECK(nan.failure.subject == Subject::right_hand_side);
  Rows nilpotent(3);  // A e1 = 0: GMRES finds nothing
  nilpotent.at(0, 1) = nilpotent.at(1, 2) = 1;
  check(solved<S>(nilpotent, {0, 0, 1}, system_options("gmres", "none", "csr")), Cause::zero_row, "");
  Rows ones(2);  // (1, -1) is orthogonal to its range
  ones.at(0, 0) = ones.at(0, 1) = ones.at(1, 0) = ones.at(1, 1) = 1;
  const SolveReport least_squares = solved<S>(ones, {1, 2}, system_options("gmres", "none", "csr"));
  check(least_squares, Cause::inconsistent, "");
  CHECK(least_squares.failure.level == Approx(std::sqrt(0.1)).epsilon(1e-12));
  Rows triangle(3);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) triangle.at(i, j) = i == j ? 2 : -1;
  }
  const SolveReport no_solution = solved<S>(triangle, {1, 1, 1}, system_options("cg", "none", "csr"));
  check(no_solution, Cause::outside_range, "");
  CHECK(no_solution.failure.level == Approx(1).epsilon(1e-12));
}

// SPDX-License-Identifier: Apache-2.0
// BiCGStab in one kernel: the same iterates as by separate ones, whatever ends a solve, and again after a refresh.
#include "tests/solver/resident_support.hpp"

namespace {

SystemOptions options(const std::string& precond, bool resident) {
  return options_of("ehyb", precond, resident, "bicgstab");
}

template <class T>
void check_against_separate_kernels(const Rows& a, const std::string& precond, Index parts = 0) {
  SystemOptions with = options(precond, true);
  with.spmv.parts = parts;
  testing::check_against_separate_kernels<T>(a, with);
}

}  // namespace

TEST_CASE("BiCGStab in one kernel takes the steps of BiCGStab in many", "[solver][bicgstab][resident][device]") {
  for (const int block : {1, 2, 3, 6}) {
    for (const Index k : {2, 9}) {
      const Rows a = windy_grid(k, block);
      for (const char* precond : {"none", "jacobi"}) {
        CAPTURE(block, k, precond);
        check_against_separate_kernels<double>(a, precond);
        check_against_separate_kernels<float>(a, precond);
      }
    }
  }
}

TEST_CASE("BiCGStab in one kernel reads a matrix that streams past its vectors",
          "[solver][bicgstab][resident][device]") {
  check_against_separate_kernels<double>(windy_grid(16, 1), "jacobi", 2);
  check_against_separate_kernels<double>(windy_grid(16, 1), "none", 2);
  check_against_separate_kernels<double>(windy_grid(12, 2), "jacobi", 2);
  check_against_separate_kernels<double>(windy_grid(10, 3), "jacobi", 2);
  check_against_separate_kernels<double>(windy_grid(10, 3), "none", 2);
  check_against_separate_kernels<double>(windy_grid(7, 6), "jacobi", 2);
  check_against_separate_kernels<float>(windy_grid(12, 3), "jacobi", 2);
}

TEST_CASE("A resident BiCGStab says breakdown on a skew-symmetric matrix, after five restarts",
          "[solver][bicgstab][resident][device]") {
  // r.A r = 0 for every r. With numbers that are exact, so are the dot products.
  Rows a(64);
  std::vector<double> b(64);
  for (Index i = 0; i < a.size(); i += 2) {
    a.at(i, i + 1) = 1;
    a.at(i + 1, i) = -1;
    b[static_cast<std::size_t>(i)] = 1 + i % 5;
    b[static_cast<std::size_t>(i) + 1] = 2;
  }
  System<double> one(a, options("none", true)), many(a, options("none", false));
  const SolveReport found = one.solve(b), expected = many.solve(b);
  CHECK(found.status == Status::breakdown);
  CHECK(found.reason == expected.reason);
  CHECK(found.restarts == 5);
  CHECK(found.iterations == expected.iterations);
  CHECK(found.true_residual == Approx(expected.true_residual));
  CHECK(found.true_residual == Approx(true_residual<double>(a, b, one.solution())));
  const SolveReport stopped = one.solve(b, {}, [](const Progress&) { return false; });
  CHECK(stopped.status == Status::stopped_by_caller);
  CHECK(stopped.restarts == 0);
}

TEST_CASE("A resident BiCGStab goes on behind a breakdown", "[solver][bicgstab][resident][device]") {
  // r0 = (1, 0, 0) in each triple. Its row knows of no other, and the first step solves it: r0.r is 0, exactly.
  Rows a(60);
  std::vector<double> b(60, 0.0);
  for (Index i = 0; i < a.size(); i += 3) {
    for (int d = 0; d < 3; ++d) a.at(i + d, i + d) = 1 + d;
    a.at(i + 1, i) = a.at(i + 2, i) = 1;
    b[static_cast<std::size_t>(i)] = 1;
  }
  System<double> one(a, options("none", true)), many(a, options("none", false));
  const SolveReport found = one.solve(b), expected = many.solve(b);
  CHECK(found.resident);
  CHECK(found.converged());
  CHECK(found.restarts == 1);
  CHECK(expected.restarts == 1);
  CHECK(std::abs(found.iterations - expected.iterations) <= 1);  // three, and one more where rounding asks for it
  CHECK(true_residual<double>(a, b, one.solution()) <= 1e-8 * norm(b) * (1 + 1e-6));
}

TEST_CASE("A resident BiCGStab returns the best iterate that it kept", "[solver][bicgstab][resident][device]") {
  const Rows a = laplacian(16, 0.5, -3.7);  // strongly indefinite: residuals jump above the start
  System<double> system(a, options("none", true));
  const auto b = a.rhs_for(noise(a.size()));
  for (const int most : {3, 20, 57}) {
    StopCriterion stop;
    stop.max_iterations = most;
    system.system.set_stop_criterion(stop);
    const SolveReport report = system.solve(b);
    CAPTURE(most, report.history.back());
    CHECK(report.resident);
    CHECK(report.iterations == most);
    const double residual = true_residual<double>(a, b, system.solution());
    CHECK(residual <= norm(b) * (1 + 1e-12));
    CHECK(report.true_residual == Approx(residual).epsilon(1e-8));
    // What the kernel kept: the first below all before it, at least 16 iterations behind the last.
    double kept = report.history[0];
    int kept_at = 0;
    for (int k = 16; k < most; ++k) {
      if (k < kept_at + 16 || !(report.history[static_cast<std::size_t>(k)] < kept)) continue;
      kept = report.history[static_cast<std::size_t>(k)];
      kept_at = k;
    }
    CHECK(residual <= std::min(kept, report.history.back()) * (1 + 1e-6));
  }
}

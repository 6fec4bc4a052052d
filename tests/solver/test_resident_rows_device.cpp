// SPDX-License-Identifier: Apache-2.0
// CG and BiCGStab in one kernel with a CSR matrix: the same iterates as by separate kernels, whatever ends a solve.
#include "tests/solver/resident_support.hpp"

namespace {

SystemOptions in_rows(const std::string& solver, const std::string& precond, bool resident = true) {
  return options_of("csr", precond, resident, solver);
}

// Rows of one entry and of `longest`, symmetric and diagonally dominant.
Rows uneven_rows(Index n, Index longest) {
  Rows a(n);
  for (Index i = 0; i < n; ++i) a.at(i, i) = 4;
  for (Index i = 0; i < n; i += 97) {
    for (Index k = 1; k < longest && i + 3 * k < n; ++k) a.at(i, i + 3 * k) = a.at(i + 3 * k, i) = -1.0 / longest;
  }
  return a;
}

}  // namespace

TEST_CASE("A solve in one kernel by rows takes the steps of separate kernels", "[solver][resident][rows][device]") {
  for (const int block : {1, 3}) {
    for (const Index k : {2, 7, 13}) {
      for (const char* precond : {"none", "jacobi"}) {
        CAPTURE(block, k, precond);
        check_against_separate_kernels<double>(blocks_on_a_grid(k, block), in_rows("cg", precond));
        check_against_separate_kernels<float>(blocks_on_a_grid(k, block), in_rows("cg", precond));
        check_against_separate_kernels<double>(windy_grid(k, block), in_rows("bicgstab", precond));
        check_against_separate_kernels<float>(windy_grid(k, block), in_rows("bicgstab", precond));
      }
    }
  }
}

TEST_CASE("Rows of one entry to two hundred are solved in one kernel", "[solver][resident][rows][device]") {
  for (const Index n : {1, 31, 33, 1000}) {
    CAPTURE(n);
    check_against_separate_kernels<double>(uneven_rows(n, 200), in_rows("cg", "jacobi"));
    check_against_separate_kernels<double>(uneven_rows(n, 200), in_rows("bicgstab", "none"));
  }
}

TEST_CASE("A CSR matrix that streams past vectors on the chip gives the same iterates",
          "[solver][resident][rows][device]") {
  // More bytes than all multiprocessors keep, in rows of six and seven nodes of six unknowns.
  const Context<device> ctx;
  const double kept = 227e3 * ctx.multiprocessors(), of_node = 6 * 6 * 6.7 * 12;
  const auto k = static_cast<Index>(std::ceil(std::cbrt(1.05 * kept / of_node)));
  const Rows a = blocks_on_a_grid(k, 6);
  CAPTURE(k);
  check_against_separate_kernels<double>(a, in_rows("cg", "jacobi"));
  check_against_separate_kernels<double>(a, in_rows("bicgstab", "none"));
}

TEST_CASE("An indefinite matrix is named in a solve by rows as by separate kernels",
          "[solver][resident][rows][device]") {
  Rows indefinite = laplacian(20);
  indefinite.at(33, 33) = -50;
  const auto b = indefinite.rhs_for(noise(indefinite.size()));
  System<double> one(indefinite, in_rows("cg", "none")), many(indefinite, in_rows("cg", "none", false));
  const SolveReport found = one.solve(b), expected = many.solve(b);
  CHECK(found.status == Status::not_positive_definite);
  CHECK(found.reason == expected.reason);
  CHECK(found.iterations == expected.iterations);
}

TEST_CASE("Rows that are cut stay with separate kernels", "[solver][resident][rows][device]") {
  Rows cut = uneven_rows(6000, 2);
  for (Index j = 1; j < 6000; ++j) cut.at(0, j) = cut.at(j, 0) = -1e-4;
  check_not_resident(cut, in_rows("cg", "jacobi"));
}

TEST_CASE("A solve that begins by rows moves to EHYB as one in EHYB goes on",
          "[solver][resident][rows][auto][device]") {
  for (const char* solver : {"cg", "bicgstab"}) {
    CAPTURE(solver);
    const Rows a = std::string(solver) == "cg" ? laplacian(200) : laplacian(120, 0.2);
    SystemOptions automatic = options_of("auto", "jacobi", true, solver);
    System<double> moving(a, automatic), by_rows(a, in_rows(solver, "jacobi"));
    const auto b = a.rhs_for(noise(a.size()));
    const SolveReport found = moving.solve(b), expected = by_rows.solve(b);
    REQUIRE(found.converged());
    REQUIRE(expected.converged());
    CAPTURE(found.iterations, expected.iterations);
    CHECK(std::abs(found.iterations - expected.iterations) <=
          2 + (std::string(solver) == "cg" ? 0.02 : 0.15) * expected.iterations);
    CHECK(true_residual<double>(a, b, moving.solution()) <= 1e-8 * norm(b) * (1 + 1e-6));
  }
}

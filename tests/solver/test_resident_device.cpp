// SPDX-License-Identifier: Apache-2.0
// What solves in one kernel have in common, whatever the method, the preconditioner and the format: what they see of
// new values, polls, limits and guesses, and what is left to separate kernels.
#include "tests/solver/resident_support.hpp"

namespace {

SystemOptions cg(const std::string& format, const std::string& precond) { return options_of(format, precond, true); }
SystemOptions bicgstab(const std::string& format, const std::string& precond) {
  return options_of(format, precond, true, "bicgstab");
}

}  // namespace

TEST_CASE("A solve in one kernel sees refreshed values, and allocates nothing", "[solver][cg][resident][device]") {
  for (const char* format : {"ehyb", "csr"}) {
    CAPTURE(format);
    check_refresh(blocks_on_a_grid(9, 3), cg(format, "jacobi"));
    check_refresh(windy_grid(7, 3), bicgstab(format, "jacobi"));
  }
  check_refresh(blocks_on_a_grid(9, 1), cg("ehyb", "fsai"));
  for (const int block : {1, 3}) check_refresh(windy_grid(6, block), bicgstab("ehyb", "spai"));
}

TEST_CASE("A solve in one kernel has the same history, however often it is polled", "[solver][resident][device]") {
  for (const char* format : {"ehyb", "csr"}) {
    CAPTURE(format);
    const int iterations = check_polls(laplacian(70), cg(format, "none")).iterations;
    CHECK(iterations > 2 * 64);
    CHECK(iterations < 256);
    CHECK(check_polls(laplacian(40, 0.4), bicgstab(format, "none")).iterations > 20);
  }
  CHECK(check_polls(blocks_on_a_grid(9, 1), cg("ehyb", "fsai")).iterations > 6);
  CHECK(check_polls(laplacian(30, 0.4), bicgstab("ehyb", "spai")).iterations > 12);
}

TEST_CASE("A solve in one kernel ends where it is asked to", "[solver][resident][device]") {
  for (const char* format : {"ehyb", "csr"}) {
    CAPTURE(format);
    for (const SolveReport& report : check_limits(laplacian(70), cg(format, "jacobi"), {0, 1, 5, 33, 64, 65})) {
      const double rounding = std::numeric_limits<double>::epsilon() * report.rhs_norm;
      CHECK(report.true_residual == Approx(report.history.back()).epsilon(1e-6).margin(100 * rounding));
    }
    for (const SolveReport& report : check_limits(laplacian(50, 0.3), bicgstab(format, "jacobi"), {0, 1, 5})) {
      CHECK(report.true_residual <= report.rhs_norm * (1 + 1e-12));
    }
    check_stop(laplacian(70), cg(format, "jacobi"), 4, 12);
    check_stop(laplacian(50, 0.3), bicgstab(format, "jacobi"), 4, 12);
    check_stop(laplacian(60), cg(format, "none"), 0, 32);  // without having named an interval
  }
  check_limits(blocks_on_a_grid(9, 1), cg("ehyb", "fsai"), {5});
  check_limits(laplacian(30, 0.4), bicgstab("ehyb", "spai"), {0, 1, 7});
  check_stop(laplacian(30, 0.4), bicgstab("ehyb", "spai"), 3, 6);
}

TEST_CASE("A solve in one kernel takes guesses, zeros, NaN and tiny numbers for what they are",
          "[solver][cg][resident][device]") {
  const Rows windy = laplacian(12, 0.2);
  const std::vector<double> ones(static_cast<std::size_t>(windy.size()), 1.0);
  for (const char* format : {"ehyb", "csr"}) {
    CAPTURE(format);
    check_guesses(laplacian(30, 0, 0.2), cg(format, "jacobi"));
    check_guesses(laplacian(24, 0.3, 0.2), bicgstab(format, "jacobi"));
    check_not_finite(laplacian(20), cg(format, "none"));
    check_not_finite(windy, bicgstab(format, "none"));
    check_tiny(laplacian(20), cg(format, "none"), laplacian(20).rhs_for(noise(400)));
    check_tiny(windy, bicgstab(format, "none"), ones);
  }
  check_guesses(laplacian(24, 0.3, 0.2), bicgstab("ehyb", "spai"));
  check_not_finite(windy, bicgstab("ehyb", "spai"));
  check_tiny(windy, bicgstab("ehyb", "spai"), ones);
}

TEST_CASE("A tolerance below what rounding allows ends BiCGStab in one kernel in the truth",
          "[solver][resident][device]") {
  check_ends_in_truth(laplacian(24, 0.3), bicgstab("ehyb", "jacobi"), 400);
  check_ends_in_truth(laplacian(24, 0.3), bicgstab("csr", "jacobi"), 400);
  check_ends_in_truth(laplacian(16, 0.3), bicgstab("ehyb", "spai"), 300);
}

TEST_CASE("What does not fit one kernel is solved by separate kernels", "[solver][resident][device]") {
  for (const SystemOptions& with :
       {cg("ehyb:paper", "jacobi"), cg("csr", "fsai"), cg("ellwarp", "none"), cg("csr:alg1", "jacobi")}) {
    CAPTURE(with.spmv.format, with.precond.name);
    check_not_resident(blocks_on_a_grid(8, 1), with);
  }
  check_not_resident(windy_grid(6, 1), bicgstab("ehyb:paper", "jacobi"));
  check_not_resident(windy_grid(6, 1), bicgstab("csr", "spai"));
}

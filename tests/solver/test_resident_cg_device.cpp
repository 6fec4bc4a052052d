// SPDX-License-Identifier: Apache-2.0
// CG in one kernel: the same iterates as by separate ones, whatever ends a solve, and again after a refresh.
#include <thread>

#include "tests/solver/resident_support.hpp"

namespace {

template <class T>
void check_against_separate_kernels(const Rows& a, const std::string& precond, Index parts = 0) {
  SystemOptions with = options_of("ehyb", precond, true);
  with.spmv.parts = parts;
  testing::check_against_separate_kernels<T>(a, with);
}

}  // namespace

TEST_CASE("CG in one kernel takes the steps of CG in many", "[solver][cg][resident][device]") {
  for (const int block : {1, 2, 3, 6}) {
    for (const Index k : {2, 7, 16}) {
      const Rows a = blocks_on_a_grid(k, block);
      for (const char* precond : {"none", "jacobi"}) {
        CAPTURE(block, k, precond);
        check_against_separate_kernels<double>(a, precond);
        check_against_separate_kernels<float>(a, precond);
      }
    }
  }
}

TEST_CASE("CG with FSAI in one kernel takes the steps of CG in many", "[solver][cg][resident][fsai][device]") {
  for (const int block : {1, 2, 3, 6}) {
    for (const Index k : {2, 9}) {
      const Rows a = blocks_on_a_grid(k, block);
      CAPTURE(block, k);
      check_against_separate_kernels<double>(a, "fsai");
      check_against_separate_kernels<float>(a, "fsai");
    }
  }
}

TEST_CASE("CG with FSAI streams three matrices past its vectors", "[solver][cg][resident][fsai][device]") {
  check_against_separate_kernels<double>(blocks_on_a_grid(16, 1), "fsai", 2);
  check_against_separate_kernels<double>(blocks_on_a_grid(10, 3), "fsai", 2);
  check_against_separate_kernels<float>(blocks_on_a_grid(12, 3), "fsai", 2);
}

TEST_CASE("Systems of one row to a few hundred are solved in one kernel", "[solver][cg][resident][device]") {
  for (const Index k : {1, 2, 5, 6, 12, 20}) {
    CAPTURE(k);
    check_against_separate_kernels<double>(laplacian(k, 0, 0.3), "jacobi");
  }
}

TEST_CASE("A matrix that streams past vectors on the chip gives the same iterates",
          "[solver][cg][resident][device]") {
  // Two parts whose vectors fit into 227 KB, beside which their matrix does not.
  check_against_separate_kernels<double>(blocks_on_a_grid(17, 1), "jacobi", 2);
  check_against_separate_kernels<double>(blocks_on_a_grid(17, 1), "none", 2);
  check_against_separate_kernels<double>(blocks_on_a_grid(13, 2), "jacobi", 2);
  check_against_separate_kernels<double>(blocks_on_a_grid(11, 3), "jacobi", 2);
  check_against_separate_kernels<double>(blocks_on_a_grid(11, 3), "none", 2);
  check_against_separate_kernels<double>(blocks_on_a_grid(8, 6), "jacobi", 2);
  check_against_separate_kernels<float>(blocks_on_a_grid(13, 3), "jacobi", 2);
}

TEST_CASE("Parts that read nothing of each other are solved side by side", "[solver][cg][resident][device]") {
  const Rows one = laplacian(9, 0, 0.1);
  Rows a(6 * one.size());
  for (Index copy = 0; copy < 6; ++copy) {
    for (Index i = 0; i < one.size(); ++i) {
      for (const auto& [j, value] : one.row[static_cast<std::size_t>(i)]) {
        a.at(copy * one.size() + i, copy * one.size() + j) = (1 + copy) * value;
      }
    }
  }
  check_against_separate_kernels<double>(a, "jacobi", 6);
}

TEST_CASE("A resident solve of several launches goes on as if it were one", "[solver][cg][resident][device]") {
  const Rows a = laplacian(160);  // some 400 iterations: two launches
  System<double> one(a, options_of("ehyb", "none", true)), many(a, options_of("ehyb", "none", false));
  const auto b = a.rhs_for(noise(a.size()));
  const SolveReport expected = many.solve(b), found = one.solve(b);
  REQUIRE(found.resident);
  REQUIRE(found.iterations > 256);
  CHECK(std::abs(found.iterations - expected.iterations) <= 2);
  REQUIRE(found.history.size() == static_cast<std::size_t>(found.iterations) + 1);
  for (const int k : {1, 100, 255, 256, 257, 300}) {
    CHECK(found.history[static_cast<std::size_t>(k)] ==
          Approx(expected.history[static_cast<std::size_t>(k)]).epsilon(1e-3));
  }
  for (const int most : {255, 256, 257}) {
    CAPTURE(most);
    StopCriterion stop;
    stop.max_iterations = most;
    one.system.set_stop_criterion(stop);
    const SolveReport report = one.solve(b);
    CHECK(report.resident);
    CHECK(report.status == Status::max_iterations);
    CHECK(report.iterations == most);
    CHECK(std::equal(report.history.begin(), report.history.end(), found.history.begin()));
    CHECK(report.true_residual == Approx(true_residual<double>(a, b, one.solution())).epsilon(1e-9));
  }
}

TEST_CASE("An indefinite matrix ends a resident solve where it ends separate kernels",
          "[solver][cg][resident][device]") {
  Rows at_once = laplacian(20);
  at_once.at(33, 33) = -50;
  for (const Rows& a : {at_once, laplacian(20, 0, -0.05), laplacian(30, 0, -0.1), laplacian(30, 0, -0.3)}) {
    const auto b = a.rhs_for(noise(a.size()));
    System<double> one(a, options_of("ehyb", "none", true)), many(a, options_of("ehyb", "none", false));
    const SolveReport found = one.solve(b), expected = many.solve(b);
    CAPTURE(expected.iterations);
    CHECK(found.status == Status::not_positive_definite);
    CHECK(found.reason == expected.reason);
    CHECK(found.iterations == expected.iterations);
    CHECK(found.resident == (found.iterations > 0));
    CHECK(found.true_residual == Approx(expected.true_residual).epsilon(1e-3));
    CHECK(found.true_residual == Approx(true_residual<double>(a, b, one.solution())).epsilon(1e-9));
    // Whoever asks for the end gets it, also where that look finds a breakdown.
    const SolveReport stopped =
        one.solve(b, {}, [&](const Progress& now) { return now.iteration < expected.iterations; });
    CHECK(stopped.status == Status::stopped_by_caller);
    CHECK(stopped.iterations == expected.iterations);
  }
}

TEST_CASE("A tolerance below what rounding allows ends in the truth", "[solver][cg][resident][device]") {
  const Rows a = laplacian(40);
  System<double> system(a, options_of("ehyb", "jacobi", true));
  StopCriterion stop = stop_at(1e-17);
  system.system.set_stop_criterion(stop);
  const auto b = a.rhs_for(noise(a.size()));
  const SolveReport report = system.solve(b);
  CHECK(report.status == Status::stagnation);
  CHECK(report.residual_replacements > 0);
  CHECK(!report.resident);  // the usual loop has replaced the residual
  const double rounding = std::numeric_limits<double>::epsilon() * norm(b);
  CHECK(report.true_residual == Approx(system.residual(a, b)).epsilon(0.1).margin(100 * rounding));
  CHECK(report.true_residual <= 1e-12 * norm(b));
}

TEST_ON_DEVICE("A solver that is given another matrix of the same size solves that",
               "[solver][cg][resident][device]") {
  const std::vector<Rows> matrices = {laplacian(24), laplacian(24, 0, 5.0)};
  SolverOptions options;
  options.name = "cg";
  const auto cg = make_solver<double, device>(ctx, 576, options);
  for (int round = 0; round < 3; ++round) {
    for (int which = 0; which < 2; ++which) {
      const Rows& a = matrices[static_cast<std::size_t>(which)];
      const Arrays<double, device> arrays(ctx, a);
      SpmvOptions format;
      format.format = which == 0 ? "ehyb:halo" : "ehyb";
      format.parts = 3 + round;
      const auto A = make_spmv(ctx, arrays.view(), RowOrder<device>{}, format);
      const auto b = a.rhs_for(noise(a.size()));
      const auto run = run_solver<double, device>(ctx, *cg, *A, nullptr, b, {});
      CAPTURE(round, which);
      CHECK(run.report.resident);
      CHECK(run.report.converged());
      CHECK(true_residual<double>(a, b, run.x) <= 1e-8 * norm(b) * (1 + 1e-6));
    }
  }
}

TEST_CASE("Threads solve resident systems on one device, at the same time where they are small",
          "[solver][cg][resident][device]") {
  const Rows a = blocks_on_a_grid(12, 3);
  const auto b = a.rhs_for(noise(a.size()));
  for (const Index parts : {0, 3}) {
    CAPTURE(parts);
    std::vector<std::vector<SolveReport>> reports(3);
    std::vector<std::string> failures(reports.size());
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < reports.size(); ++t) {
      threads.emplace_back([&, t] {
        try {
          SystemOptions options = options_of("ehyb", "jacobi", t < 2);  // the third one by separate kernels
          options.spmv.parts = parts;
          System<double> system(a, options);
          for (int k = 0; k < 20; ++k) reports[t].push_back(system.solve(b));
        } catch (const std::exception& e) {
          failures[t] = e.what();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    for (std::size_t t = 0; t < reports.size(); ++t) {
      CHECK(failures[t] == "");
      for (const SolveReport& report : reports[t]) {
        CHECK(report.resident == (t < 2));
        CHECK(report.converged());
        CHECK(report.history == reports[t == 2 ? 2 : 0][0].history);
      }
    }
  }
}

TEST_CASE("One solver serves two contexts in turn", "[solver][cg][resident][device]") {
  const Rows a = blocks_on_a_grid(7, 3);
  const auto b = a.rhs_for(noise(a.size()));
  const Context<device> first, second;
  SolverOptions options;
  options.name = "cg";
  const auto cg = make_solver<double, device>(first, a.size(), options);
  SpmvOptions format;
  format.format = "ehyb";
  for (const Context<device>* ctx : {&first, &second, &first}) {
    const Arrays<double, device> arrays(*ctx, a);
    const auto A = make_spmv(*ctx, arrays.view(), RowOrder<device>{}, format);
    const auto run = run_solver<double, device>(*ctx, *cg, *A, nullptr, b, {});
    CHECK(run.report.resident);
    CHECK(true_residual<double>(a, b, run.x) <= 1e-8 * norm(b) * (1 + 1e-6));
  }
}

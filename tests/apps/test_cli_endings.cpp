// SPDX-License-Identifier: Apache-2.0
// How `newel solve` ends on systems of public reports: exit status, reason, advice and the x that is written.
#include "tests/apps/cli_report.hpp"

namespace {

const Words on_one_thread = {"--threads", "1", "--device", "host"};

// The graph in which each of n nodes is connected to all others: singular, constants are the null space.
System complete_graph(int n) {
  System s;
  s.n = n;
  for (int i = 1; i <= n; ++i) {
    for (int j = 1; j <= n; ++j) s.entries.push_back({i, j, i == j ? n - 1.0 : -1.0});
  }
  return s;
}

// Bilinear elements on 17 x 17 nodes, with values prescribed on the boundary by a penalty of 1e20.
struct PenaltyPlate {
  System s;
  std::vector<double> b;

  PenaltyPlate() {
    constexpr int k = 17;
    const auto on_boundary = [](int i) { return i % k == 0 || i % k == k - 1 || i / k == 0 || i / k == k - 1; };
    s.n = k * k;
    for (int i = 0; i < s.n; ++i) {
      b.push_back(on_boundary(i) ? 1e20 * std::sin(3.0 * i) : 1.0 / 256);
      for (int down = -1; down <= 1; ++down) {
        for (int right = -1; right <= 1; ++right) {
          const int p = i / k + down, q = i % k + right;
          if (p < 0 || q < 0 || p >= k || q >= k) continue;
          const int j = p * k + q;
          const bool along = on_boundary(i) && on_boundary(j) && (down == 0 || right == 0);
          s.entries.push_back({i + 1, j + 1,
                               i != j           ? (along ? -1.0 / 6 : -1.0 / 3)
                               : on_boundary(i) ? 1e20
                                                : 8.0 / 3});
        }
      }
    }
  }
};

}  // namespace

TEST_CASE("A graph with an unbalanced load is not solved, and the advice names the null space", "[cli][endings]") {
  const auto r = solved(complete_graph(4), {1, 0, 0, 0}, on_one_thread);
  CHECK(r.outcome.status == 1);
  CHECK(r.report["converged"] == false);
  CHECK(r.report["true_relative_residual"].get<double>() >= 0.5 * (1 - 1e-9));
  CHECK(contains(r.report["advice"].get<std::string>(), "--null-space constant"));
}

TEST_CASE("A structurally singular system ends when its factors show that, and more iterations are not advised",
          "[cli][endings]") {
  System s;
  s.n = 5;
  s.entries = {{1, 1, 4}, {2, 2, 4}, {3, 3, 8}, {4, 3, -3}, {3, 4, -3}, {5, 3, -4}, {3, 5, -4}};
  const auto r = solved(s, {0, 0, 0, -7, -11}, on_one_thread);
  INFO(r.report["reason"] << r.report["advice"]);
  CHECK(r.outcome.status == 1);
  CHECK(r.report["status"] == "breakdown");
  CHECK(contains(r.report["reason"].get<std::string>(), "of |b| or more remains for every x"));
  CHECK(r.report["iterations"].get<int>() <= 100);
  CHECK(r.report["true_relative_residual"].get<double>() == Approx(0.076696).epsilon(1e-4));
  CHECK_FALSE(contains(r.report["advice"].get<std::string>(), "--max-iterations"));
}

TEST_CASE("Rows that a penalty hides are solved; without scaling they are warned of, and a smaller tolerance helps",
          "[cli][endings]") {
  const PenaltyPlate plate;
  const auto inside = [](const std::vector<double>& x) {
    double sum = 0;
    for (int i = 1; i < 16; ++i) {
      for (int j = 1; j < 16; ++j) sum += std::pow(x[static_cast<std::size_t>(17 * i + j)], 2);
    }
    return std::sqrt(sum);
  };
  for (const char* use : {"auto", "on"}) {
    const auto scaled = solved(plate.s, plate.b, joined(on_one_thread, {"--scale", use}));
    INFO(scaled.outcome.out << scaled.outcome.err);
    CHECK(inside(scaled.x) == Approx(2.2346).epsilon(1e-3));
    CHECK_FALSE(contains(scaled.outcome.out + scaled.outcome.err, "warning"));
    CHECK(scaled.report["scaling"]["scaled"] == true);
    CHECK(scaled.report["scaled_relative_residual"].get<double>() <= 1e-8);
    CHECK(scaled.report["scale"] == use);
  }
  const std::vector<std::string> off = joined(on_one_thread, {"--scale", "off"});
  const auto coarse = solved(plate.s, plate.b, off);
  CHECK(contains(coarse.outcome.out + coarse.outcome.err, "warning"));
  CHECK(coarse.report["scaling"]["scaled"] == false);
  const auto fine = solved(plate.s, plate.b, joined(off, {"--rtol", "1e-25"}));
  CHECK(inside(fine.x) == Approx(2.2346).epsilon(1e-3));
  CHECK_FALSE(contains(fine.outcome.out + fine.outcome.err, "warning"));
}

TEST_CASE("What is written as converged is finite, with a column without entries and GMRES from the left",
          "[cli][endings]") {
  System s;
  s.n = 22;
  s.entries = {
      {1, 9, -2},   {1, 10, -1},  {1, 14, 2},    {1, 16, -2},  {1, 21, -1},  {1, 22, 5},   {2, 2, -1},   {2, 7, -6},
      {2, 9, 5},    {2, 13, 1},   {2, 15, -3},   {2, 17, -5},  {2, 20, 1},   {3, 1, -1},   {3, 10, 5},   {3, 14, -1},
      {3, 15, 5},   {3, 16, -2},  {3, 18, -3},   {3, 19, -8},  {3, 21, -1},  {4, 8, -1},   {4, 16, -2},  {5, 8, -1},
      {5, 12, -1},  {6, 7, -1},   {6, 10, 2},    {6, 12, -3},  {6, 17, 8},   {6, 18, -2},  {6, 21, -1},  {7, 3, 5},
      {7, 5, 2},    {7, 6, 3},    {7, 9, 2},     {7, 16, -7},  {7, 20, 6},   {8, 4, -3},   {8, 10, 6},   {8, 13, 1},
      {8, 21, 3},   {8, 22, 4},   {9, 1, -7},    {9, 15, 1},   {9, 17, 1},   {9, 20, 5},   {9, 21, -5},  {9, 22, -6},
      {10, 4, 6},   {10, 5, 5},   {10, 7, -12},  {10, 8, 2},   {10, 14, -2}, {10, 17, 1},  {10, 18, 2},  {11, 9, 9},
      {11, 14, -4}, {11, 16, 3},  {11, 18, 4},   {11, 20, -2}, {12, 6, -2},  {12, 7, 2},   {12, 20, 4},  {13, 12, 8},
      {13, 21, -4}, {14, 1, -1},  {14, 5, -3},   {14, 22, -4}, {15, 1, 3},   {15, 3, -4},  {15, 6, -7},  {15, 9, 2},
      {15, 10, -5}, {15, 17, 2},  {16, 12, 3},   {16, 19, -4}, {17, 7, 7},   {17, 12, -1}, {17, 13, -2}, {17, 14, -6},
      {17, 16, -4}, {18, 8, 5},   {18, 9, -1},   {18, 10, -1}, {18, 13, -1}, {18, 16, 5},  {18, 18, 4},  {19, 3, -5},
      {19, 7, 2},   {19, 16, 1},  {19, 18, -13}, {19, 20, -5}, {20, 7, -1},  {20, 9, -2},  {20, 10, -5}, {20, 13, 8},
      {20, 18, 2},  {20, 19, 2},  {21, 8, -4},   {21, 13, -1}, {21, 21, -7}, {22, 9, -2},  {22, 10, -1}, {22, 14, 2},
      {22, 16, -2}, {22, 21, -1}, {22, 22, 5}};
  const std::vector<double> b = {9,  49, -6,  -3, -3, -61, -3, -5,   0,   72, 30,
                                 -2, 12, -14, -8, 24, -2,  59, -144, -15, 12, 9};
  for (const std::string more : {"--left", "--quiet"}) {
    const auto r = solved(s, b, joined(on_one_thread, {more, "--rtol", "1e-5", "--max-iterations", "3000"}));
    INFO(more << ": " << r.report["status"] << ", " << r.report["reason"]);
    CHECK((r.outcome.status == 1 || all_finite(r.x)));
    if (all_finite(r.x)) {
      CHECK(r.report["true_relative_residual"].get<double>() ==
            Approx(residual(s, r.x, b)).epsilon(1e-3).margin(1e-12));
      if (r.outcome.status == 0) CHECK(residual(s, r.x, b) <= 1e-5 * (1 + 1e-9));
    }
  }
}

TEST_IN_FOLDER("No advice names more than one option of a kind", "[cli][advice]") {
  for (const std::string solver : {"auto", "cg", "bicgstab", "gmres"}) {
    for (const std::string precond : {"auto", "none", "jacobi", "spai"}) {
      const Outcome outcome = run_newel({"solve", "generate:convection:6:1000", "--solver", solver, "--precond",
                                         precond, "--rtol", "1e-16", "--max-iterations", "400", "--restart", "5",
                                         "--device", "host", "--report", folder.file("r.json")});
      const std::string advice = report_in(folder)["advice"].get<std::string>();
      CAPTURE(solver, precond, advice);
      CHECK(advice.find("--precond ") == advice.rfind("--precond "));
      CHECK(advice.find("--solver ") == advice.rfind("--solver "));
      CHECK_FALSE(contains(advice, ", or --"));
      CHECK((outcome.status == 0) == advice.empty());
      if (solver != "auto") CHECK_FALSE(contains(advice, "--solver " + solver + ' '));
      if (precond != "auto") CHECK_FALSE(contains(advice, "--precond " + precond + ':'));
    }
  }
}

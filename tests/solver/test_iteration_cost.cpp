// SPDX-License-Identifier: Apache-2.0
// What an iteration is estimated to cost, against measured iterations.
#include "tests/spmv/spmv_support.hpp"

#include <newel/solver/registry.hpp>
#include "solver/cost/iteration_cost.hpp"

namespace {

struct Measured {
  const char* system;
  Index rows;
  Offset entries;
  int block;
  const char* solver;
  const char* format;
  bool resident;
  double microseconds;
};

// docs/results/iterations_h200.json, and of the largest systems solve_h200.json: double precision, Jacobi. "csr:alg1"
// as these reports had it until 2026-11-26.
const Measured measured[] = {
    {"cube_big_tetra, diffusion", 36878, 481240, 1, "cg", "ehyb", true, 5.2},
    {"cube_big_tetra, diffusion", 36878, 481240, 1, "cg", "ellwarp", false, 17.9},
    {"cube_big_tetra, diffusion", 36878, 481240, 1, "cg", "csr", true, 7.5},
    {"cube_big_tetra, diffusion", 36878, 481240, 1, "bicgstab", "ehyb", true, 10.2},
    {"cube_big_tetra, diffusion", 36878, 481240, 1, "bicgstab", "csr", true, 15.3},
    {"cube_big_tetra, diffusion", 36878, 481240, 1, "gmres", "csr", false, 30.7},
    {"cube_big_tetra, diffusion", 36878, 481240, 1, "gmres", "ehyb", false, 29.0},
    {"part_wheelset, elasticity, refined", 108495, 4174767, 3, "cg", "csr", true, 33.5},
    {"part_wheelset, elasticity, refined", 108495, 4174767, 3, "cg", "ehyb", true, 13.2},
    {"part_wheelset, elasticity, refined", 108495, 4174767, 3, "bicgstab", "ehyb", true, 27.4},
    {"part_wheelset, elasticity, refined", 108495, 4174767, 3, "gmres", "csr", false, 51.2},
    {"part_wheelset, diffusion, refined twice", 261073, 3546181, 1, "cg", "csr", true, 24.3},
    {"part_wheelset, diffusion, refined twice", 261073, 3546181, 1, "cg", "ehyb", true, 13.4},
    {"part_wheelset, diffusion, refined twice", 261073, 3546181, 1, "bicgstab", "ehyb", true, 26.4},
    {"part_indheat, elasticity", 14847, 650907, 3, "cg", "csr", true, 6.3},
    {"part_indheat, elasticity", 14847, 650907, 3, "cg", "ehyb", true, 5.0},
    {"part_winkel, diffusion, refined", 51611, 678329, 1, "cg", "csr", true, 7.8},
    {"part_winkel, diffusion, refined", 51611, 678329, 1, "cg", "ehyb", true, 5.2},
    {"generate:diffusion:24", 13824, 186138, 1, "cg", "csr", true, 5.5},
    {"generate:diffusion:24", 13824, 186138, 1, "cg", "ehyb", true, 4.1},
    {"generate:diffusion:24", 13824, 186138, 1, "bicgstab", "csr", true, 11.6},
    {"generate:diffusion:50", 125000, 1781394, 1, "cg", "csr", true, 9.7},
    {"generate:diffusion:50", 125000, 1781394, 1, "cg", "ehyb", true, 7.9},
    {"generate:convection:50:50", 125000, 1781394, 1, "bicgstab", "csr", true, 20.5},
    {"generate:convection:50:50", 125000, 1781394, 1, "bicgstab", "ehyb", true, 16.1},
    {"generate:grid7:60", 216000, 1490400, 1, "cg", "csr", true, 11.5},
    {"generate:elasticity:30", 81000, 3344706, 3, "cg", "csr", true, 21.9},
    {"generate:elasticity:30", 81000, 3344706, 3, "cg", "ehyb", true, 9.8},
    {"generate:diffusion:68", 314432, 4542666, 1, "cg", "csr", true, 24.7},
    {"generate:diffusion:68", 314432, 4542666, 1, "cg", "ehyb", true, 16.7},
    {"generate:diffusion:68", 314432, 4542666, 1, "bicgstab", "ehyb", false, 73.0},
    {"generate:diffusion:68", 314432, 4542666, 1, "gmres", "csr", false, 69.8},
    {"generate:elasticity:68", 943296, 40883994, 3, "cg", "csr", false, 173.5},
    {"generate:elasticity:68", 943296, 40883994, 3, "cg", "ehyb", false, 109.6},
    {"generate:elasticity:68", 943296, 40883994, 3, "bicgstab", "ehyb", false, 242.2},
    {"generate:elasticity:68", 943296, 40883994, 3, "gmres", "ehyb", false, 184.7},
    {"generate:grid7:180", 5832000, 40629600, 1, "cg", "csr", false, 282.6},
    {"generate:grid7:180", 5832000, 40629600, 1, "cg", "ehyb", false, 262.2},
    {"cube_big_tetra, diffusion", 36878, 481240, 1, "cg", "csr:alg1", false, 19.81},
    {"cube_big_tetra, diffusion", 36878, 481240, 1, "bicgstab", "csr:alg1", false, 41.48},
    {"cube_big_tetra, diffusion", 36878, 481240, 1, "gmres", "csr:alg1", false, 32.82},
    {"part_wheelset, elasticity, refined", 108495, 4174767, 3, "cg", "csr:alg1", false, 36.17},
    {"part_wheelset, elasticity, refined", 108495, 4174767, 3, "gmres", "csr:alg1", false, 54.81},
    {"part_wheelset, diffusion, refined twice", 261073, 3546181, 1, "cg", "csr:alg1", false, 38.97},
    {"part_indheat, elasticity", 14847, 650907, 3, "cg", "csr:alg1", false, 19.01},
    {"generate:diffusion:68", 314432, 4542666, 1, "cg", "csr:alg1", false, 44.32},
    {"generate:elasticity:68", 943296, 40883994, 3, "cg", "csr:alg1", false, 203.7},
    {"generate:grid7:180", 5832000, 40629600, 1, "cg", "csr:alg1", false, 369.1},
};

IterationEstimate estimated(const Measured& m, bool may_be_resident = true, double start_ratio = 1) {
  PatternFacts facts;
  facts.rows = facts.cols = m.rows;
  facts.nonzeros = m.entries;
  facts.block = m.block;
  const auto length = static_cast<Index>(m.entries / m.rows);
  facts.lengths = {{length, m.rows}};
  facts.longest_row = length;
  const SpmvOptions options;
  Machine machine = large_gpu();
  machine.start_ratio = start_ratio;
  const SpmvFormat& format = find_spmv_format(m.format);
  const std::string name = m.format, variant = name.find(':') == name.npos ? "" : name.substr(name.find(':') + 1);
  const SolverOptions solver;
  detail::AppliedPrecond jacobi;
  jacobi.diagonal = true;
  const detail::IterationCost cost{find_solver(m.solver), solver, jacobi, machine, sizeof(double), may_be_resident};
  return cost.estimate(facts, format.cost_estimate(facts, {variant, options, machine, sizeof(double)}));
}

}  // namespace

TEST_CASE("Iterations on a device are estimated to within a third, resident or not", "[iteration-cost]") {
  for (const Measured& m : measured) {
    INFO(m.system << ", " << m.solver << ", " << m.format << ": measured " << m.microseconds << " us");
    const IterationEstimate estimate = estimated(m);
    CHECK(estimate.resident == m.resident);
    CHECK(estimate.seconds < 1e-6 * m.microseconds * 1.34);
    CHECK(estimate.seconds > 1e-6 * m.microseconds / 1.34);
  }
}

TEST_CASE("Without the resident kernel an iteration is estimated as separate kernels", "[iteration-cost]") {
  const Measured& m = measured[0];
  CHECK_FALSE(estimated(m, false).resident);
  CHECK(estimated(m, false).seconds > 2 * estimated(m).seconds);
}

TEST_CASE("On a device whose kernels start later, iterations take longer by so much", "[iteration-cost]") {
  for (const Measured& m : measured) {
    const double once = estimated(m).seconds, twice = estimated(m, true, 2).seconds;
    INFO(m.system << ", " << m.format);
    CHECK(twice > once + 3e-6);
    CHECK(twice <= 2 * once);
    CHECK(estimated(m, true, 3).seconds - twice == Approx(twice - once));
  }
}

TEST_CASE("The cost of a preconditioner counts its matrices and their bytes", "[iteration-cost]") {
  PatternFacts facts;
  facts.rows = facts.cols = 1000;
  facts.nonzeros = 27000;
  const auto cost = [&](const char* name) {
    return detail::applied_precond(name, PrecondOptions(), facts, Machine(), sizeof(double));
  };
  CHECK(cost("none").bytes == 0);
  CHECK_FALSE(cost("none").diagonal);
  CHECK(cost("jacobi").diagonal);
  CHECK(cost("auto").diagonal);
  CHECK(cost("fsai").matrices == 2);
  CHECK(cost("spai").matrices == 1);
  CHECK(cost("fsai").bytes == 28000 * 12 + 4 * 1000 * 8);
  CHECK(cost("spai").bytes == 27000 * 12 + 2 * 1000 * 8);
}

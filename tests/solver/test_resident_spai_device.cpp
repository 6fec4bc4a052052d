// SPDX-License-Identifier: Apache-2.0
// BiCGStab with SPAI in one kernel: M is a matrix of A's parts, whose halo may be another than A's.
#include "tests/solver/resident_support.hpp"

#include <newel/precond/pattern_options.hpp>
#include <newel/precond/spai/spai_options.hpp>

namespace {

SystemOptions options(Index parts = 0) {
  SystemOptions options = options_of("ehyb", "spai", true, "bicgstab");
  options.spmv.parts = parts;
  return options;
}

// The windy grid without what points backwards along its first axis, and every second time along its last: what A
// reads of other parts is not what they read of it.
Rows one_way_grid(Index k) {
  Rows a = windy_grid(k, 1);
  for (Index i = 0; i < a.size(); ++i) {
    auto& row = a.row[static_cast<std::size_t>(i)];
    row.erase(i - 1);
    if (i % 2 == 0) row.erase(i - k * k);
  }
  return a;
}

}  // namespace

TEST_CASE("BiCGStab with SPAI in one kernel takes the steps of BiCGStab in many",
          "[solver][bicgstab][resident][spai][device]") {
  for (const auto& [block, most] : std::vector<std::pair<int, Index>>{{1, 9}, {2, 7}, {3, 6}, {6, 5}}) {
    for (const Index k : {Index{2}, most}) {
      CAPTURE(block, k);
      check_against_separate_kernels<double>(windy_grid(k, block), options());
      check_against_separate_kernels<float>(windy_grid(k, block), options());
      check_against_separate_kernels<double>(blocks_on_a_grid(k, block), options());
    }
  }
}

TEST_CASE("BiCGStab with SPAI streams two matrices past its vectors", "[solver][bicgstab][resident][spai][device]") {
  check_against_separate_kernels<double>(windy_grid(14, 1), options(2));
  check_against_separate_kernels<double>(windy_grid(10, 2), options(2));
  check_against_separate_kernels<double>(windy_grid(8, 3), options(2));
  check_against_separate_kernels<double>(windy_grid(5, 6), options(2));
  check_against_separate_kernels<float>(windy_grid(19, 1), options(2));
  check_against_separate_kernels<float>(windy_grid(10, 3), options(2));
}

TEST_CASE("An M that reads other rows than A is applied in one kernel too",
          "[solver][bicgstab][resident][spai][device]") {
  for (const Index parts : {0, 5}) {
    SystemOptions left = options(parts), square = options(parts), small = options(parts);
    left.precond.of<SpaiOptions>().side = PrecondSide::left;
    square.precond.of<SpaiOptions>().power = 2;
    small.precond.of<PatternOptions>().drop = 0.2;
    for (const SystemOptions& with : {options(parts), left, square, small}) {
      CAPTURE(parts, with.precond.of<SpaiOptions>().power, with.precond.of<PatternOptions>().drop,
              with.precond.of<SpaiOptions>().side == PrecondSide::left);
      check_against_separate_kernels<double>(one_way_grid(7), with);
      check_against_separate_kernels<double>(windy_grid(7, 1), with);
    }
  }
}

TEST_CASE("A symmetric M and an M that grew are one matrix as well", "[solver][bicgstab][resident][spai][device]") {
  SystemOptions symmetric = options(), grown = options();
  symmetric.precond.symmetric = true;
  grown.precond.of<SpaiOptions>().adaptive = 0.4;
  check_against_separate_kernels<double>(windy_grid(6, 3), symmetric);
  check_against_separate_kernels<double>(laplacian(20, 0.4), grown);
}

TEST_CASE("An M that is A's inverse ends a resident solve behind its first step",
          "[solver][bicgstab][resident][spai][device]") {
  Rows a(120);
  for (Index i = 0; i < a.size(); i += 2) {
    a.at(i, i) = 2 + i % 3;
    a.at(i, i + 1) = 1;
    a.at(i + 1, i) = -1;
    a.at(i + 1, i + 1) = 3;
  }
  System<double> system(a, options(3));
  const auto b = a.rhs_for(noise(a.size()));
  const SolveReport report = system.solve(b);
  CHECK(report.resident);
  CHECK(report.converged());
  CHECK(report.iterations == 1);
  CHECK(system.residual(a, b) <= 1e-12 * norm(b));
}

TEST_CASE("An M in another format, or without A's node blocks, is applied by separate kernels",
          "[solver][bicgstab][resident][spai][device]") {
  const Rows a = windy_grid(5, 3);
  SystemOptions csr = options(), paper = options(), scattered = options();
  csr.precond.format = "csr";
  paper.precond.format = "ehyb:paper";
  scattered.precond.format = "ehyb:halo";
  for (const SystemOptions& with : {csr, paper, scattered}) {
    CAPTURE(with.precond.format);
    check_not_resident(a, with);
  }
}

TEST_ON_DEVICE("An M of other parts than A is applied by separate kernels",
               "[solver][bicgstab][resident][spai][device]") {
  const Rows a = laplacian(24, 0.4);
  const Arrays<double, device> arrays(ctx, a);
  const auto b = a.rhs_for(noise(a.size()));
  SolverOptions method;
  method.name = "bicgstab";
  const auto solver = make_solver<double, device>(ctx, a.size(), method);
  SpmvOptions format;
  format.format = "ehyb:halo";
  PrecondOptions precond;
  precond.name = "spai";
  RowOrder<device> order;
  order.part_begin = {0, 144, 288, 432, 576};
  const auto A = make_spmv(ctx, arrays.view(), order, format);
  using Bounds = std::vector<Index>;
  const Bounds same = order.part_begin;
  for (const Bounds& parts : {Bounds{0, 288, 576}, same, Bounds{0, 144, 300, 432, 576}, Bounds{0, 576}, same}) {
    order.part_begin = parts;
    CAPTURE(parts);
    const auto M = make_precond(ctx, arrays.view(), order, precond, format);
    const auto run = run_solver<double, device>(ctx, *solver, *A, M.get(), b, {});
    CHECK(run.report.resident == (parts == same));
    CHECK(run.report.converged());
    CHECK(true_residual<double>(a, b, run.x) <= 1e-8 * norm(b) * (1 + 1e-6));
  }
}

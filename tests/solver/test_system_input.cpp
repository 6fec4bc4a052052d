// SPDX-License-Identifier: Apache-2.0
// A LinearSystem from every form of a matrix, none of them symmetric but the halves: solutions, refresh and errors.
#include "tests/catch.hpp"
#include "tests/core/input_cases.hpp"

#include <newel/solver/linear_system.hpp>

namespace {

// Entries in any order, some of them in parts, of a matrix that its diagonal dominates.
struct Cells {
  std::vector<Cell> cells;
  std::vector<double> val;
};

Cells dominant_cells(Index n, std::optional<Triangle> half) {
  Cells all{random_cells(n, n, 4 * n, 3, half), {}};
  Random random(4);
  for (std::size_t k = 0; k < all.cells.size(); ++k) {
    const bool diagonal = all.cells[k].first == all.cells[k].second;
    all.val.push_back(diagonal ? 1 : static_cast<double>(static_cast<float>(random.value())));
  }
  for (Index i = n - 1; i >= 0; --i) {
    all.cells.push_back({i, i});
    all.val.push_back(30 + i % 7);
  }
  return all;
}

template <class T, Space S>
std::vector<T> solve(const Context<S>& ctx, LinearSystem<T, S>& system, const std::vector<T>& b) {
  const auto there = upload(ctx, b);
  auto x = upload(ctx, std::vector<T>(b.size(), T(0)));
  const SolveReport report = system.solve(there.cspan(), x.span());
  CHECK(report.converged());
  return download(ctx, x);
}

SystemOptions exact_options(const std::string& solver) {
  SystemOptions options;
  options.solver.name = solver;
  options.spmv.format = "ehyb";
  options.precond.name = "jacobi";
  options.stop.rel_tol = 1e-12;
  return options;
}

// Solves with A, and after a refresh with what the new values mean; the second as a new system does, bit for bit.
template <Space S>
void check_system(const Context<S>& ctx, const InputCase<double, S>& c, const std::string& solver) {
  INFO(c.name);
  const std::vector<double> old_values = to_vector(ctx, c.input.values());
  std::vector<double> new_values = old_values;
  for (std::size_t k = 0; k < new_values.size(); ++k) new_values[k] *= k % 3 == 0 ? 1.25 : 1.5;
  LinearSystem<double, S> system(ctx, c.input, exact_options(solver));
  const auto b = random_vector<double>(c.rows);
  const HostCsr before = c.expected(old_values), after = c.expected(new_values);
  CHECK(residual_norm(before, solve(ctx, system, b), b) <= 1e-11 * norm_oracle(b));

  system.refresh(upload(ctx, new_values).cspan());
  const auto x = solve(ctx, system, b);
  CHECK(residual_norm(after, x, b) <= 1e-11 * norm_oracle(b));
  const auto there = make_matrix<double>(ctx, after);
  SystemOptions options = exact_options(solver);
  LinearSystem<double, S> rebuilt(ctx, there, options);
  CHECK(same_bits(solve(ctx, rebuilt, b), x));
  CHECK_THROWS_AS(system.in_place().matrix(), InputError);
}

}  // namespace

TEST_BOTH("A system solves with a matrix in any form, and a refresh equals a rebuild", "[system][input]") {
  const Index n = 80;
  const Cells a = dominant_cells(n, {});
  const auto check = [&](const InputCase<double, S>& c) { check_system(ctx, c, "bicgstab"); };
  check(coo_case<int, int>(ctx, n, n, a.cells, a.val));
  check(coo_case<std::size_t, long long>(ctx, n, n, a.cells, a.val, {1, true, {}}));
  check(compressed_case<int, int>(ctx, true, n, n, a.cells, a.val));
  check(compressed_case<unsigned, std::size_t>(ctx, true, n, n, a.cells, a.val, {1, false, {}}));
  check(compressed_case<int, int>(ctx, false, n, n, a.cells, a.val, {1, false, {}}));
  check(compressed_case<std::size_t, long long>(ctx, false, n, n, a.cells, a.val));
  check(compressed_case<long long, int>(ctx, false, n, n, a.cells, a.val, {0, true, {}}));
  std::vector<double> of_blocks;
  for (const double value : a.val) {
    // Dominant blocks on the diagonal, no symmetry in any of them.
    for (const double factor : {1.0, 0.25, -0.125, 1.5}) of_blocks.push_back(value * factor);
  }
  for (const BlockOrder order : {BlockOrder::by_rows, BlockOrder::by_columns}) {
    check(bsr_case<int, int>(ctx, n, n, 2, order, a.cells, of_blocks));
  }
}

TEST_BOTH("A system solves with half of a symmetric matrix", "[system][input]") {
  const Index n = 80;
  for (const Triangle half : {Triangle::lower, Triangle::upper}) {
    const Cells a = dominant_cells(n, half);
    check_system(ctx, coo_case<int, int>(ctx, n, n, a.cells, a.val, {0, false, half}), "cg");
    check_system(ctx, compressed_case<int, int>(ctx, false, n, n, a.cells, a.val, {1, false, half}), "cg");
    check_system(ctx, compressed_case<int, long>(ctx, true, n, n, a.cells, a.val, {0, true, half}), "cg");
  }
}

TEST_BOTH("Canonical CSR with wide or unsigned pointers keeps its slots", "[system][input]") {
  const HostCsr a = dominant_matrix(60);
  const auto there = make_matrix<double>(ctx, a);
  const auto row_ptr = upload(ctx, std::vector<std::size_t>(a.row_ptr.begin(), a.row_ptr.end()));
  LinearSystem<double, S> system(ctx, MatrixInput<double, S>::csr(60, 60, row_ptr, there.col, there.val),
                                 exact_options("gmres"));
  const auto b = random_vector<double>(60);
  CHECK(residual_norm(a, solve(ctx, system, b), b) <= 1e-11 * norm_oracle(b));
  CHECK(system.in_place().matrix().values.size >= a.nnz());
}

TEST_BOTH("A system refuses what cannot be solved with, and CSR out of order unless asked to sort",
          "[system][input]") {
  const auto refusal = [&](const MatrixInput<double, S>& input, bool canonicalise) {
    SystemOptions options;
    options.canonicalise = canonicalise;
    return message_of<InputError>([&] { LinearSystem<double, S>(ctx, input, options); });
  };
  const std::vector<Cell> cells = {{0, 1}, {0, 0}, {1, 1}};
  const std::vector<double> val = {1, 4, 3};
  CHECK(refusal(coo_case<int, int>(ctx, 2, 3, cells, val).input, false) ==
        "a linear system needs a square matrix, not 2 x 3");
  CHECK(contains(refusal(coo_case<int, int>(ctx, 3, 2, cells, val, {0, true, {}}).input, false), "not 2 x 3"));
  const auto unsorted = compressed_case<int, int>(ctx, false, 2, 2, cells, val);
  CHECK(contains(refusal(unsorted.input, false), "row 0 (0-based): column indices are not in ascending order"));
  CHECK(refusal(unsorted.input, true) == "");
  CHECK(refusal(coo_case<int, int>(ctx, 2, 2, cells, val).input, false) == "");
  CHECK(contains(refusal(coo_case<int, int>(ctx, 2, 2, {{0, 0}, {1, 2}}, std::vector<double>{1, 1}).input, false),
                 "entry 1 at row 1, column 2"));
  CHECK(contains(refusal(MatrixInput<double, S>::coo(-1, -1, {}, {}, {}), false), "cannot be -1 x -1"));
}

TEST_BOTH("A system of no unknowns comes in any form", "[system][input]") {
  LinearSystem<double, S> system(ctx, coo_case<int, int>(ctx, 0, 0, {}, std::vector<double>{}).input);
  CHECK(system.rows() == 0);
  CHECK(solve<double>(ctx, system, {}).empty());
}

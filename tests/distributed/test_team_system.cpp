// SPDX-License-Identifier: Apache-2.0
// One system on the ranks of a process, called from one thread: whole vectors, new values, endings.
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <newel/distributed/team_system.hpp>
#include <newel/precond/fsai/fsai_options.hpp>
#include <newel/precond/registry.hpp>

#include "core/ranks/host_share.hpp"
#include "tests/distributed/rank_support.hpp"
#if NEWEL_HAS_CUDA
#include "tests/distributed/device_rank_support.hpp"
#endif

using namespace newel;
using namespace newel::testing;

namespace {

// Threads of one processor, or one GPU that all ranks share.
template <Space S>
std::vector<Context<S>> contexts_like(const Context<S>& ctx, int size) {
  std::vector<Context<S>> contexts;
  for (int r = 0; r < size; ++r) {
    if constexpr (S == host) {
      contexts.emplace_back(1);
    } else {
      contexts.emplace_back(ctx.device());
    }
  }
  return contexts;
}

#if NEWEL_HAS_CUDA
std::vector<Context<device>> each_device(int devices) {
  std::vector<Context<device>> contexts;
  for (int d = 0; d < devices; ++d) contexts.emplace_back(d);
  return contexts;
}
#endif

struct Triplets {
  std::vector<Index> row, col;
  std::vector<double> val;
};

// The entries from the last to the first, each in two parts.
Triplets in_pieces(const HostCsr& a) {
  Triplets all;
  for (const double part : {0.25, 0.75}) {
    for (Index i = a.rows; i-- > 0;) {
      for (Offset k = a.row_ptr[i + 1]; k-- > a.row_ptr[i];) {
        all.row.push_back(i);
        all.col.push_back(a.col[k]);
        all.val.push_back(part * a.val[k]);
      }
    }
  }
  return all;
}

MatrixInput<double, host> input_of(const HostCsr& a, const Triplets& all) {
  return MatrixInput<double, host>::coo(a.rows, a.cols, Span<const Index, host>(all.row),
                                        Span<const Index, host>(all.col), Span<const double, host>(all.val));
}

MatrixInput<double, host> input_of(const HostCsr& a) {
  return CsrView<double, host>(a.rows, a.cols, Span<const Offset, host>(a.row_ptr), Span<const Index, host>(a.col),
                               Span<const double, host>(a.val));
}

// What the contexts solve, multiply and refresh, against the dense arithmetic of the tests.
template <Space S>
void check_team(const std::vector<Context<S>>& contexts) {
  const HostCsr a = fem_matrix("generate:elasticity:5");
  const Triplets pieces = in_pieces(a);
  const std::vector<double> b = rhs_of(a), x0 = random_vector<double>(a.rows, 9);
  for (const std::string precond : {"jacobi", "fsai"}) {
    INFO(contexts.size() << " ranks, " << precond);
    TeamSystem<double, S> team(contexts, input_of(a, pieces), choice_of("cg", precond));
    CHECK(team.rows() == a.rows);
    CHECK(team.first_rows().size() == contexts.size() + 1);
    CHECK(team.info().preconditioner.name == precond);
    std::vector<double> x(b.size(), std::nan("")), y(b.size(), std::nan(""));
    const SolveReport report = team.solve(b, x, {}, InitialGuess::zero);
    CHECK(report.converged());
    CHECK(residual_norm(a, x, b) <= 1.01e-8 * norm_oracle(b));
    CHECK(report.true_residual == Approx(residual_norm(a, x, b)).epsilon(1e-6));
    const int one = solve_on_ranks(1, a, b, choice_of("cg", precond)).reports[0].iterations;
    CHECK(std::abs(report.iterations - one) <= 1 + one / 50);
    team.multiply(x0, y);
    CHECK(first_outside(y, expected_product<double>(a, 1, x0)) == "");
    y = x0;
    team.multiply(y, y);  // in place
    CHECK(first_outside(y, expected_product<double>(a, 1, x0)) == "");

    std::vector<double> values = pieces.val;
    for (double& value : values) value *= 4;  // a power of two: M becomes a quarter, in all digits
    std::vector<double> z(b.size()), quarter(b.size());
    team.precondition(b, z);
    team.refresh(values);
    team.precondition(b, quarter);
    for (double& value : quarter) value *= 4;
    CHECK(same_bits(z, quarter));
    std::vector<double> again = x;
    CHECK(team.solve(b, again, {}, InitialGuess::zero).iterations == report.iterations);
    for (double& value : again) value *= 4;
    CHECK(same_bits(again, x));
  }
}

}  // namespace

TEST_BOTH("A team solves, multiplies and takes new values of any form of matrix", "[distributed]") {
  for (const int size : {1, 2, 3}) check_team(contexts_like(ctx, size));
}

TEST_BOTH("A team solves several right-hand sides, from guesses or from zero", "[distributed]") {
  const HostCsr a = fem_matrix("generate:convection:6");
  constexpr Index columns = 3;
  std::vector<double> b, x;
  std::vector<std::vector<double>> solutions;
  for (unsigned c = 0; c < columns; ++c) {
    solutions.push_back(random_vector<double>(a.rows, 20 + c));
    const std::vector<double> column = product_oracle(a, solutions.back());
    b.insert(b.end(), column.begin(), column.end());
    // Only the guess of the second column is the solution.
    x.insert(x.end(), c == 1 ? solutions[1].begin() : column.begin(), c == 1 ? solutions[1].end() : column.end());
  }
  TeamSystem<double, S> team(contexts_like(ctx, 3), input_of(a), choice_of("bicgstab", "jacobi"));
  const std::vector<SolveReport> reports = team.solve_columns(b, x, columns);
  REQUIRE(reports.size() == columns);
  CHECK(reports[1].iterations == 0);
  CHECK(reports[0].iterations > 0);
  for (Index c = 0; c < columns; ++c) {
    const auto n = static_cast<std::ptrdiff_t>(a.rows);
    const std::vector<double> own_x(x.begin() + c * n, x.begin() + (c + 1) * n);
    const std::vector<double> own_b(b.begin() + c * n, b.begin() + (c + 1) * n);
    CHECK(reports[static_cast<std::size_t>(c)].converged());
    CHECK(residual_norm(a, own_x, own_b) <= 1.01e-8 * norm_oracle(own_b));
  }
  CHECK(team.solve_columns({}, {}, 0).empty());
}

TEST_BOTH("A team that is stopped says so, and a wrong length changes nothing", "[distributed]") {
  const HostCsr a = fem_matrix("generate:diffusion:7");
  const std::vector<double> b = rhs_of(a);
  std::vector<double> x(b.size());
  TeamSystem<double, S> team(contexts_like(ctx, 2), input_of(a), choice_of("cg", "jacobi"));
  const std::thread::id caller = std::this_thread::get_id();
  int calls = 0;
  const ProgressFn stop = [&](const Progress&) {
    CHECK(std::this_thread::get_id() == caller);
    return ++calls < 2;
  };
  CHECK(team.solve(b, x, stop, InitialGuess::zero).status == Status::stopped_by_caller);
  CHECK(calls == 2);
  std::vector<double> shorter(b.size() - 1);
  CHECK(message_of<InputError>([&] { static_cast<void>(team.solve(shorter, x)); }).find("b: expected") == 0);
  CHECK(message_of<InputError>([&] { static_cast<void>(team.solve(b, shorter)); }).find("x: expected") == 0);
  CHECK(message_of<InputError>([&] { team.multiply(x, shorter); }) != "");
  CHECK(message_of<InputError>([&] { team.refresh(shorter); }) != "");
  StopCriterion limits;
  limits.max_iterations = 1;
  team.set_stop_criterion(limits);
  CHECK(team.solve(b, x, {}, InitialGuess::zero).status == Status::max_iterations);
  team.set_stop_criterion({});
  CHECK(team.solve(b, x, {}, InitialGuess::zero).converged());
}

TEST_BOTH("What a team cannot set up is the error of the rank that found it", "[distributed]") {
  HostCsr a = tridiagonal_matrix(30);
  for (Offset k = a.row_ptr[25]; k < a.row_ptr[26]; ++k) {
    if (a.col[k] == 25) a.val[k] = 0;
  }
  const auto set_up = [&](const HostCsr& matrix, const std::string& precond, int size) {
    TeamSystem<double, S>(contexts_like(ctx, size), input_of(matrix), choice_of("cg", precond));
  };
  CHECK_THROWS_AS(set_up(a, "jacobi", 3), ZeroDiagonal);
  PrecondMethod unknown_to_ranks;
  unknown_to_ranks.name = "of_this_test";
  const Registration registered = register_preconditioner(unknown_to_ranks);
  CHECK(message_of<InputError>([&] { set_up(a, "of_this_test", 2); }).find("is not available on ranks") !=
        std::string::npos);
  CHECK(message_of<InputError>([&] { set_up(a, "none", 0); }) != "");
  HostCsr wide = a;
  wide.cols = 31;
  CHECK(message_of<InputError>([&] { set_up(wide, "none", 2); }).find("square") != std::string::npos);
}

TEST_CASE("Ranks of one process have equal shares of its threads, of at least one", "[distributed]") {
  const Context<host> all(7);
  for (const auto& [ranks, threads] : {std::pair{1, 7}, {2, 3}, {3, 2}, {7, 1}, {100, 1}}) {
    const Context<host> share = detail::share_of_host(all, ranks);
    CHECK(share.threads() == threads);
    CHECK((&share.team() == &all.team()) == (ranks == 1));
  }
}

TEST_BOTH("A team may have more ranks than the matrix has rows", "[distributed]") {
  const HostCsr a = tridiagonal_matrix(3);
  const std::vector<double> b = {1, 2, 3};
  std::vector<double> x(3);
  TeamSystem<double, S> team(contexts_like(ctx, 5), input_of(a), choice_of("cg", "jacobi"));
  CHECK(team.solve(b, x, {}, InitialGuess::zero).converged());
  CHECK(residual_norm(a, x, b) <= 1.01e-8 * norm_oracle(b));
  TeamSystem<double, S> moved = std::move(team);
  CHECK(moved.rows() == 3);
}

#if NEWEL_HAS_CUDA
TEST_CASE("A team of several devices solves, multiplies and takes new values", "[distributed][device]") {
  if (skipped_without_devices(2)) return;
  for (const int devices : numbers_of_devices()) {
    std::vector<Context<device>> contexts = each_device(devices);
    check_team<device>(contexts);
    std::reverse(contexts.begin(), contexts.end());
    check_team<device>(contexts);
  }
}

// The first system is freed while the second is already there: kernels of one device must not wait for the memory of
// the other meanwhile.
TEST_CASE("Teams of several devices replace each other", "[distributed][device]") {
  if (skipped_without_devices(2)) return;
  const HostCsr a = fem_matrix("generate:diffusion:9");
  const std::vector<double> b = rhs_of(a);
  const std::vector<Context<device>> contexts = each_device(numbers_of_devices().back());
  const auto set_up = [&] { return TeamSystem<double, device>(contexts, input_of(a), choice_of("cg")); };
  TeamSystem<double, device> team = set_up();
  for (int round = 0; round < 10; ++round) {
    std::vector<double> x(b.size());
    CHECK(team.solve(b, x, {}, InitialGuess::zero).converged());
    CHECK(residual_norm(a, x, b) <= 1.01e-8 * norm_oracle(b));
    team = set_up();
  }
}
#endif

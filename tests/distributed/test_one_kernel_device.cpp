// SPDX-License-Identifier: Apache-2.0
// CG as one kernel across several devices.
#include "tests/catch.hpp"

#include <chrono>
#include <cmath>

#include <newel/solver/cg.hpp>

#include "distributed/links/device_link.hpp"
#include "distributed/rows/distributed_operator.hpp"
#include "distributed/rows/halo.hpp"
#include "distributed/rows/rank_ehyb.hpp"
#include "precond/jacobi/jacobi.hpp"
#include "tests/distributed/device_rank_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

HostCsr squares(Index n) {  // the Laplacian of a grid of n x n nodes, a thousand iterations of CG for n = 300
  Rows rows(static_cast<std::size_t>(n) * n);
  for (Index i = 0; i < n * n; ++i) {
    rows[i][i] = 4.001;
    if (i % n > 0) rows[i][i - 1] = -1;
    if (i % n < n - 1) rows[i][i + 1] = -1;
    if (i >= n) rows[i][i - n] = -1;
    if (i < n * n - n) rows[i][i + n] = -1;
  }
  return from_rows(n * n, rows);
}

// Two blocks without an entry between them: the second device reads nothing of the first.
HostCsr apart(Index n) {
  const HostCsr a = fem_matrix("generate:grid7:" + std::to_string(n));
  Rows rows(static_cast<std::size_t>(a.rows) * 2);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      rows[i][a.col[k]] = a.val[k];
      rows[a.rows + i][a.rows + a.col[k]] = 2 * a.val[k];
    }
  }
  return from_rows(2 * a.rows, rows);
}

SystemOptions without_kernel(SystemOptions options) {
  options.solver.of<CgOptions>().resident = false;
  return options;
}

}  // namespace

TEST_CASE("CG on several devices is one kernel if vectors fit on the chips", "[distributed][resident][device]") {
  if (skipped_without_devices(2)) return;
  const std::vector<std::pair<std::string, HostCsr>> systems = {{"diffusion", fem_matrix("generate:diffusion:24")},
                                                                {"elasticity", fem_matrix("generate:elasticity:10")},
                                                                {"cut nodes", fem_matrix("generate:elasticity:9")},
                                                                {"many iterations", squares(300)},
                                                                {"four rows", squares(2)},
                                                                {"few rows", squares(3)},
                                                                {"apart", apart(8)}};
  std::vector<std::pair<std::string, int>> kinds;
  for (const int devices : numbers_of_devices()) {
    for (const std::string precond : {"jacobi", "none"}) kinds.emplace_back(precond, devices);
  }
  for (const auto& [name, a] : systems) {
    const std::vector<double> b = rhs_of(a);
    for (const auto& [precond, devices] : kinds) {
      INFO(name << ", " << precond << ", " << devices << " devices");
      const RankSolve found = solve_on_devices(by_packets(devices), devices, a, b, choice_of("cg", precond));
      const RankSolve on_host = solve_on_ranks(devices, a, b, choice_of("cg", precond));
      CHECK(found.reports[0].converged());
      CHECK(found.reports[0].resident);
      check_equal(found.reports);
      CHECK(residual_norm(a, found.x, b) <= 1.01e-8 * norm_oracle(b));
      const double rounding = 1e-13 * norm_oracle(b);
      CHECK(found.reports[0].true_residual == Approx(residual_norm(a, found.x, b)).epsilon(1e-6).margin(rounding));
      CHECK(std::abs(found.reports[0].iterations - on_host.reports[0].iterations) <=
            1 + on_host.reports[0].iterations / 50);
      const RankSolve again = solve_on_devices(by_packets(devices), devices, a, b, choice_of("cg", precond));
      CHECK(same_bits(again.x, found.x));
      const RankSolve loop =
          solve_on_devices(by_packets(devices), devices, a, b, without_kernel(choice_of("cg", precond)));
      CHECK_FALSE(loop.reports[0].resident);
    }
  }
}

TEST_CASE("One kernel on several devices starts from a guess and stops between launches",
          "[distributed][resident][device]") {
  if (skipped_without_devices(2)) return;
  const int devices = numbers_of_devices().back();
  const HostCsr a = squares(200);
  const std::vector<double> b = rhs_of(a);
  std::vector<double> x(b.size(), 0.0);
  const auto thrown = on_ranks(devices, [&](const std::shared_ptr<Communicator>& ranks) {
    DevicePart part(by_packets(devices), ranks, a, choice_of("cg", "jacobi"));
    const auto own_b = upload<double, device>(part.ctx, part.own.part_of(b));
    auto own_x = upload<double, device>(part.ctx, std::vector<double>(part.own.rows(), 0.0));
    int calls = 0;
    const SolveReport stopped =
        part.system.solve(own_b.cspan(), own_x.span(), [&](const Progress&) { return ++calls < 3; });
    RANK_CHECK(stopped.status == Status::stopped_by_caller);
    RANK_CHECK(stopped.iterations > 0);
    const SolveReport rest = part.system.solve(own_b.cspan(), own_x.span());
    RANK_CHECK(rest.converged() && rest.resident);
    RANK_CHECK(rest.initial_residual < 0.99 * norm_oracle(b));
    const SolveReport none = part.system.solve(own_b.cspan(), own_x.span());
    RANK_CHECK(none.converged() && none.iterations == 0);
    const std::vector<double> found = download<double, device>(part.ctx, own_x);
    std::copy(found.begin(), found.end(), x.begin() + part.own.first);
  });
  CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(devices)));
  CHECK(residual_norm(a, x, b) <= 1.01e-8 * norm_oracle(b));
}

// All ranks but the last solve, so their kernels wait for packets that never come.
TEST_CASE("A rank that fails ends the kernels that wait for it on other devices", "[distributed][resident][device]") {
  if (skipped_without_devices(2)) return;
  const int devices = numbers_of_devices().back();
  const HostCsr a = squares(100);
  const auto start = std::chrono::steady_clock::now();
  const auto thrown = on_ranks(devices, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), devices);
    const Context<device> of_rank(ranks->rank());
    of_rank.make_current();
    const std::vector<std::int64_t> first_rows = detail::first_rows(*ranks, own.rows());
    Ranks shared{ranks, own.first, a.rows, detail::link_devices(of_rank, ranks, RankLink::peers)};
    const Context<device> ctx = detail::with_ranks(of_rank, shared);
    const detail::DistributedOperator<double, device> A(ctx, own.view(), first_rows, detail::RankFormat::automatic);
    RANK_CHECK(A.resident_view().across != nullptr);
    Cg<double, device> cg(ctx, own.rows());
    cg.prepare(ctx, A, nullptr);
    if (ranks->rank() == devices - 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      throw std::runtime_error("the power is off");
    }
    const auto b = upload<double, device>(ctx, std::vector<double>(own.rows(), 1.0));
    auto x = upload<double, device>(ctx, std::vector<double>(own.rows(), 0.0));
    static_cast<void>(cg.solve(ctx, A, nullptr, b.cspan(), x.span(), StopCriterion{}));
  });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  for (const std::string& what : thrown) CHECK(what.find("the power is off") != std::string::npos);
  if (!untimed()) CHECK(taken.count() < 10);
}

TEST_CASE("One kernel on several devices solves in single precision", "[distributed][resident][device]") {
  if (skipped_without_devices(2)) return;
  const int devices = numbers_of_devices().back();
  const HostCsr a = fem_matrix("generate:diffusion:16");
  const std::vector<double> b = rhs_of(a);
  std::vector<double> x(b.size());
  const auto thrown = on_ranks(devices, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), devices);
    const std::vector<float> val(own.val.begin(), own.val.end());
    const std::vector<double> own_b = own.part_of(b);
    const Context<device> ctx(ranks->rank());
    SystemOptions options = choice_of("cg", "jacobi");
    options.stop.rel_tol = 1e-5;
    DistributedSystem<float, device> system(
        ctx, ranks, {own.view().row_ptr, own.view().col, Span<const float, host>(val)}, options, RankLink::peers);
    const auto b_there = upload<float, device>(ctx, std::vector<float>(own_b.begin(), own_b.end()));
    auto x_there = upload<float, device>(ctx, std::vector<float>(own_b.size(), 0.0f));
    const SolveReport report = system.solve(b_there.cspan(), x_there.span());
    RANK_CHECK(report.converged() && report.resident);
    const std::vector<float> found = download<float, device>(ctx, x_there);
    std::copy(found.begin(), found.end(), x.begin() + own.first);
  });
  CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(devices)));
  CHECK(residual_norm(a, x, b) <= 2e-5 * norm_oracle(b));
}

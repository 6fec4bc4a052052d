// SPDX-License-Identifier: Apache-2.0
// One system on several ranks, each of which has a device: one that they share, or several that are linked.
#include "tests/catch.hpp"

#include <chrono>
#include <cmath>

#include <newel/solver/bicgstab.hpp>
#include <newel/solver/cg.hpp>
#include <newel/solver/gmres.hpp>

#include "tests/distributed/device_rank_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

// `size` ranks with devices solve what ranks on the host solve.
void check_solves(const Linked& linked, const std::vector<int>& sizes) {
  struct Case {
    std::string system, solver;
  };
  for (const Case& of : {Case{"generate:diffusion:12", "cg"},
                         {"generate:elasticity:7", "auto"},
                         {"generate:convection:12", "bicgstab"},
                         {"generate:convection:9", "gmres"}}) {
    const HostCsr a = fem_matrix(of.system);
    const std::vector<double> b = rhs_of(a);
    for (const int size : sizes) {
      INFO(of.system << " by " << of.solver << " on " << size << " ranks");
      const RankSolve found = solve_on_devices(linked, size, a, b, choice_of(of.solver));
      CHECK(found.reports[0].converged());
      check_equal(found.reports);
      CHECK(residual_norm(a, found.x, b) <= 1.01e-8 * norm_oracle(b));
      CHECK(found.reports[0].true_residual == Approx(residual_norm(a, found.x, b)).epsilon(1e-6));
      if (of.solver != "bicgstab") {  // whose residuals jump
        const int on_host = solve_on_ranks(size, a, b, choice_of(of.solver)).reports[0].iterations;
        CHECK(std::abs(found.reports[0].iterations - on_host) <= 1 + on_host / 50);
      }
      const RankSolve again = solve_on_devices(linked, size, a, b, choice_of(of.solver));
      CHECK(same_bits(again.x, found.x));
    }
  }
}

// Solves often enough for iterations to be replayed as graphs, with new values in between.
void check_refresh(const Linked& linked, int size) {
  const HostCsr a = fem_matrix("generate:diffusion:9");
  HostCsr scaled = a;
  for (Offset k = 0; k < a.nnz(); ++k) scaled.val[k] *= 3;
  const std::vector<double> b = rhs_of(scaled);
  const RankSolve anew = solve_on_devices(linked, size, scaled, b, choice_of("cg"));
  std::vector<double> x(b.size());
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    DevicePart part(linked, ranks, a, choice_of("cg"));
    for (int k = 0; k < 3; ++k) RANK_CHECK(part.solve(b, x).converged());
    const auto values = upload<double, device>(part.ctx, share_of(scaled, ranks->rank(), size).val);
    part.system.refresh(values.cspan());
    for (int k = 0; k < 3; ++k) RANK_CHECK(part.solve(b, x).iterations == anew.reports[0].iterations);
  });
  CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
  CHECK(same_bits(x, anew.x));
}

// Each new system replaces the one before, which each rank frees in its own time, and multiplies at once.
void check_replaced(const Linked& linked, int size) {
  const HostCsr a = fem_matrix("generate:diffusion:9");
  const std::vector<double> x = random_vector<double>(a.rows);
  std::vector<double> y(x.size());
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    DevicePart part(linked, ranks, a, choice_of("cg"));
    const auto own_x = upload<double, device>(part.ctx, part.own.part_of(x));
    for (int round = 0; round < 10; ++round) {
      part.system = DistributedSystem<double, device>(part.ctx, ranks, part.own.view(), choice_of("cg"), linked.link);
      auto own_y = poisoned<double, device>(part.ctx, part.own.rows());
      part.system.multiply(own_x.cspan(), own_y.span());
      const std::vector<double> found = download<double, device>(part.ctx, own_y);
      std::copy(found.begin(), found.end(), y.begin() + part.own.first);
    }
  });
  CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
  CHECK(first_outside(y, expected_product<double>(a, 1, x)) == "");
}

// The last rank throws in its fifth report of progress.
void check_failing_rank(const Linked& linked, int size) {
  const HostCsr a = fem_matrix("generate:diffusion:12");
  const std::vector<double> b = rhs_of(a);
  std::vector<double> x(b.size());
  SystemOptions options = choice_of("cg");
  options.stop.rel_tol = 0;
  options.stop.max_iterations = 100000000;
  const auto start = std::chrono::steady_clock::now();
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    DevicePart part(linked, ranks, a, options);
    const bool fails = ranks->rank() == size - 1;
    int calls = 0;
    ProgressFn progress;
    if (fails) {
      progress = [&](const Progress&) {
        if (++calls == 5) throw std::runtime_error("the power is off");
        return true;
      };
    }
    try {
      static_cast<void>(part.solve(b, x, progress));
    } catch (const RankFailed&) {
      RANK_CHECK(!fails);
      throw;
    }
  });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  for (const std::string& what : thrown) {
    INFO(what);
    CHECK(what.find("the power is off") != std::string::npos);
  }
  if (!untimed()) CHECK(taken.count() < 10);
}

}  // namespace

TEST_CASE("Ranks that share a device multiply as one does", "[distributed][device]") {
  for (const NamedMatrix& named : awkward_square_matrices()) {
    const HostCsr& a = named.matrix;
    const std::vector<double> x = random_vector<double>(a.rows);
    for (const int size : {1, 2, 3}) {
      INFO(named.name << " on " << size << " ranks");
      std::vector<double> y(x.size(), std::nan(""));
      const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
        DevicePart part(shared_gpu, ranks, a, choice_of("gmres", "none"));
        RANK_CHECK(part.system.rows() == part.own.rows());
        RANK_CHECK(part.system.first_row() == part.own.first);
        RANK_CHECK(part.system.all_rows() == a.rows);
        const auto own_x = upload<double, device>(part.ctx, part.own.part_of(x));
        auto own_y = poisoned<double, device>(part.ctx, part.own.rows());
        part.system.multiply(own_x.cspan(), own_y.span());
        const std::vector<double> found = download<double, device>(part.ctx, own_y);
        std::copy(found.begin(), found.end(), y.begin() + part.own.first);
      });
      CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
      CHECK(first_outside(y, expected_product<double>(a, 1, x)) == "");
    }
  }
}

TEST_CASE("One rank with a device has the bits of a LinearSystem", "[distributed][device]") {
  for (const std::string solver : {"auto", "cg", "bicgstab", "gmres"}) {
    INFO(solver);
    const HostCsr a = fem_matrix(solver == "cg" ? "generate:diffusion:9" : "generate:convection:9");
    const std::vector<double> b = rhs_of(a);
    const RankSolve shared = solve_on_devices(shared_gpu, 1, a, b, choice_of(solver, "jacobi"));
    SystemOptions options = choice_of(solver, "jacobi");
    options.spmv.format = "csr";
    options.solver.of<CgOptions>().resident = false;
    options.solver.of<BicgstabOptions>().resident = false;
    const Context<device> ctx;
    const auto there = upload_matrix<double>(ctx, a);
    LinearSystem<double, device> system(ctx, there.wide(), options);
    const auto b_there = upload<double, device>(ctx, b);
    auto x = upload<double, device>(ctx, std::vector<double>(b.size(), 0.0));
    const SolveReport report = system.solve(b_there.cspan(), x.span());
    CHECK(report.converged());
    CHECK(shared.reports[0].iterations == report.iterations);
    CHECK(shared.reports[0].history == report.history);
    CHECK(same_bits(shared.x, download<double, device>(ctx, x)));
  }
}

TEST_CASE("Ranks that share a device solve what ranks on the host solve", "[distributed][device]") {
  check_solves(shared_gpu, {2, 3, 5});
}

TEST_CASE("New values on ranks that share a device are those of a new system", "[distributed][device]") {
  check_refresh(shared_gpu, 3);
}

TEST_CASE("A system that replaces another on a shared device multiplies at once", "[distributed][device]") {
  check_replaced(shared_gpu, 2);
}

TEST_CASE("A rank that fails ends the others, which share its device", "[distributed][device]") {
  check_failing_rank(shared_gpu, 3);
}

TEST_CASE("A singular system with the constant null space is solved on a shared device", "[distributed][device]") {
  const HostCsr a = neumann_line(60);
  const std::vector<double> b = rhs_of(a);
  SystemOptions options = choice_of("cg");
  options.null_space = NullSpace::constant;
  const RankSolve found = solve_on_devices(shared_gpu, 4, a, b, options);
  check_mean_free(a, found, b);
}

TEST_CASE("A long cycle of GMRES adds its sums over ranks piece by piece", "[distributed][device]") {
  const HostCsr a = fem_matrix("generate:convection:9");
  const std::vector<double> b = rhs_of(a);
  SystemOptions options = choice_of("gmres", "none");
  options.solver.of<GmresOptions>().restart = 400;
  options.stop.rel_tol = 1e-12;
  const RankSolve found = solve_on_devices(shared_gpu, 2, a, b, options);
  CHECK(residual_norm(a, found.x, b) <= 1.01e-12 * norm_oracle(b));
  const int on_host = solve_on_ranks(2, a, b, options).reports[0].iterations;
  CHECK(std::abs(found.reports[0].iterations - on_host) <= 1 + on_host / 50);
}

TEST_CASE("A link that cannot be made is an error that says why", "[distributed][device]") {
  const HostCsr a = tridiagonal_matrix(30);
  const auto thrown = on_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
    DevicePart part({RankLink::nccl, 1}, ranks, a, choice_of("cg"));
  });
  for (const std::string& what : thrown) CHECK(what.find("ranks share a device") != std::string::npos);
  const auto unlike = on_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
    DevicePart part({ranks->rank() == 0 ? RankLink::host : RankLink::automatic, 1}, ranks, a, choice_of("cg"));
  });
  for (const std::string& what : unlike) CHECK(what.find("different links") != std::string::npos);
  std::string link;
  on_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
    DevicePart part({RankLink::automatic, 1}, ranks, a, choice_of("cg"));
    if (ranks->rank() == 0) link = part.system.link();
  });
  CHECK(link == "by way of the host: ranks share a device");
}

TEST_CASE("Ranks on several devices solve what ranks on the host solve, by packets", "[distributed][device]") {
  if (skipped_without_devices(2)) return;
  for (const int devices : numbers_of_devices()) check_solves(by_packets(devices), {devices});
}

TEST_CASE("Ranks on several devices solve what ranks on the host solve, through NCCL", "[distributed][device]") {
  if (skipped_without_devices(2) || skipped_without_nccl()) return;
  for (const int devices : numbers_of_devices()) check_solves(by_nccl(devices), {devices});
}

TEST_CASE("New values on several devices are those of a new system, by packets", "[distributed][device]") {
  if (skipped_without_devices(2)) return;
  for (const int devices : numbers_of_devices()) check_refresh(by_packets(devices), devices);
}

TEST_CASE("New values on several devices are those of a new system, through NCCL", "[distributed][device]") {
  if (skipped_without_devices(2) || skipped_without_nccl()) return;
  for (const int devices : numbers_of_devices()) check_refresh(by_nccl(devices), devices);
}

TEST_CASE("A system that replaces another on several devices multiplies at once, by packets",
          "[distributed][device]") {
  if (skipped_without_devices(2)) return;
  for (const int devices : numbers_of_devices()) check_replaced(by_packets(devices), devices);
}

TEST_CASE("A system that replaces another on several devices multiplies at once, through NCCL",
          "[distributed][device]") {
  if (skipped_without_devices(2) || skipped_without_nccl()) return;
  for (const int devices : numbers_of_devices()) check_replaced(by_nccl(devices), devices);
}

TEST_CASE("A rank that fails ends kernels that wait for its packets", "[distributed][device]") {
  if (skipped_without_devices(2)) return;
  for (const int devices : numbers_of_devices()) check_failing_rank(by_packets(devices), devices);
}

TEST_CASE("A rank that fails ends NCCL's kernels", "[distributed][device]") {
  if (skipped_without_devices(2) || skipped_without_nccl()) return;
  for (const int devices : numbers_of_devices()) check_failing_rank(by_nccl(devices), devices);
}

TEST_CASE("Several devices give the same bits by every link", "[distributed][device]") {
  if (skipped_without_devices(2)) return;
  const bool with_nccl = !skipped_without_nccl();
  for (const std::string solver : {"cg", "gmres"}) {
    const HostCsr a = fem_matrix("generate:elasticity:9");
    const std::vector<double> b = rhs_of(a);
    SystemOptions options = choice_of(solver);
    options.solver.of<CgOptions>().resident = false;  // one kernel adds in another order
    for (const int devices : numbers_of_devices()) {
      const RankSolve staged = solve_on_devices({RankLink::host, devices}, devices, a, b, options);
      const RankSolve packets = solve_on_devices(by_packets(devices), devices, a, b, options);
      CHECK(packets.reports[0].history == staged.reports[0].history);
      CHECK(same_bits(packets.x, staged.x));
      if (!with_nccl) continue;
      const RankSolve linked = solve_on_devices(by_nccl(devices), devices, a, b, options);
      CHECK(same_bits(linked.x, staged.x));
    }
  }
}

// A matrix in which only the first half of the ranks needs values, those of the second half: products without sums in
// between, whose packets must not overtake each other.
TEST_CASE("A device that only sends does not overtake one that only receives", "[distributed][device]") {
  if (skipped_without_devices(2)) return;
  constexpr Index n = 20000;
  Rows rows(n);
  for (Index i = 0; i < n; ++i) {
    rows[i][i] = 1;
    if (i < n / 2) rows[i][n - 1 - i] = 1;
  }
  const HostCsr a = from_rows(n, rows);
  std::vector<Linked> links;
  for (const int devices : numbers_of_devices()) {
    links.push_back(by_packets(devices));
    links.push_back({RankLink::host, devices});
  }
  for (const Linked& linked : links) {
    const auto thrown = on_ranks(linked.devices, [&](const std::shared_ptr<Communicator>& ranks) {
      DevicePart part(linked, ranks, a, choice_of("gmres", "none"));
      std::vector<Array<double, device>> x, y;
      for (int round = 0; round < 20; ++round) {
        x.push_back(upload<double, device>(part.ctx, std::vector<double>(part.own.rows(), 1.0 + round)));
        y.push_back(poisoned<double, device>(part.ctx, part.own.rows()));
      }
      for (std::size_t k = 0; k < x.size(); ++k) part.system.multiply(x[k].cspan(), y[k].span());
      for (std::size_t k = 0; k < x.size(); ++k) {
        Index row = part.own.first;
        for (const double value : download<double, device>(part.ctx, y[k])) {
          RANK_CHECK(value == (row++ < n / 2 ? 2.0 : 1.0) * (1.0 + static_cast<double>(k)));
        }
      }
    });
    CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(linked.devices)));
  }
}

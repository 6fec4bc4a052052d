// SPDX-License-Identifier: Apache-2.0
// Approximate inverses on ranks that have devices: the matrices of one rank, and the iterations of ranks on the host.
#include "tests/catch.hpp"

#include <cmath>

#include <newel/precond/amg/amg_options.hpp>

#include "tests/distributed/device_rank_support.hpp"
#include "tests/distributed/precond_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

SystemOptions options_of(const std::string& precond, int power = 1, PrecondSide side = PrecondSide::right) {
  SystemOptions options = choice_of("gmres", precond);  // which leaves M as it is
  options.precond.of<FsaiOptions>().power = power;
  options.precond.of<SpaiOptions>().power = power;
  options.precond.of<SpaiOptions>().side = side;
  return options;
}

// z = M x on so many ranks; of `values` if they are given, after a refresh.
std::vector<double> preconditioned(const Linked& linked, int size, const HostCsr& a, const SystemOptions& options,
                                   const std::vector<double>& x, const HostCsr* changed = nullptr) {
  std::vector<double> z(x.size(), std::nan(""));
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    DevicePart part(linked, ranks, a, options);
    if (changed != nullptr) {
      const auto values = upload<double, device>(part.ctx, share_of(*changed, ranks->rank(), size).val);
      part.system.refresh(values.cspan());
    }
    const auto in = upload<double, device>(part.ctx, part.own.part_of(x));
    auto out = poisoned<double, device>(part.ctx, part.own.rows());
    part.system.precondition(in.cspan(), out.span());
    const std::vector<double> found = download<double, device>(part.ctx, out);
    std::copy(found.begin(), found.end(), z.begin() + part.own.first);
  });
  for (const std::string& what : thrown) {
    if (!what.empty()) throw std::runtime_error(what);
  }
  return z;
}

void check_factors(const Linked& linked, const std::vector<int>& sizes) {
  const Context<host> ctx(1);
  const HostCsr a = fem_matrix("generate:elasticity:4"), convection = fem_matrix("generate:convection:5");
  const std::vector<double> x = random_vector<double>(a.rows), of_convection = random_vector<double>(convection.rows);
  const auto there = upload_matrix<double>(ctx, a), convection_there = upload_matrix<double>(ctx, convection);
  for (const int size : sizes) {
    for (const int power : {1, 2}) {
      INFO(size << " ranks, power " << power);
      const SystemOptions fsai = options_of("fsai", power);
      const FsaiOperator<double, host> one(ctx, there.wide(), RowOrder<host>{}, fsai.precond, SpmvOptions{"csr"});
      CHECK(outside_product(preconditioned(linked, size, a, fsai, x), x,
                            {{one.factor(), false}, {one.factor(), true}}) == "");
      for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
        const SystemOptions spai = options_of("spai", power, side);
        const SpaiOperator<double, host> of_one(ctx, convection_there.wide(), RowOrder<host>{}, spai.precond,
                                                SpmvOptions{"csr"});
        const std::vector<double> z = preconditioned(linked, size, convection, spai, of_convection);
        CHECK(outside_product(z, of_convection, {{csr_of(of_one), false}}) == "");
      }
    }
    for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
      const SystemOptions spai0 = options_of("spai0", 1, side);
      const Spai0Operator<double, host> one(ctx, convection_there.wide(), RowOrder<host>{}, spai0.precond,
                                            SpmvOptions{"csr"});
      std::vector<double> z(of_convection.size());
      one.apply(ctx, 1, Span<const double, host>(of_convection), 0, Span<double, host>(z));
      CHECK(same_bits(preconditioned(linked, size, convection, spai0, of_convection), z));
    }
  }
}

void check_iterations(const Linked& linked, const std::vector<int>& sizes) {
  struct Case {
    std::string system, solver, precond;
  };
  for (const Case& of :
       {Case{"generate:elasticity:7", "cg", "fsai"}, Case{"generate:diffusion:12", "auto", "fsai"},
        Case{"generate:diffusion:9", "cg", "spai"}, Case{"generate:convection:9", "gmres", "spai"},
        Case{"generate:convection:9", "gmres", "spai0"}, Case{"generate:diffusion:9", "minres", "l1-jacobi"},
        Case{"generate:diffusion:9", "idrs", "jacobi"}}) {
    const HostCsr a = fem_matrix(of.system);
    const std::vector<double> b = rhs_of(a);
    const SystemOptions options = choice_of(of.solver, of.precond);
    for (const int size : sizes) {
      INFO(of.system << " by " << of.solver << " with " << of.precond << " on " << size << " ranks");
      const RankSolve found = solve_on_devices(linked, size, a, b, options);
      CHECK(found.reports[0].converged());
      check_equal(found.reports);
      CHECK(residual_norm(a, found.x, b) <= 1.01e-8 * norm_oracle(b));
      const int on_host = solve_on_ranks(size, a, b, options).reports[0].iterations;
      // The residuals of IDR(s) jump within a cycle of s + 1 = 5 products.
      CHECK(std::abs(found.reports[0].iterations - on_host) <= (of.solver == "idrs" ? 5 : 1 + on_host / 50));
      CHECK(same_bits(solve_on_devices(linked, size, a, b, options).x, found.x));
    }
  }
}

// A small system has the M of one device. Of a large one aggregates are those of ranks on the host.
void check_multigrid(const Linked& linked, const std::vector<int>& sizes) {
  struct Case {
    std::string system;
    bool gathered_whole;
    SystemOptions options;
  };
  std::vector<Case> cases = {{"generate:diffusion:9", true, choice_of("cg", "amg")}};
  for (const AmgPrecision precision : {AmgPrecision::system, AmgPrecision::single}) {
    cases.push_back({"generate:grid7:17", false, choice_of("cg", "amg")});
    cases.back().options.precond.of<AmgOptions>().precision = precision;
  }
  for (const Case& of : cases) {
    const HostCsr a = fem_matrix(of.system);
    const std::vector<double> b = rhs_of(a);
    const int by_one = solve_on_devices(linked, 1, a, b, of.options).reports[0].iterations;
    for (const int size : sizes) {
      INFO(of.system << " with multigrid on " << size << " ranks");
      const RankSolve found = solve_on_devices(linked, size, a, b, of.options);
      CHECK(found.reports[0].converged());
      check_equal(found.reports);
      CHECK(residual_norm(a, found.x, b) <= 1.01e-8 * norm_oracle(b));
      const int expected = of.gathered_whole ? by_one : solve_on_ranks(size, a, b, of.options).reports[0].iterations;
      CHECK(std::abs(found.reports[0].iterations - expected) <= (of.gathered_whole ? 0 : 1));
      CHECK(same_bits(solve_on_devices(linked, size, a, b, of.options).x, found.x));
    }
  }
}

// Iterations after a refresh are those of a system made with the new values.
void check_refreshed_multigrid(const Linked& linked, int size) {
  const HostCsr a = fem_matrix("generate:grid7:17");
  HostCsr changed = a;
  for (double& value : changed.val) value *= 3;
  const std::vector<double> x = random_vector<double>(a.rows);
  const SystemOptions options = choice_of("cg", "amg");
  const std::vector<double> refreshed = preconditioned(linked, size, a, options, x, &changed);
  const std::vector<double> anew = preconditioned(linked, size, changed, options, x);
  const auto distance = [&](std::vector<double> z) {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] -= anew[i];
    return norm_oracle(z) / norm_oracle(anew);
  };
  CHECK(distance(refreshed) <= 1e-5);  // prolongators are kept
  CHECK(distance(preconditioned(linked, size, a, options, x)) > 0.1);
}

void check_new_values(const Linked& linked, int size) {
  const HostCsr a = fem_matrix("generate:elasticity:4");
  HostCsr changed = a;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      changed.val[k] *= a.col[k] == i ? 3 + i % 3 : 2;  // still definite
    }
  }
  const std::vector<double> x = random_vector<double>(a.rows);
  for (const std::string precond : {"fsai", "spai", "spai0", "jacobi", "l1-jacobi"}) {
    INFO(precond);
    const SystemOptions options = options_of(precond);
    const std::vector<double> refreshed = preconditioned(linked, size, a, options, x, &changed);
    CHECK(same_bits(refreshed, preconditioned(linked, size, changed, options, x)));
    CHECK_FALSE(same_bits(refreshed, preconditioned(linked, size, a, options, x)));
  }
}

}  // namespace

TEST_CASE("Approximate inverses on ranks that share a device are those of one rank", "[distributed][device]") {
  check_factors(shared_gpu, {1, 3});
}

TEST_CASE("Approximate inverses on ranks that share a device take the iterations of ranks on the host",
          "[distributed][device]") {
  check_iterations(shared_gpu, {1, 2, 3});
}

TEST_CASE("Multigrid on ranks that share a device takes the iterations of ranks on the host",
          "[distributed][device]") {
  check_multigrid(shared_gpu, {1, 2, 3});
  check_refreshed_multigrid(shared_gpu, 2);
}

TEST_CASE("New values of approximate inverses on a shared device are those of new ones", "[distributed][device]") {
  check_new_values(shared_gpu, 3);
}

TEST_CASE("Ranks with devices choose a preconditioner and say why", "[distributed][device]") {
  HostCsr line = neumann_line(60);
  line.val[static_cast<std::size_t>(line.row_ptr[7]) + 1] = 0;  // row 7, column 7
  const HostCsr hard = fem_matrix("generate:elasticity:9");
  for (const auto& [a, precond] : {std::pair(line, "l1-jacobi"), std::pair(hard, "")}) {
    const std::vector<double> b = rhs_of(a);
    std::vector<double> x(b.size());
    std::vector<std::string> names(3), reasons(3);
    const auto thrown = on_ranks(3, [&, matrix = &a](const std::shared_ptr<Communicator>& ranks) {
      SystemOptions options = choice_of("auto");
      options.stop.max_iterations = 2000;
      DevicePart part(shared_gpu, ranks, *matrix, options);
      static_cast<void>(part.solve(b, x));
      const SystemInfo info = part.system.info();
      names[static_cast<std::size_t>(ranks->rank())] = info.preconditioner.name;
      reasons[static_cast<std::size_t>(ranks->rank())] = info.preconditioner_reason.text(0);
    });
    CHECK(thrown == std::vector<std::string>(3));
    CHECK(names == std::vector<std::string>(3, names[0]));
    CHECK(reasons == std::vector<std::string>(3, reasons[0]));
    CHECK(reasons[0] != "");
    if (*precond != '\0') CHECK((names[0].empty() || names[0] == precond));
    if (*precond == '\0') CHECK(residual_norm(a, x, b) <= 1.01e-8 * norm_oracle(b));
  }
}

TEST_CASE("What FSAI refuses is refused by all ranks with devices", "[distributed][device]") {
  HostCsr a = tridiagonal_matrix(20);
  for (Offset k = a.row_ptr[9]; k < a.row_ptr[10]; ++k) {
    if (a.col[k] == 9) a.val[k] = 0.1;
  }
  const auto thrown = on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
    DevicePart part(shared_gpu, ranks, a, choice_of("cg", "fsai"));
  });
  for (const std::string& what : thrown) CHECK(what.find("not positive definite") != std::string::npos);
}

TEST_CASE("Approximate inverses on several devices are those of one rank, by packets", "[distributed][device]") {
  if (skipped_without_devices(2)) return;
  for (const int devices : numbers_of_devices()) {
    check_factors(by_packets(devices), {devices});
    check_iterations(by_packets(devices), {devices});
    check_new_values(by_packets(devices), devices);
    check_multigrid(by_packets(devices), {devices});
    check_refreshed_multigrid(by_packets(devices), devices);
  }
}

TEST_CASE("Approximate inverses on several devices are those of one rank, through NCCL", "[distributed][device]") {
  if (skipped_without_devices(2) || skipped_without_nccl()) return;
  for (const int devices : numbers_of_devices()) {
    check_factors(by_nccl(devices), {devices});
    check_iterations(by_nccl(devices), {devices});
    check_new_values(by_nccl(devices), devices);
    check_multigrid(by_nccl(devices), {devices});
  }
}

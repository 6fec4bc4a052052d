// SPDX-License-Identifier: Apache-2.0
// What a system is estimated to hold, against what it holds.
#include "tests/catch.hpp"
#include "tests/support.hpp"

#include <purlin/core/error.hpp>
#include <purlin/solver/linear_system.hpp>
#include <purlin/solver/memory_estimate.hpp>

using namespace purlin;
using namespace purlin::testing;

namespace {

struct Case {
  std::string solver, precond;
  int power = 1;
  double drop = 0, adaptive = 0;
  PrecondSide side = PrecondSide::right;
};

template <class T, Space S>
std::pair<double, double> estimated_and_held(const HostCsr& a, const SystemOptions& options) {
  const auto ctx = make_context<S>(2);
  const auto there = upload_matrix<T>(ctx, a);
  const std::uint64_t before = ctx.memory()->use().bytes;
  const LinearSystem<T, S> system(ctx, there.wide(), options);
  PrecondOptions precond = options.precond;
  precond.symmetric = options.solver.name == "cg";
  const SystemSize size{a.rows, static_cast<Offset>(a.col.size()), sizeof(T), !options.old_of_new.empty(),
                        options.mixed};
  const SystemEstimate estimate = estimate_system(options.spmv, precond, options.solver, size);
  // What is dropped at the end of the setup is no longer there to be compared.
  return {static_cast<double>(estimate.total() - estimate.renumbered),
          static_cast<double>(ctx.memory()->use().bytes - before)};
}

SystemOptions options_of(const Case& c) {
  SystemOptions options;
  options.spmv.format = "csr";
  options.solver.name = c.solver;
  options.precond.name = c.precond;
  options.precond.spai_power = options.precond.fsai_power = c.power;
  options.precond.drop = c.drop;
  options.precond.adaptive = c.adaptive;
  options.precond.side = c.side;
  return options;
}

}  // namespace

TEST_BOTH("A basis in single precision takes what is estimated for it", "[solver][memory]") {
  const HostCsr a = fem_matrix("generate:elasticity:7");
  SystemOptions options = options_of({"gmres", "jacobi"});
  options.solver.restart = 100;
  const auto full = estimated_and_held<double, S>(a, options);
  options.solver.single_basis = true;
  const auto single = estimated_and_held<double, S>(a, options);
  CHECK(single.first <= single.second);
  CHECK(single.first >= 0.9 * single.second);
  // 101 columns of four bytes less, and a vector of eight more.
  CHECK(full.second - single.second == Approx((101 * 4.0 - 8) * a.rows).epsilon(0.01));
  CHECK(full.first - single.first == (101 * 4.0 - 8) * a.rows);
}

TEST_BOTH("A system holds what was estimated where its pattern is A's", "[solver][memory]") {
  const HostCsr a = fem_matrix("generate:elasticity:7");
  const PrecondSide left = PrecondSide::left;
  for (const Case& c : std::vector<Case>{{"cg", "none"},
                                         {"cg", "jacobi"},
                                         {"bicgstab", "jacobi"},
                                         {"gmres", "jacobi"},
                                         {"bicgstab", "spai0"},
                                         {"cg", "fsai"},
                                         {"bicgstab", "spai"},
                                         {"gmres", "spai", 1, 0, 0, left},
                                         {"cg", "spai"}}) {
    INFO(c.solver << ", " << c.precond);
    for (const bool renumbered : {false, true}) {
      SystemOptions options = options_of(c);
      if (renumbered) options.old_of_new = random_order(a.rows, 3);
      const auto [estimated, held] = estimated_and_held<double, S>(a, options);
      CHECK(estimated <= held);
      // Maps of renumbered values, sums of reductions, and a host's scratch for the local problems are not foreseen.
      CHECK(estimated >= (renumbered ? 0.75 : 0.9) * held);
      CHECK(estimated_and_held<float, S>(a, options).first < estimated);
    }
  }
}

TEST_BOTH("A system never holds less than was estimated, whatever its pattern", "[solver][memory]") {
  const HostCsr a = fem_matrix("generate:elasticity:4");
  for (const Case& c : std::vector<Case>{{"cg", "fsai", 2},
                                         {"cg", "fsai", 1, 0.2},
                                         {"bicgstab", "spai", 2},
                                         {"bicgstab", "spai", 1, 0.2},
                                         {"bicgstab", "spai", 1, 0, 0.3},
                                         {"auto", "auto"}}) {
    INFO(c.precond << ", power " << c.power << ", drop " << c.drop << ", adaptive " << c.adaptive);
    for (const std::string format : {"csr", "auto"}) {
      SystemOptions options = options_of(c);
      options.spmv.format = format;
      const auto [estimated, held] = estimated_and_held<double, S>(a, options);
      CHECK(estimated <= held);
      CHECK(estimated >= 0.1 * held);
    }
  }
  auto pattern = std::make_shared<GivenPattern>();
  pattern->rows = a.rows;
  pattern->row_ptr = a.row_ptr;
  pattern->col = a.col;
  for (const std::string name : {"fsai", "spai"}) {
    SystemOptions options = options_of({"bicgstab", name});
    options.precond.pattern = pattern;
    const auto [estimated, held] = estimated_and_held<double, S>(a, options);
    CHECK(estimated <= held);
    CHECK(estimated >= 0.7 * held);
  }
}

TEST_BOTH("A system in mixed precision holds what was estimated", "[solver][memory][mixed]") {
  const HostCsr a = fem_matrix("generate:elasticity:7");
  for (const Case& c : std::vector<Case>{
           {"cg", "none"}, {"cg", "jacobi"}, {"cg", "fsai"}, {"bicgstab", "spai"}, {"gmres", "jacobi"}}) {
    INFO(c.solver << ", " << c.precond);
    for (const bool renumbered : {false, true}) {
      SystemOptions options = options_of(c);
      options.mixed = true;
      if (renumbered) options.old_of_new = random_order(a.rows, 3);
      const auto [estimated, held] = estimated_and_held<double, S>(a, options);
      CHECK(estimated <= held);
      CHECK(estimated >= (renumbered ? 0.75 : 0.9) * held);
    }
  }
}

TEST_CASE("An estimate knows names, and what a preconditioner adds", "[solver][memory]") {
  const SystemSize size{1000, 7000, 8, false};
  const auto with = [&](const std::string& name) {
    PrecondOptions precond;
    precond.name = name;
    return estimate_system(SpmvOptions{"auto"}, precond, SolverOptions{}, size);
  };
  CHECK(with("none").preconditioner == 0);
  CHECK(with("none").total() > 0);
  CHECK(with("auto").preconditioner == with("jacobi").preconditioner);
  CHECK(with("FSAI").preconditioner > 2 * with("none").matrix);
  CHECK(contains(message_of<InputError>([&] { with("cholesky"); }), "jacobi, spai0, spai, fsai"));
}

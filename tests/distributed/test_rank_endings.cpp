// SPDX-License-Identifier: Apache-2.0
// What ranks refuse, and how a solve on them ends early.
#include "tests/catch.hpp"

#include <newel/precond/fsai/fsai_options.hpp>
#include <newel/precond/spai/spai_options.hpp>
#include <newel/solver/gmres.hpp>

#include "tests/core/memory_support.hpp"
#include "tests/distributed/rank_support.hpp"

TEST_CASE("A rank's mistake is an error of all ranks", "[distributed]") {
  const HostCsr a = tridiagonal_matrix(30);
  const auto errors = [&](const std::function<void(OwnRows&, SystemOptions&)>& of_rank_2) {
    return on_ranks(4, [&](const std::shared_ptr<Communicator>& ranks) {
      OwnRows own = share_of(a, ranks->rank(), 4);
      SystemOptions options = choice_of("cg", "jacobi");
      if (ranks->rank() == 2) of_rank_2(own, options);
      DistributedSystem<double> system(Context<host>(1), ranks, own.view(), options);
      std::vector<double> x(static_cast<std::size_t>(own.rows()));
      static_cast<void>(system.solve(std::vector<double>(static_cast<std::size_t>(own.rows()), 1.0), x));
    });
  };
  const auto all_name = [](const std::vector<std::string>& thrown, const std::string& words) {
    for (const std::string& what : thrown) {
      INFO(what);
      CHECK(what.find(words) != std::string::npos);
    }
  };
  all_name(errors([](OwnRows& own, SystemOptions&) { own.val[1] = 0; }), "diagonal");
  all_name(errors([](OwnRows& own, SystemOptions&) { own.col.back() = 40; }),
           "column 40 of a matrix with 30 columns");
  all_name(errors([](OwnRows&, SystemOptions& options) { options.stop.max_iterations = 7; }),
           "the options of rank 2");
  all_name(errors([](OwnRows&, SystemOptions& options) { options.stop.rel_tol = 1e-9; }), "the options of rank 2");
  all_name(errors([](OwnRows&, SystemOptions& options) { options.solver.of<GmresOptions>().restart = 7; }),
           "the options of rank 2");
  all_name(errors([](OwnRows&, SystemOptions& options) { options.precond.of<FsaiOptions>().power = 2; }),
           "the options of rank 2");
  all_name(errors([](OwnRows& own, SystemOptions&) { own.val.pop_back(); }), "values for");
}

TEST_CASE("Jacobi names the first row of all ranks without an inverse, and counts them on all", "[distributed]") {
  HostCsr a = tridiagonal_matrix(30);
  for (const Index row : {Index{7}, Index{11}, Index{29}}) {
    for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      if (a.col[k] == row) a.val[k] = row == 11 ? 0 : 1e-320;  // without a finite inverse
    }
  }
  for (const int size : {1, 2, 3, 5, 40}) {
    const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
      const OwnRows own = share_of(a, ranks->rank(), size);
      DistributedSystem<double> system(Context<host>(1), ranks, own.view(), choice_of("cg", "jacobi"));
    });
    for (const std::string& what : thrown) CHECK(what.find(ZeroDiagonal(7, 3, 1e-320).what()) != std::string::npos);
  }
}

TEST_CASE("Ranks that solve for different numbers of columns, or in different precision, are refused",
          "[distributed]") {
  const HostCsr a = tridiagonal_matrix(30);
  const auto columns = on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), 3);  // rank 1 has no row, so that any number fits its vectors
    DistributedSystem<double> system(Context<host>(1), ranks, own.view(), choice_of("cg"));
    std::vector<double> b(static_cast<std::size_t>(2 * own.rows()), 1.0), x(b.size());
    static_cast<void>(system.solve_columns(b, x, ranks->rank() == 1 ? 1 : 2));
  });
  for (const std::string& what : columns) CHECK(contains(what, "different numbers of columns: from 1 to 2"));
  const auto precisions = on_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), 2);
    const std::vector<float> val(own.val.begin(), own.val.end());
    const RankRows<float> rows = {own.view().row_ptr, own.view().col, Span<const float, host>(val)};
    if (ranks->rank() == 0) {
      DistributedSystem<double> system(Context<host>(1), ranks, own.view(), choice_of("cg"));
    } else {
      DistributedSystem<float> system(Context<host>(1), ranks, rows, choice_of("cg"));
    }
  });
  for (const std::string& what : precisions) CHECK(contains(what, "bytes of a value"));
}

TEST_CASE("One allocation that fails on one rank ends the solve of all", "[distributed]") {
  const HostCsr singular = neumann_line(24);  // so that all tests of a failed solve are made
  SystemOptions options = choice_of("auto");
  options.stop.max_iterations = 60;
  const std::vector<double> b(24, 1.0);
  std::int64_t all_allocations = 0;
  const auto solved = [&](std::int64_t left) {
    return on_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
      const OwnRows own = share_of(singular, ranks->rank(), 2);
      const auto memory = std::make_shared<ObservedMemory<host>>();
      if (ranks->rank() == 1) memory->left = left;
      memory->fail = [first = true]() mutable {
        if (std::exchange(first, false)) throw std::bad_alloc();
      };
      DistributedSystem<double> system(Context<host>(1, memory), ranks, own.view(), options);
      std::vector<double> x(static_cast<std::size_t>(own.rows()), 0.0);
      static_cast<void>(system.solve(own.part_of(b), x));
      if (ranks->rank() == 1) all_allocations = static_cast<std::int64_t>(memory->allocations);
    });
  };
  CHECK(solved(std::numeric_limits<std::int64_t>::max()) == std::vector<std::string>(2));
  const std::int64_t needed = all_allocations;
  REQUIRE(needed > 20);
  for (std::int64_t left = 0; left < needed; ++left) {
    INFO(left << " of " << needed << " allocations");
    for (const std::string& what : solved(left)) CHECK(contains(what, "out of host memory"));
  }
  CHECK(solved(needed) == std::vector<std::string>(2));
}

TEST_CASE("What needs the whole matrix is refused on ranks", "[distributed]") {
  const HostCsr a = tridiagonal_matrix(30);
  const auto refused = [&](const std::function<void(SystemOptions&)>& change) {
    return on_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
      const OwnRows own = share_of(a, ranks->rank(), 2);
      SystemOptions options = choice_of("cg");
      change(options);
      DistributedSystem<double> system(Context<host>(1), ranks, own.view(), options);
    })[1];
  };
  CHECK(refused([](SystemOptions& o) { o.spmv.plan_cache = "/tmp"; }).find("a plan cache") != std::string::npos);
  CHECK(refused([](SystemOptions& o) { o.spmv.parts = 3; }).find("a partition") != std::string::npos);
  CHECK(refused([](SystemOptions& o) { o.precond.name = "jump"; }).find("jump") != std::string::npos);
  CHECK(refused([](SystemOptions& o) { o.precond.format = "ehyb"; }).find("ehyb") != std::string::npos);
  CHECK(refused([](SystemOptions& o) {
          o.precond.name = "spai";
          o.precond.of<SpaiOptions>().adaptive = 0.4;
        }).find("spai_adaptive") != std::string::npos);
  CHECK(refused([](SystemOptions& o) {
          o.precond.name = "fsai";
          o.precond.of<PatternOptions>().pattern = std::make_shared<GivenPattern>();
        }).find("pattern") != std::string::npos);
  CHECK(refused([](SystemOptions& o) {
          o.precond.name = "fsai";
          o.precond.of<FsaiOptions>().power = 0;
        }).find("power") != std::string::npos);
  CHECK(refused([](SystemOptions& o) { o.spmv.format = "ehyb"; }).find("ehyb") != std::string::npos);
  CHECK(refused([](SystemOptions& o) { o.mixed = true; }).find("mixed precision") != std::string::npos);
  CHECK(refused([](SystemOptions& o) { o.solver.name = "jump"; }).find("jump") != std::string::npos);
}

TEST_CASE("A zero on the diagonal of one rank leaves all without Jacobi under auto", "[distributed]") {
  HostCsr a = tridiagonal_matrix(12);
  a.val[static_cast<std::size_t>(a.row_ptr[10]) + 1] = 0;
  const RankSolve found = solve_on_ranks(3, a, rhs_of(a), choice_of("auto"));
  check_equal(found.reports);
  CHECK(found.reports[0].converged());
  CHECK(residual_norm(a, found.x, rhs_of(a)) <= 1.01e-8 * norm_oracle(rhs_of(a)));
}

TEST_CASE("One rank that stops a solve stops it on all", "[distributed]") {
  const HostCsr a = fem_matrix("generate:diffusion:12");
  std::vector<SolveReport> reports(3);
  const auto thrown = on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), 3);
    DistributedSystem<double> system(Context<host>(1), ranks, own.view(), choice_of("cg"));
    std::vector<double> x(static_cast<std::size_t>(own.rows()), 0.0);
    ProgressFn progress;
    if (ranks->rank() == 1) progress = [](const Progress& now) { return now.iteration < 5; };
    reports[static_cast<std::size_t>(ranks->rank())] = system.solve(std::vector<double>(x.size(), 1.0), x, progress);
  });
  CHECK(thrown == std::vector<std::string>(3));
  check_equal(reports);
  CHECK(reports[0].status == Status::stopped_by_caller);
  CHECK(reports[0].iterations == 5);
}

TEST_CASE("Ranks that run out of iterations end alike", "[distributed]") {
  const HostCsr a = fem_matrix("generate:diffusion:12");
  for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
    SystemOptions options = choice_of(solver, "jacobi");
    options.stop.max_iterations = 12;
    const RankSolve found = solve_on_ranks(3, a, rhs_of(a), options);
    check_equal(found.reports);
    CHECK(found.reports[0].status == Status::max_iterations);
    CHECK(found.reports[0].iterations == 12);
  }
}

TEST_CASE("A time limit ends a solve on all ranks", "[distributed]") {
  const HostCsr a = fem_matrix("generate:diffusion:12");
  SystemOptions options = choice_of("cg");
  options.stop.time_limit_seconds = 1e-9;
  const RankSolve found = solve_on_ranks(3, a, std::vector<double>(static_cast<std::size_t>(a.rows), 1.0), options);
  check_equal(found.reports);
  CHECK(found.reports[0].status == Status::time_limit);
}

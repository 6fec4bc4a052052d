// SPDX-License-Identifier: Apache-2.0
// One system on several ranks, which are threads here.
#include "tests/catch.hpp"

#include <newel/precond/fsai/fsai_options.hpp>
#include <newel/precond/spai/spai_options.hpp>
#include <newel/solver/gmres.hpp>

#include "tests/distributed/rank_support.hpp"

TEST_CASE("Ranks multiply as one does", "[distributed]") {
  for (const NamedMatrix& named : awkward_square_matrices()) {
    const HostCsr& a = named.matrix;
    const std::vector<double> x = random_vector<double>(a.rows);
    for (const int size : {1, 2, 3, 5}) {
      INFO(named.name << " on " << size << " ranks");
      std::vector<double> y(x.size(), std::nan(""));
      const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
        const OwnRows own = share_of(a, ranks->rank(), size);
        DistributedSystem<double> system(Context<host>(1), ranks, own.view(), choice_of("gmres", "none"));
        RANK_CHECK(system.rows() == own.rows());
        RANK_CHECK(system.first_row() == own.first);
        RANK_CHECK(system.all_rows() == a.rows);
        const std::vector<double> own_x = own.part_of(x);
        std::vector<double> own_y(own_x.size(), std::nan(""));
        system.multiply(own_x, own_y);
        std::copy(own_y.begin(), own_y.end(), y.begin() + own.first);
      });
      CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
      CHECK(first_outside(y, expected_product<double>(a, 1, x)) == "");
    }
  }
}

TEST_CASE("One rank has the bits of a LinearSystem", "[distributed]") {
  for (const auto& [solver, precond] : std::vector<std::pair<std::string, std::string>>{{"auto", "jacobi"},
                                                                                        {"cg", "jacobi"},
                                                                                        {"bicgstab", "jacobi"},
                                                                                        {"gmres", "jacobi"},
                                                                                        {"cg", "fsai"},
                                                                                        {"cg", "spai"},
                                                                                        {"bicgstab", "spai"},
                                                                                        {"auto", "spai"}}) {
    INFO(solver << " with " << precond);
    const HostCsr a = fem_matrix(solver == "cg" ? "generate:diffusion:9" : "generate:convection:9");
    const std::vector<double> b = rhs_of(a);
    const RankSolve shared = solve_on_ranks(1, a, b, choice_of(solver, precond));
    SystemOptions options = choice_of(solver, precond);
    options.spmv.format = "csr";
    const Context<host> ctx(1);
    const auto there = upload_matrix<double>(ctx, a);
    LinearSystem<double, host> system(ctx, there.wide(), options);
    std::vector<double> x(b.size(), 0.0);
    const SolveReport report = system.solve(b, x);
    CHECK(report.converged());
    CHECK(shared.reports[0].iterations == report.iterations);
    CHECK(shared.reports[0].history == report.history);
    CHECK(same_bits(shared.x, x));
  }
}

TEST_CASE("Several ranks solve what one solves, with about as many iterations", "[distributed]") {
  struct Case {
    std::string system, solver, precond;
  };
  for (const Case& of : {Case{"generate:diffusion:12", "cg", "jacobi"},
                         {"generate:diffusion:12", "cg", "fsai"},
                         {"generate:diffusion:12", "cg", "spai"},
                         {"generate:diffusion:12", "cg", "spai0"},
                         {"generate:diffusion:12", "minres", "l1-jacobi"},
                         {"generate:elasticity:7", "auto", "jacobi"},
                         {"generate:elasticity:7", "auto", "fsai"},
                         {"generate:elasticity:7", "cg", "auto"},
                         {"generate:convection:12", "bicgstab", "auto"},
                         {"generate:convection:12", "idrs", "spai"},
                         {"generate:convection:9", "gmres", "jacobi"},
                         {"generate:convection:9", "gmres", "spai"},
                         {"generate:convection:9", "fgmres", "spai"}}) {
    const HostCsr a = fem_matrix(of.system);
    const std::vector<double> b = rhs_of(a);
    const int alone = solve_on_ranks(1, a, b, choice_of(of.solver, of.precond)).reports[0].iterations;
    for (const int size : {2, 3, 5, 7}) {
      INFO(of.system << " by " << of.solver << " with " << of.precond << " on " << size << " ranks");
      const RankSolve found = solve_on_ranks(size, a, b, choice_of(of.solver, of.precond));
      CHECK(found.reports[0].converged());
      check_equal(found.reports);
      CHECK(residual_norm(a, found.x, b) <= 1.01e-8 * norm_oracle(b));
      CHECK(found.reports[0].true_residual == Approx(residual_norm(a, found.x, b)).epsilon(1e-6));
      // Residuals jump; another number, another choice.
      if (of.solver != "bicgstab" && of.solver != "idrs" && of.precond != "auto") {
        CHECK(std::abs(found.reports[0].iterations - alone) <= 1 + alone / 50);
      }
      const RankSolve again = solve_on_ranks(size, a, b, choice_of(of.solver, of.precond));
      CHECK(same_bits(again.x, found.x));
    }
  }
}

TEST_CASE("Ranks solve several right-hand sides as one rank solves each", "[distributed]") {
  constexpr Index columns = 11;  // more than a batch has
  for (const std::string solver : {"auto", "bicgstab"}) {
    const HostCsr a = fem_matrix("generate:diffusion:9");
    std::vector<std::vector<double>> b;
    for (Index c = 0; c < columns; ++c) b.push_back(product_oracle(a, random_vector<double>(a.rows, 3 + c)));
    for (const int size : {1, 3, 5}) {
      INFO(solver << " on " << size << " ranks");
      std::vector<std::vector<double>> x(b.size(), std::vector<double>(b[0].size()));
      std::vector<std::vector<SolveReport>> reports(static_cast<std::size_t>(size));
      const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
        const OwnRows own = share_of(a, ranks->rank(), size);
        DistributedSystem<double> system(Context<host>(1), ranks, own.view(), choice_of(solver));
        std::vector<double> own_b, own_x(static_cast<std::size_t>(columns * own.rows()), 0.0);
        for (const std::vector<double>& column : b) {
          const std::vector<double> part = own.part_of(column);
          own_b.insert(own_b.end(), part.begin(), part.end());
        }
        reports[static_cast<std::size_t>(ranks->rank())] = system.solve_columns(own_b, own_x, columns);
        for (Index c = 0; c < columns; ++c) {
          std::copy_n(own_x.begin() + c * own.rows(), own.rows(), x[static_cast<std::size_t>(c)].begin() + own.first);
        }
      });
      CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
      for (std::size_t c = 0; c < b.size(); ++c) {
        const SolveReport& report = reports[0][c];
        CHECK(report.converged());
        CHECK(residual_norm(a, x[c], b[c]) <= 1.01e-8 * norm_oracle(b[c]));
        const SolveReport alone = solve_on_ranks(size, a, b[c], choice_of(solver)).reports[0];
        CHECK(std::abs(report.iterations - alone.iterations) <= 1);
        for (const std::vector<SolveReport>& of_rank : reports) {
          CHECK(of_rank.size() == b.size());
          CHECK(of_rank[c].history == report.history);
          CHECK(of_rank[c].true_residual == report.true_residual);
          CHECK(of_rank[c].seconds == report.seconds);
        }
      }
    }
  }
}

TEST_CASE("Ranks describe the whole matrix", "[distributed]") {
  const HostCsr a = fem_matrix("generate:diffusion:9");
  const auto thrown = on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), 3);
    const DistributedSystem<double> system(Context<host>(1), ranks, own.view(), choice_of("cg", "jacobi"));
    const SystemInfo info = system.info();
    RANK_CHECK(info.matrix.name == "csr" && info.format.format == "csr");
    RANK_CHECK(info.matrix.rows == a.rows && info.matrix.cols == a.rows && info.matrix.nonzeros == a.nnz());
    RANK_CHECK(info.matrix.bytes.front().second == static_cast<std::uint64_t>(a.nnz()) * sizeof(double));
    RANK_CHECK(info.preconditioner.name == "jacobi" && info.solver == "cg");
  });
  CHECK(thrown == std::vector<std::string>(3));
}

TEST_CASE("A limit of ranks changes between solves, and must be the same on all", "[distributed]") {
  const HostCsr a = fem_matrix("generate:diffusion:9");
  const std::vector<double> b = rhs_of(a);
  const auto thrown = on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), 3);
    DistributedSystem<double> system(Context<host>(1), ranks, own.view(), choice_of("cg"));
    std::vector<double> x(static_cast<std::size_t>(own.rows()), 0.0);
    StopCriterion stop;
    stop.max_iterations = 3;
    system.set_stop_criterion(stop);
    const SolveReport report = system.solve(own.part_of(b), x);
    RANK_CHECK(report.status == Status::max_iterations && report.iterations == 3);
    stop.time_limit_seconds = 1e-9;
    stop.max_iterations = 1000;
    system.set_stop_criterion(stop);
    RANK_CHECK(system.solve(own.part_of(b), x).status == Status::time_limit);
    stop.max_iterations = ranks->rank() == 1 ? 7 : 8;
    system.set_stop_criterion(stop);
  });
  for (const std::string& what : thrown) {
    INFO(what);
    CHECK(what.find("the options of rank 1") != std::string::npos);
  }
}

TEST_CASE("Ranks solve in single precision too", "[distributed]") {
  const HostCsr a = fem_matrix("generate:diffusion:7");
  const std::vector<double> b = rhs_of(a);
  SystemOptions options = choice_of("cg", GENERATE(as<std::string>{}, "auto", "jacobi", "fsai", "spai", "spai0"));
  options.stop.rel_tol = 1e-5;
  INFO(options.precond.name);
  std::vector<double> x(b.size());
  const auto thrown = on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), 3);
    const std::vector<float> val(own.val.begin(), own.val.end());
    const RankRows<float> rows = {own.view().row_ptr, own.view().col, Span<const float, host>(val)};
    DistributedSystem<float> system(Context<host>(1), ranks, rows, options);
    const std::vector<double> part = own.part_of(b);
    const std::vector<float> own_b(part.begin(), part.end());
    std::vector<float> own_x(own_b.size(), 0.0F);
    RANK_CHECK(system.solve(own_b, own_x).converged());
    std::copy(own_x.begin(), own_x.end(), x.begin() + own.first);
  });
  CHECK(thrown == std::vector<std::string>(3));
  CHECK(residual_norm(a, x, b) <= 2e-5 * norm_oracle(b));  // with the rounding of A and b to floats
}

TEST_CASE("A singular system with the constant null space is solved on ranks", "[distributed]") {
  const HostCsr a = neumann_line(60);
  const std::vector<double> b = rhs_of(a);
  SystemOptions options = choice_of("cg");
  options.null_space = NullSpace::constant;
  const RankSolve found = solve_on_ranks(4, a, b, options);
  check_mean_free(a, found, b);
}

TEST_CASE("A right-hand side that ranks cannot reach is no solution", "[distributed]") {
  const HostCsr a = from_rows(6, Rows{{{0, 1.0}}, {{1, 2.0}}, {}, {{3, 1.0}}, {{4, 1.0}}, {{5, 3.0}}});
  const RankSolve found = solve_on_ranks(3, a, std::vector<double>(6, 1.0), choice_of("auto"));
  CHECK_FALSE(found.reports[0].converged());
  check_equal(found.reports);
}

TEST_CASE("New values on ranks are those of a new system", "[distributed]") {
  const HostCsr a = fem_matrix("generate:diffusion:7");
  HostCsr scaled = a;
  for (Offset k = 0; k < a.nnz(); ++k) scaled.val[k] *= 3;
  const std::vector<double> b = rhs_of(scaled);
  const std::string precond = GENERATE(as<std::string>{}, "jacobi", "l1-jacobi", "fsai", "spai", "spai0");
  INFO(precond);
  const RankSolve anew = solve_on_ranks(3, scaled, b, choice_of("cg", precond));
  std::vector<double> x(b.size());
  const auto thrown = on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows first = share_of(a, ranks->rank(), 3), second = share_of(scaled, ranks->rank(), 3);
    DistributedSystem<double> system(Context<host>(1), ranks, first.view(), choice_of("cg", precond));
    std::vector<double> own_x(static_cast<std::size_t>(first.rows()), 0.0);
    RANK_CHECK(system.solve(first.part_of(b), own_x).converged());
    system.refresh(second.val);
    std::fill(own_x.begin(), own_x.end(), 0.0);
    RANK_CHECK(system.solve(first.part_of(b), own_x).iterations == anew.reports[0].iterations);
    std::copy(own_x.begin(), own_x.end(), x.begin() + first.first);
  });
  CHECK(thrown == std::vector<std::string>(3));
  CHECK(same_bits(x, anew.x));
}

TEST_CASE("Ranks whose rows all read from other ranks take new values", "[distributed]") {
  const HostCsr a = tridiagonal_matrix(4);  // with one row a rank
  HostCsr scaled = a;
  for (Offset k = 0; k < a.nnz(); ++k) scaled.val[k] *= 3;
  const std::vector<double> b = rhs_of(scaled);
  std::vector<double> x(4);
  const auto thrown = on_ranks(4, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows first(a, ranks->rank(), 1), second(scaled, ranks->rank(), 1);
    DistributedSystem<double> system(Context<host>(1), ranks, first.view(), choice_of("cg"));
    system.refresh(second.val);
    std::vector<double> own_x(1, 0.0);
    RANK_CHECK(system.solve(first.part_of(b), own_x).converged());
    x[static_cast<std::size_t>(ranks->rank())] = own_x[0];
  });
  CHECK(thrown == std::vector<std::string>(4));
  CHECK(residual_norm(scaled, x, b) <= 1.01e-8 * norm_oracle(b));
}

TEST_CASE("Ranks apply the preconditioner as one does", "[distributed]") {
  HostCsr a = fem_matrix("generate:diffusion:7");
  const std::vector<double> r = random_vector<double>(a.rows, 5);
  for (const std::string precond : {"jacobi", "none"}) {
    std::vector<double> z(r.size(), 7.0);
    const auto thrown = on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
      const OwnRows own = share_of(a, ranks->rank(), 3);
      DistributedSystem<double> system(Context<host>(1), ranks, own.view(), choice_of("cg", precond));
      std::vector<double> own_z(static_cast<std::size_t>(own.rows()), 7.0);
      RANK_CHECK(system.info().preconditioner.name == precond);
      system.precondition(own.part_of(r), own_z);
      std::copy(own_z.begin(), own_z.end(), z.begin() + own.first);
    });
    CHECK(thrown == std::vector<std::string>(3));
    for (Index i = 0; i < a.rows; ++i) {
      double diagonal = 1;
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        if (a.col[k] == i && precond == "jacobi") diagonal = a.val[k];
      }
      CHECK(z[static_cast<std::size_t>(i)] == Approx(r[static_cast<std::size_t>(i)] / diagonal).epsilon(1e-15));
    }
  }
}

TEST_CASE("Blocks that need no other rank take new values too", "[distributed]") {
  HostCsr a = from_rows(4, Rows{{{0, 2.0}, {1, 1.0}}, {{0, 1.0}, {1, 2.0}}, {{2, 3.0}}, {{3, 4.0}}});
  const std::vector<double> b = {1, 2, 3, 4};
  std::vector<double> x(4);
  const auto thrown = on_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), 2);
    DistributedSystem<double> system(Context<host>(1), ranks, own.view(), choice_of("cg"));
    std::vector<double> twice = own.val, own_x(static_cast<std::size_t>(own.rows()), 0.0);
    for (double& value : twice) value *= 2;
    system.refresh(twice);
    RANK_CHECK(system.solve(own.part_of(b), own_x).converged());
    std::copy(own_x.begin(), own_x.end(), x.begin() + own.first);
  });
  CHECK(thrown == std::vector<std::string>(2));
  for (double& value : a.val) value *= 2;
  CHECK(residual_norm(a, x, b) <= 1.01e-8 * norm_oracle(b));
}

TEST_CASE("Ranks agree on what auto chooses, and say why", "[distributed]") {
  const auto chosen = [](int size, const HostCsr& a, const SystemOptions& options) {
    std::vector<std::string> names(static_cast<std::size_t>(size)), reasons(names);
    const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
      const OwnRows own = share_of(a, ranks->rank(), size);
      const DistributedSystem<double> system(Context<host>(1), ranks, own.view(), options);
      const SystemInfo info = system.info();
      names[static_cast<std::size_t>(ranks->rank())] = info.preconditioner.name;
      reasons[static_cast<std::size_t>(ranks->rank())] = info.preconditioner_reason.text();
    });
    for (const std::string& what : thrown) CHECK(what == "");
    for (const std::string& name : names) CHECK(name == names[0]);
    for (const std::string& reason : reasons) CHECK(reason == reasons[0]);
    return names[0] + ": " + reasons[0];
  };
  SystemOptions many;
  many.expected_products = 1e6;  // whatever takes fewer iterations is worth its setup
  HostCsr indefinite = fem_matrix("generate:diffusion:9");
  for (Index i = 0; i < indefinite.rows; i += 40) {
    for (Offset k = indefinite.row_ptr[i]; k < indefinite.row_ptr[i + 1]; ++k) {
      if (indefinite.col[k] == i) indefinite.val[k] *= 0.01;
    }
  }
  for (const int size : {1, 3, 5}) {
    INFO(size << " ranks");
    CHECK(chosen(size, tridiagonal_matrix(3), {}).rfind("jacobi: ", 0) == 0);
    CHECK(chosen(size, fem_matrix("generate:diffusion:12"), many).rfind("fsai: ", 0) == 0);
    CHECK(chosen(size, indefinite, many).rfind("jacobi: ", 0) == 0);
  }
}

TEST_CASE("Guesses that differ in kind between ranks are one guess", "[distributed]") {
  const HostCsr a = fem_matrix("generate:diffusion:9");
  const std::vector<double> b = rhs_of(a), guess = random_vector<double>(a.rows, 5);
  const auto solved = [&](bool named) {
    std::vector<double> x(b.size());
    const auto thrown = on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
      const OwnRows own = share_of(a, ranks->rank(), 3);
      DistributedSystem<double> system(Context<host>(1), ranks, own.view(), choice_of("cg", "jacobi"));
      const bool zero = ranks->rank() == 0;  // the others have a guess
      std::vector<double> own_x = own.part_of(guess);
      if (zero && !named) std::fill(own_x.begin(), own_x.end(), 0.0);
      const InitialGuess kind = zero && named ? InitialGuess::zero : InitialGuess::in_x;
      RANK_CHECK(system.solve(own.part_of(b), own_x, {}, kind).converged());
      std::copy(own_x.begin(), own_x.end(), x.begin() + own.first);
    });
    CHECK(thrown == std::vector<std::string>(3));
    return x;
  };
  const std::vector<double> x = solved(true);
  CHECK(same_bits(x, solved(false)));
  CHECK(residual_norm(a, x, b) <= 1.01e-8 * norm_oracle(b));
}

TEST_CASE("Ranks begin solves of a sequence with guesses from past solutions", "[distributed][guess]") {
  const HostCsr a = fem_matrix("generate:diffusion:9");
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<std::vector<double>> span;
  for (const double wave : {3.0, 7.0, 12.0}) {
    std::vector<double> v(n);
    for (std::size_t i = 0; i < n; ++i)
      v[i] = std::sin(wave * static_cast<double>(i) / static_cast<double>(n) + wave);
    span.push_back(std::move(v));
  }
  SystemOptions options = choice_of("cg", "jacobi");
  options.solver.of<GuessOptions>().guess = "project:3";
  for (const int size : {1, 2, 3, 5}) {
    const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
      const OwnRows own = share_of(a, ranks->rank(), size);
      DistributedSystem<double> system(Context<host>(1), ranks, own.view(), options);
      std::vector<double> x(static_cast<std::size_t>(own.rows()), 0.0);
      for (int step = 0; step < 6; ++step) {
        StopCriterion stop;
        stop.rel_tol = step < 3 ? 1e-12 : 1e-8;
        system.set_stop_criterion(stop);
        std::vector<double> solution(n, 0.0);
        for (std::size_t k = 0; k < 3; ++k) {
          const double factor = std::cos(static_cast<double>((k + 1) * (k + 1)) * (step + 1.0));
          for (std::size_t i = 0; i < n; ++i) solution[i] += factor * span[k][i];
        }
        const SolveReport report = system.solve(own.part_of(product_oracle(a, solution)), x);
        RANK_CHECK(report.converged());
        RANK_CHECK((report.iterations == 0) == (step >= 3));
        for (Index i = 0; i < own.rows(); ++i) {
          RANK_CHECK(std::fabs(x[static_cast<std::size_t>(i)] - solution[static_cast<std::size_t>(own.first + i)]) <
                     1e-5);
        }
      }
    });
    CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
  }
}

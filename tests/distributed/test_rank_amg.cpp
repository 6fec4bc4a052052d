// SPDX-License-Identifier: Apache-2.0
// Solves with AMG on ranks: iterations beside one rank's, bits, new values, and what is refused.
#include "distributed/precond/amg/rank_amg.hpp"

#include "tests/catch.hpp"

#include <newel/distributed/team_system.hpp>
#include <newel/solver/linear_system.hpp>

#include "tests/distributed/amg_rank_support.hpp"
#include "tests/distributed/precond_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

SystemOptions amg_choice(const AmgCase& of) {
  SystemOptions options = choice_of(of.name.find("convection") == std::string::npos ? "cg" : "bicgstab", "amg");
  options.spmv.format = "csr";
  options.spmv.coordinates = of.coordinates;
  return options;
}

MatrixInput<double, host> input_of(const HostCsr& a) {
  return MatrixInput<double, host>::csr(a.rows, a.cols, a.row_ptr, a.col, a.val);
}

struct Solved {
  std::vector<double> x;
  SolveReport report;
  SystemInfo info;
};

Solved on_one(const AmgCase& of, const SystemOptions& options) {
  const Context<host> ctx(1);
  LinearSystem<double, host> system(ctx, input_of(of.matrix), options);
  Solved found{std::vector<double>(static_cast<std::size_t>(of.matrix.rows), 0.0), {}, {}};
  found.report = system.solve(rhs_of(of.matrix), found.x);
  found.info = system.info();
  return found;
}

Solved on_team(int size, const AmgCase& of, const SystemOptions& options) {
  std::vector<Context<host>> contexts;
  for (int r = 0; r < size; ++r) contexts.emplace_back(1);
  TeamSystem<double, host> system(contexts, input_of(of.matrix), options);
  Solved found{std::vector<double>(static_cast<std::size_t>(of.matrix.rows), 0.0), {}, {}};
  found.report = system.solve(rhs_of(of.matrix), found.x);
  found.info = system.info();
  return found;
}

// y = M x on ranks that gather levels of `most_gathered` rows; of `changed` after a refresh.
std::vector<double> cycle_on(int size, const AmgCase& of, const PrecondOptions& options, const std::vector<double>& x,
                             std::int64_t most_gathered, const HostCsr* changed = nullptr) {
  std::vector<double> y(x.size(), std::nan(""));
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const AmgShare own(of, ranks);
    detail::DistributedOperator<double> A(own.ctx, own.rows, own.first_rows, detail::RankFormat::csr);
    const std::vector<Index> order = to_vector(own.ctx, A.order().old_of_new.cspan());
    detail::RankMatrix<double> matrix = own.matrix();
    matrix.old_of_new = Span<const Index, host>(order);
    detail::RankAmg<double> M(own.ctx, A, matrix, options, most_gathered);
    if (changed != nullptr) {
      const std::vector<double> values = own.values_of(*changed);
      A.refresh(own.ctx, Span<const double, host>(values));
      M.refresh(own.ctx, Span<const double, host>(values));
    }
    const auto old = [&](std::size_t i) { return order.empty() ? i : static_cast<std::size_t>(order[i]); };
    const std::vector<double> own_x = own.own.part_of(x);
    std::vector<double> in(own_x.size()), out(own_x.size(), std::nan("")), twice(out), sum(own_x.size(), 1.0);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = own_x[old(i)];
    M.apply(own.ctx, 1, Span<const double, host>(in), 0, Span<double, host>(out));
    double xy = 0, expected = 0;
    M.apply_dot(own.ctx, Span<const double, host>(in), Span<double, host>(twice), &xy);
    RANK_CHECK(same_bits(out, twice));
    dot<double, host>(own.ctx, Span<const double, host>(in), Span<const double, host>(out), &expected);
    RANK_CHECK(std::fabs(xy - expected) <= 1e-12 * std::fabs(expected));
    M.apply(own.ctx, 2, Span<const double, host>(in), 3, Span<double, host>(sum));
    for (std::size_t i = 0; i < in.size(); ++i) {
      RANK_CHECK(std::fabs(sum[i] - (2 * out[i] + 3)) <= 1e-14 * (std::fabs(2 * out[i]) + 3));
      y[static_cast<std::size_t>(own.own.first) + old(i)] = out[i];
    }
  });
  for (const std::string& what : thrown) {
    if (!what.empty()) throw std::runtime_error(what);
  }
  return y;
}

PrecondOptions cycle_options(AmgPrecision precision = AmgPrecision::system) {
  PrecondOptions options;
  options.name = "amg";
  options.symmetric = true;
  options.of<AmgOptions>().precision = precision;
  return options;
}

double product(const std::vector<double>& x, const std::vector<double>& y) {
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<long double>(x[i]) * y[i];
  return static_cast<double>(sum);
}

}  // namespace

TEST_CASE("AMG on ranks takes hardly more iterations than on one", "[distributed][amg]") {
  for (const AmgCase& of : {grid_case(90, 90, 1), fem_case("generate:grid7:20"), fem_case("generate:elasticity:12"),
                            fem_case("generate:diffusion:19"), grid_case(100, 60, 0.01)}) {
    const SystemOptions options = amg_choice(of);
    REQUIRE(of.matrix.rows > detail::gathered_rows);
    const int one = on_one(of, options).report.iterations;
    for (const int size : {2, 3, 5, 7}) {
      INFO(of.name << " on " << size << " ranks, " << one << " iterations on one");
      const Solved found = on_team(size, of, options);
      INFO(found.info.preconditioner.detail);
      CHECK(contains(found.info.preconditioner.detail, "on ranks"));
      CHECK(found.report.converged());
      CHECK(residual_norm(of.matrix, found.x, rhs_of(of.matrix)) <= 1.01e-8 * norm_oracle(rhs_of(of.matrix)));
      CHECK(found.report.iterations <= 1.2 * one + 1);
      CHECK(same_bits(found.x, on_team(size, of, options).x));
    }
  }
}

TEST_CASE("AMG on one rank has the bits of a LinearSystem", "[distributed][amg]") {
  for (const AmgCase& of :
       {grid_case(80, 70, 1), fem_case("generate:elasticity:6"), fem_case("generate:convection:9")}) {
    INFO(of.name);
    const Solved one = on_one(of, amg_choice(of)), team = on_team(1, of, amg_choice(of));
    CHECK(team.report.iterations == one.report.iterations);
    CHECK(same_bits(team.x, one.x));
  }
}

TEST_CASE("AMG of a small system has the same M on any number of ranks", "[distributed][amg]") {
  const AmgCase of = fem_case("generate:elasticity:5");
  const int one = on_one(of, amg_choice(of)).report.iterations;
  for (const int size : {2, 3, 5}) CHECK(std::abs(on_team(size, of, amg_choice(of)).report.iterations - one) <= 1);
  for (const Index rows : {1, 2, 7}) {
    const AmgCase line{"line", tridiagonal_matrix(rows)};
    for (const int size : {1, 2, 7, 9}) {
      const RankSolve found = solve_on_ranks(size, line.matrix, rhs_of(line.matrix), choice_of("cg", "amg"));
      check_equal(found.reports);
      CHECK(found.reports[0].converged());
    }
  }
}

TEST_CASE("A cycle on ranks is symmetric and positive definite", "[distributed][amg]") {
  for (const AmgCase& of : amg_cases()) {
    if (of.name.find("convection") != std::string::npos) continue;
    const std::vector<double> x = random_vector<double>(of.matrix.rows, 5),
                              y = random_vector<double>(of.matrix.rows, 6);
    for (const int size : {2, 3, 8}) {
      INFO(of.name << " on " << size << " ranks");
      const std::vector<double> mx = cycle_on(size, of, cycle_options(), x, 40),
                                my = cycle_on(size, of, cycle_options(), y, 40);
      CHECK(std::fabs(product(y, mx) - product(x, my)) <= 1e-12 * norm_oracle(mx) * norm_oracle(y));
      CHECK(product(x, mx) > 0);
      const std::vector<double> low = cycle_on(size, of, cycle_options(AmgPrecision::single), x, 40);
      CHECK_FALSE(same_bits(low, mx));
      std::vector<double> difference = low;
      for (std::size_t i = 0; i < low.size(); ++i) difference[i] -= mx[i];
      CHECK(norm_oracle(difference) <= 1e-4 * norm_oracle(mx));
    }
  }
}

TEST_CASE("Smoothers of AMG on ranks may be sparse matrices", "[distributed][amg]") {
  for (const AmgSmoother smoother : {AmgSmoother::jacobi, AmgSmoother::fsai, AmgSmoother::spai}) {
    const AmgCase of = fem_case("generate:elasticity:12");
    SystemOptions options = amg_choice(of);
    options.precond.of<AmgOptions>().smoother = smoother;
    const int one = on_one(of, options).report.iterations;
    const Solved found = on_team(3, of, options);
    INFO(found.info.preconditioner.detail << ", " << one << " iterations on one rank");
    CHECK(found.report.converged());
    CHECK(found.report.iterations <= 1.2 * one + 1);
  }
  const AmgCase wind = fem_case("generate:convection:20");
  const Solved found = on_team(3, wind, amg_choice(wind));
  CHECK(contains(found.info.preconditioner.detail, "spai"));
  CHECK(found.report.converged());
}

TEST_CASE("New values of AMG on ranks", "[distributed][amg]") {
  for (const AmgCase& of : amg_cases()) {
    AmgCase changed = of;
    for (Index i = 0; i < of.matrix.rows; ++i) {
      for (Offset k = of.matrix.row_ptr[i]; k < of.matrix.row_ptr[i + 1]; ++k) {
        if (of.matrix.col[k] == i) changed.matrix.val[k] *= 1 + 0.01 * (i % 3);
      }
    }
    const std::vector<double> x = random_vector<double>(of.matrix.rows, 5);
    for (const AmgRefresh scope : {AmgRefresh::full, AmgRefresh::galerkin, AmgRefresh::keep}) {
      PrecondOptions options = cycle_options();
      options.symmetric = false;  // whether a level is solved by two cycles is decided once
      options.of<AmgOptions>().theta = 0;
      options.of<AmgOptions>().smoother = AmgSmoother::chebyshev;
      options.of<AmgOptions>().refresh = scope;
      INFO(of.name << ", scope " << static_cast<int>(scope));
      const std::vector<double> refreshed = cycle_on(3, of, options, x, 40, &changed.matrix);
      const std::vector<double> made = cycle_on(3, changed, options, x, 40);
      CHECK(same_bits(refreshed, made) == (scope == AmgRefresh::full));
      if (scope == AmgRefresh::galerkin) {
        std::vector<double> difference = refreshed;
        for (std::size_t i = 0; i < made.size(); ++i) difference[i] -= made[i];
        CHECK(norm_oracle(difference) <= 0.05 * norm_oracle(made));
      }
    }
  }
}

TEST_CASE("AMG on ranks solves singular systems", "[distributed][amg]") {
  const Index n = 75;
  Rows rows(static_cast<std::size_t>(n * n));
  for (Index i = 0; i < n * n; ++i) {
    for (const auto& [inside, j] :
         {std::pair(i % n > 0, i - 1), {i % n + 1 < n, i + 1}, {i >= n, i - n}, {i + n < n * n, i + n}}) {
      if (!inside) continue;
      rows[i][j] = -1;
      rows[i][i] += 1;
    }
  }
  const AmgCase of{"free grid", from_rows(n * n, rows)};
  SystemOptions options = choice_of("cg", "amg");
  options.null_space = NullSpace::constant;
  const int one = on_one(of, options).report.iterations;
  for (const int size : {2, 5}) {
    const RankSolve found = solve_on_ranks(size, of.matrix, rhs_of(of.matrix), options);
    check_mean_free(of.matrix, found, rhs_of(of.matrix));
    CHECK(found.reports[0].iterations <= 1.2 * one + 1);
  }
}

TEST_CASE("What AMG on ranks refuses is refused by all", "[distributed][amg]") {
  AmgCase of = grid_case(80, 80, 1);
  for (Offset k = of.matrix.row_ptr[5000]; k < of.matrix.row_ptr[5001]; ++k) {
    if (of.matrix.col[k] == 5000) of.matrix.val[k] = 0;
  }
  const auto refused = [&](const std::function<void(int, SystemOptions&)>& change) {
    return on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
      const AmgShare own(of, ranks);
      SystemOptions options = choice_of("cg", "amg");
      change(ranks->rank(), options);
      DistributedSystem<double> system(Context<host>(1), ranks, own.rows, options);
    });
  };
  const auto all_say = [](const std::vector<std::string>& thrown, const std::string& what) {
    for (const std::string& text : thrown) {
      INFO(text);
      CHECK(contains(text, what));
    }
  };
  all_say(refused([](int, SystemOptions&) {}), "row 5000");
  all_say(refused([](int, SystemOptions& o) { o.precond.of<AmgOptions>().numbering = AmgNumbering::by_component; }),
          "adjacent");
  all_say(refused([](int r, SystemOptions& o) { o.precond.of<AmgOptions>().node_rows = r == 0 ? 3 : 1; }),
          "of rank 2");
  all_say(refused([](int r, SystemOptions& o) {
            if (r == 2) o.precond.of<AmgOptions>().vectors = std::make_shared<NearNullVectors>();
          }),
          "near-null vectors");
}

TEST_CASE("A rank's part of AMG becomes smaller with their number", "[distributed][amg]") {
  const AmgCase of = fem_case("generate:grid7:32");
  std::vector<double> most, gathered;
  for (const int size : {2, 4, 8}) {
    std::vector<double> bytes(static_cast<std::size_t>(size)), of_gathered(bytes);
    const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
      OwnRows own(of.matrix, of.matrix.rows / size * ranks->rank(), of.matrix.rows / size);
      DistributedSystem<double> system(Context<host>(1), ranks, own.view(), choice_of("cg", "amg"));
      const auto r = static_cast<std::size_t>(ranks->rank());
      for (const auto& [part, size_of_part] : system.info().preconditioner.bytes) {
        (part == "gathered levels" ? of_gathered : bytes)[r] += static_cast<double>(size_of_part);
      }
    });
    CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
    most.push_back(*std::max_element(bytes.begin(), bytes.end()));
    gathered.push_back(*std::max_element(of_gathered.begin(), of_gathered.end()));
  }
  CHECK(most[1] <= 0.6 * most[0]);
  CHECK(most[2] <= 0.6 * most[1]);
  CHECK(gathered[2] <= 2 * gathered[0]);
}

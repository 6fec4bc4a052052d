// SPDX-License-Identifier: Apache-2.0
// SPAI as an operator: refreshed, renumbered, made symmetric, grown, in every format, and under the solvers.
#include "tests/catch.hpp"
#include "tests/solver/options.hpp"
#include "tests/precond/spai_support.hpp"

#include <newel/precond/pattern_options.hpp>
#include <newel/solver/linear_system.hpp>
#include "precond/spai/adaptive.hpp"
#include "precond/spai/spai_layout.hpp"

namespace {

HostCsr changed(const HostCsr& a) {
  HostCsr b = a;
  for (double& value : b.val) value = static_cast<float>(value * 1.375 + 0.0625);
  return b;
}

// Every kind that has a path of its own.
std::vector<PrecondOptions> all_kinds() {
  std::vector<PrecondOptions> all;
  for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
    all.push_back(spai_options(side, 1, "spai0"));
    all.push_back(spai_options(side));
    all.push_back(spai_options(side, 2));
    all.push_back(spai_options(side));
    all.back().symmetric = true;
  }
  return all;
}

std::string name_of(const PrecondOptions& o) {
  const SpaiOptions& own = o.of<SpaiOptions>();
  return o.name + (own.side == PrecondSide::left ? " left" : " right") + " " + std::to_string(own.power) +
         (o.symmetric ? " symmetric" : "");
}

template <class T, Space S>
void check_refresh(const PrecondOptions& options) {
  INFO(name_of(options));
  const auto ctx = make_context<S>();
  const HostCsr a = dominant_matrix(150), b = changed(a);
  const auto at_a = upload_matrix<T>(ctx, a), at_b = upload_matrix<T>(ctx, b);
  const auto refreshed = spai<T, S>(ctx, at_a.narrow(), options);
  const std::uint64_t allocations = ctx.memory()->use().allocations;
  refreshed->refresh(ctx, at_b.matrix.val.cspan());
  CHECK(ctx.memory()->use().allocations == allocations);
  const auto rebuilt = spai<T, S>(ctx, at_b.wide(), options);
  CHECK(eigen_of(ctx, *refreshed) == eigen_of(ctx, *rebuilt));
  CHECK(figure(refreshed->info(), "residual norm") == figure(rebuilt->info(), "residual norm"));
  CHECK_THROWS_AS(refreshed->refresh(ctx, at_b.matrix.val.cspan().subspan(0, 5)), InputError);

  const RowOrder<S> order = make_row_order(ctx, random_order(a.rows, 8));
  const auto a_new = permute(ctx, at_a.wide(), order), b_new = permute(ctx, at_b.wide(), order);
  const auto permuted = spai<T, S>(ctx, a_new.view(), options, order);
  permuted->refresh(ctx, at_b.matrix.val.cspan());
  CHECK(eigen_of(ctx, *permuted) == eigen_of(ctx, *spai<T, S>(ctx, b_new.view(), options, order)));
}

}  // namespace

TEST_BOTH("SPAI refreshed is SPAI rebuilt, bit for bit, also in another order", "[precond][spai]") {
  for (const PrecondOptions& options : all_kinds()) {
    check_refresh<double, S>(options);
    check_refresh<float, S>(options);
  }
}

TEST_BOTH("SPAI made symmetric is half the sum of itself and its transpose", "[precond][spai]") {
  for (const HostCsr& a : {dominant_matrix(150), fem_matrix("generate:diffusion:4")}) {
    const auto there = upload_matrix<double>(ctx, a);
    for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
      PrecondOptions options = spai_options(side);
      const EigenMatrix m = eigen_of(ctx, *spai<double, S>(ctx, there.wide(), options));
      options.symmetric = true;
      const EigenMatrix s = eigen_of(ctx, *spai<double, S>(ctx, there.wide(), options));
      CHECK(s == s.transpose());
      CHECK((2 * s - m - m.transpose()).norm() <= 1e-15 * m.norm());
    }
  }
}

TEST_BOTH("SPAI is applied in every format of the table", "[precond][spai]") {
  const HostCsr a = fem_matrix("generate:elasticity:3");
  const auto there = upload_matrix<double>(ctx, a);
  const EigenMatrix expected = eigen_of(ctx, *spai<double, S>(ctx, there.wide(), spai_options()));
  const std::vector<double> x = random_vector<double>(a.rows);
  EigenVector at(a.rows);
  for (Index i = 0; i < a.rows; ++i) at(i) = x[i];
  const EigenVector product = expected * at;
  for (const SpmvFormat& format : spmv_formats()) {
    if (format.make.template get<double, S>() == nullptr) continue;
    INFO(format.name);
    PrecondOptions options = spai_options();
    options.format = format.name;
    const auto m = spai<double, S>(ctx, there.wide(), options);
    CHECK(contains(m->info().detail, format.name));
    const auto there_x = upload(ctx, x);
    auto y = poisoned<double>(ctx, a.rows);
    auto xy = poisoned<double>(ctx, 1);
    m->apply_dot(ctx, there_x.cspan(), y.span(), xy.data());
    const std::vector<double> found = download(ctx, y);
    long double worst = 0;
    for (Index i = 0; i < a.rows; ++i) worst = std::max(worst, std::fabs(found[i] - product(i)));
    CHECK(worst <= 1e-14 * product.norm());
    CHECK(fetch(ctx, xy.data()) == Approx(static_cast<double>(at.dot(product))));
  }
}

TEST_CASE("SPAI has the same bits whatever the number of threads", "[precond][spai]") {
  const HostCsr a = dominant_matrix(700);
  const auto one = make_context<Space::host>(1), three = make_context<Space::host>(3);
  const auto in_one = upload_matrix<double>(one, a), in_three = upload_matrix<double>(three, a);
  PrecondOptions adaptive = spai_options();
  adaptive.of<SpaiOptions>().adaptive = 0.05;
  for (const PrecondOptions& options : {spai_options(), spai_options(PrecondSide::left, 2), adaptive}) {
    const auto x = random_vector<double>(a.rows);
    CHECK(eigen_of(one, *spai<double, Space::host>(one, in_one.wide(), options)) ==
          eigen_of(three, *spai<double, Space::host>(three, in_three.wide(), options)));
  }
}

TEST_BOTH("Grown patterns bring every residual under epsilon or end at their limit", "[precond][spai]") {
  for (const HostCsr& a : {fem_matrix("generate:diffusion:5"), dominant_matrix(300)}) {
    const EigenMatrix d = eigen_of(a);
    const auto there = upload_matrix<double>(ctx, a);
    double last_density = 0;
    for (const double epsilon : {2.0, 0.6, 0.4, 0.2}) {
      INFO("epsilon " << epsilon);
      for (const PrecondSide side : {PrecondSide::left, PrecondSide::right}) {
        PrecondOptions options = spai_options(side);
        options.of<SpaiOptions>().adaptive = epsilon;
        const auto grown = spai<double, S>(ctx, there.wide(), options);
        const EigenMatrix m = eigen_of(ctx, *grown);
        const EigenMatrix rest = side == PrecondSide::right ? EigenMatrix(d * m) : EigenMatrix((m * d).transpose());
        for (Index j = 0; j < a.rows; ++j) {
          const long double residual = (rest.col(j) - EigenMatrix::Identity(a.rows, a.rows).col(j)).norm();
          const auto entries =
              side == PrecondSide::right ? (m.col(j).array() != 0).count() : (m.row(j).array() != 0).count();
          CHECK((residual <= epsilon + 1e-10 || entries >= detail::AdaptiveLimits{}.most_columns));
        }
        if (side == PrecondSide::left) continue;
        const double density = figure(grown->info(), "density");
        CHECK(density >= last_density);
        last_density = density;
        const EigenMatrix before = m;
        grown->refresh(ctx, there.matrix.val.cspan());
        CHECK(eigen_of(ctx, *grown) == before);
        if (epsilon != 2.0) continue;
        const EigenMatrix diagonal =
            eigen_of(ctx, *spai<double, S>(ctx, there.wide(), spai_options(side, 1, "spai0")));
        CHECK(m == diagonal);
      }
    }
  }
}

TEST_BOTH("A pattern may grow around zeros on the diagonal", "[precond][spai]") {
  MapRows rows(60);
  for (Index i = 0; i < 60; ++i) {
    rows[i][(i + 1) % 60] = 3;
    rows[i][(i + 2) % 60] = 0.25;
  }
  const HostCsr a = from_rows(60, rows);
  const auto there = upload_matrix<double>(ctx, a);
  PrecondOptions options = spai_options();
  options.of<SpaiOptions>().adaptive = 0.1;
  const auto m = spai<double, S>(ctx, there.wide(), options);
  CHECK(figure(m->info(), "worst local residual") <= 0.1);
  CHECK(figure(m->info(), "diagonal fallbacks") == 0);
}

TEST_BOTH("Dropping small entries makes the pattern smaller and counts all values", "[precond][spai]") {
  const HostCsr a = fem_matrix("generate:diffusion:4");
  const auto there = upload_matrix<double>(ctx, a);
  PrecondOptions options = spai_options();
  const auto whole = spai<double, S>(ctx, there.wide(), options);
  options.of<PatternOptions>().drop = 0.05;
  const auto dropped = spai<double, S>(ctx, there.wide(), options);
  CHECK(dropped->info().nonzeros < whole->info().nonzeros);
  const EigenMatrix rest = eigen_of(a) * eigen_of(ctx, *dropped) - EigenMatrix::Identity(a.rows, a.rows);
  CHECK(figure(dropped->info(), "residual norm") == Approx(static_cast<double>(rest.norm())));
}

TEST_CASE("Dense rows do not swell the problems that meet them", "[precond][spai]") {
  const Context<Space::host> ctx(2);
  const HostCsr a = arrow_matrix(300);
  const auto there = upload_matrix<double>(ctx, a);
  const Pattern<Space::host> pattern(there.wide());
  const auto whole = detail::make_spai_layout(ctx, pattern, detail::power_of(ctx, pattern, 1));
  CHECK(whole.limited == 0);
  CHECK(whole.most_rows == 300);
  const auto thin = detail::make_spai_layout(ctx, pattern, detail::power_of(ctx, pattern, 1), {299, 1 << 20});
  CHECK(thin.limited == 300);
  CHECK(thin.most_columns == 1);
  CHECK(thin.pattern.nnz() == 300);
  const auto small = detail::make_spai_layout(ctx, pattern, detail::power_of(ctx, pattern, 1), {4096, 2000});
  CHECK(small.limited == 1);
  CHECK(small.pattern.row_length(0) == 1);
  CHECK(small.pattern.row_length(1) == 2);
  CHECK(small.most_values <= 2000);
}

namespace {

template <Space S>
SolveReport solve_with(const Context<S>& ctx, const HostCsr& a, const std::string& solver,
                       const PrecondOptions& precond) {
  SystemOptions options = system_options(solver);
  options.precond = precond;
  options.stop.max_iterations = 3000;
  const auto there = upload_matrix<double>(ctx, a);
  LinearSystem<double, S> system(ctx, there.wide(), options);
  return checked_solve(ctx, system, a, product_oracle(a, random_vector<double>(a.rows, 5)));
}

}  // namespace

TEST_BOTH("With SPAI the solvers take fewer iterations than with Jacobi", "[precond][spai][solver]") {
  PrecondOptions jacobi;
  for (const auto& [solver, spec] : std::vector<std::pair<std::string, std::string>>{
           {"cg", "generate:diffusion:9"}, {"cg", "generate:elasticity:4"}, {"bicgstab", "generate:diffusion:9"}}) {
    INFO(solver << " on " << spec);
    const HostCsr a = fem_matrix(spec);
    const SolveReport with_jacobi = solve_with<S>(ctx, a, solver, jacobi);
    const SolveReport with_spai = solve_with<S>(ctx, a, solver, spai_options());
    REQUIRE(with_jacobi.converged());
    REQUIRE(with_spai.converged());
    CHECK(with_spai.iterations < with_jacobi.iterations);
    CHECK(solve_with<S>(ctx, a, solver, spai_options(PrecondSide::right, 1, "spai0")).converged());
  }
}

TEST_BOTH("SPAI solves a system whose diagonal is zero", "[precond][spai][solver]") {
  MapRows rows(200);
  for (Index i = 0; i < 200; ++i) {
    rows[i][(i + 1) % 200] = 3;
    rows[i][(i + 2) % 200] = 0.25;
    rows[i][(i + 199) % 200] = -0.5;
  }
  PrecondOptions options = spai_options(PrecondSide::right, 2);
  options.of<SpaiOptions>().adaptive = 0.2;
  CHECK(solve_with<S>(ctx, from_rows(200, rows), "gmres", options).converged());
}

TEST_BOTH("CG names SPAI where (M + M^T)/2 is not positive definite", "[precond][spai][solver]") {
  // Positive definite, the least eigenvalue 0.12; that of (M + M^T)/2 is -0.72 (numpy).
  const double entry[5][5] = {
      {5, -9, -2, 0, 0}, {-9, 27, -3, -12, 0}, {-2, -3, 6, 6, -1}, {0, -12, 6, 21, 0}, {0, 0, -1, 0, 5}};
  MapRows rows(5);
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 5; ++j) {
      if (entry[i][j] != 0) rows[i][j] = entry[i][j];
    }
  }
  const auto ctx = make_context<S>();
  const HostCsr a = from_rows(5, rows);
  const SolveReport report = solve_with<S>(ctx, a, "cg", spai_options());
  CHECK(report.status == Status::not_positive_definite);
  CHECK(contains(report.reason, "the preconditioner spai, as computed, is not positive definite"));
  // Left to itself, the system continues with a solver that does not mind.
  CHECK(solve_with<S>(ctx, a, "auto", spai_options()).converged());
}

// SPDX-License-Identifier: Apache-2.0
// Incomplete factors as an operator: pivots, refreshes, threads, columns, sweeps, refusals.
#include <newel/solver/linear_system.hpp>

#include "tests/precond/incomplete_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

std::vector<PrecondOptions> all_factors(const FactorOptions& factors = FactorOptions{FactorOrder::natural}) {
  return {named("ilu", IluOptions{0}, factors), named("ilu", IluOptions{2}, factors),
          named("ilut", IlutOptions{1e-2, 4}, factors), named("ic", IcOptions{1}, factors)};
}

template <class T>
bool all_finite(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
}

double figure(const OperatorInfo& info, const char* name) { return info.figure(name).value_or(-1); }

HostCsr scaled_values(HostCsr a) {
  Random random(11);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.col[k] == i) a.val[k] *= 1.5;
    }
  }
  return a;
}

// Symmetric positive definite; IC(0) meets a pivot of -5 (D. S. Kershaw, J. Comput. Phys. 26, 1978).
HostCsr kershaw() {
  return from_rows(4, MapRows{{{0, 3}, {1, -2}, {3, 2}},
                              {{0, -2}, {1, 3}, {2, -2}},
                              {{1, -2}, {2, 3}, {3, -2}},
                              {{0, 2}, {2, -2}, {3, 3}}});
}

}  // namespace

TEST_BOTH("A refresh gives the bits of a new preconditioner", "[precond][incomplete]") {
  const HostCsr a = grid_matrix(17), b = scaled_values(a);
  const auto at_a = upload_matrix<double>(ctx, a), at_b = upload_matrix<double>(ctx, b);
  const auto x = random_vector<double>(a.rows);
  for (const PrecondOptions& options : all_factors()) {
    INFO(options.name);
    const auto m = made<double, S>(ctx, at_a.wide(), options);
    const std::vector<double> before = applied(ctx, *m, x);
    m->refresh(ctx, at_b.wide().val);
    if (options.name != "ilut") {  // whose pattern stays that of the first values
      CHECK(same_bits(applied(ctx, *m, x), applied(ctx, *made<double, S>(ctx, at_b.wide(), options), x)));
    }
    CHECK_FALSE(same_bits(applied(ctx, *m, x), before));
    m->refresh(ctx, at_a.wide().val);
    CHECK(same_bits(applied(ctx, *m, x), before));
  }
}

TEST_ON_HOST("The number of threads changes no bit of incomplete factors", "[precond][incomplete]") {
  const HostCsr a = fem_matrix("generate:elasticity:11");
  const auto x = random_vector<double>(a.rows);
  for (const FactorOrder order : {FactorOrder::natural, FactorOrder::colours}) {
    for (const PrecondOptions& options : all_factors(FactorOptions{order})) {
      INFO(options.name);
      std::vector<double> first;
      for (const int threads : {1, 2, 3, 7}) {
        const Context<host> team(threads);
        const auto there = upload_matrix<double>(team, a);
        const std::vector<double> found = applied(team, *made<double, host>(team, there.wide(), options), x);
        if (first.empty()) first = found;
        CHECK(same_bits(found, first));
      }
    }
  }
}

TEST_BOTH("alpha and beta are those of apply", "[precond][incomplete]") {
  const HostCsr a = grid_matrix(12, 0.2);
  const auto there = upload_matrix<double>(ctx, a);
  const auto x = random_vector<double>(a.rows, 2), y0 = random_vector<double>(a.rows, 3);
  for (const int sweeps : {0, 3}) {
    const auto m =
        made<double, S>(ctx, there.wide(), named("ilu", IluOptions{}, FactorOptions{FactorOrder::natural, sweeps}));
    const std::vector<double> mx = applied(ctx, *m, x);
    const auto at_x = upload(ctx, x);
    auto y = upload(ctx, y0);
    for (int again = 0; again < 2; ++again) {
      copy<double>(ctx, upload(ctx, y0).cspan(), y.span());
      m->apply(ctx, -1.5, at_x.cspan(), 0.75, y.span());
      std::vector<long double> expected;
      for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(-1.5L * mx[i] + 0.75L * y0[i]);
      CHECK(relative_difference(download(ctx, y), expected) < 1e-15);
    }
  }
}

TEST_BOTH("Columns together are what they are alone", "[precond][incomplete][columns]") {
  const HostCsr a = grid_matrix(15, 0.3);
  const auto there = upload_matrix<double>(ctx, a);
  for (const int sweeps : {0, 2}) {
    const auto m =
        made<double, S>(ctx, there.wide(), named("ilu", IluOptions{1}, FactorOptions{FactorOrder::natural, sweeps}));
    for (const int k : {1, 2, 4, 8}) {
      INFO(k << " columns");
      const auto x = random_vector<double>(std::int64_t{a.rows} * k, 5);
      const auto at_x = upload(ctx, x);
      auto y = poisoned<double>(ctx, std::int64_t{a.rows} * k);
      auto xy = poisoned<double>(ctx, k);
      Array<char, S> work(ctx, static_cast<std::int64_t>(m->column_work_bytes(k)));
      m->apply_dot_columns(ctx, k, at_x.cspan(), y.span(), xy.data(), work.span());
      const std::vector<double> together = download(ctx, y), dots = download(ctx, xy);
      for (int c = 0; c < k; ++c) {
        std::vector<double> one, of_one;
        for (Index i = 0; i < a.rows; ++i) one.push_back(x[std::int64_t{i} * k + c]);
        for (Index i = 0; i < a.rows; ++i) of_one.push_back(together[std::int64_t{i} * k + c]);
        CHECK(relative_difference(of_one, applied(ctx, *m, one)) < 1e-14);
        const DotOracle dot = dot_oracle(one, of_one);
        CHECK(std::fabs(dots[c] - dot.value) <= 1e-13L * dot.magnitude);
      }
    }
  }
}

TEST_BOTH("Sweeps approach the exact solves, and reach them after as many as there are levels",
          "[precond][incomplete]") {
  const HostCsr a = grid_matrix(7, 0.1);
  const auto there = upload_matrix<double>(ctx, a);
  const auto x = random_vector<double>(a.rows, 5);
  const auto with = [&](int sweeps) {
    return applied(
        ctx,
        *made<double, S>(ctx, there.wide(), named("ilu", IluOptions{}, FactorOptions{FactorOrder::natural, sweeps})),
        x);
  };
  const std::vector<double> exact = with(0);
  CHECK(relative_difference(with(12), exact) < 1e-14);
  double before = 1;
  for (const int sweeps : {1, 2, 4, 6}) {
    const double apart = relative_difference(with(sweeps), exact);
    CHECK(apart > 1e-9);
    CHECK(apart < before);
    before = apart;
  }
  // One sweep by hand: y = x - (L - I) x, z = D^-1 y - (U - I) D^-1 y.
  const DenseFactors f = dense_factors(a, dense_fill(a, 0));
  const std::size_t n = x.size();
  std::vector<long double> y(x.begin(), x.end()), start(n), z;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) y[i] -= f.kept[i][j] != 0 ? f.lu[i][j] * x[j] : 0;
  }
  for (std::size_t i = 0; i < n; ++i) start[i] = y[i] / f.lu[i][i];
  z = start;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) z[i] -= f.kept[i][j] != 0 ? f.lu[i][j] / f.lu[i][i] * start[j] : 0;
  }
  CHECK(relative_difference(with(1), z) < 1e-14);
}

TEST_BOTH("Zero pivots are bounded and counted, and never give a NaN", "[precond][incomplete]") {
  const HostCsr zero_first = from_rows(3, MapRows{{{0, 0}, {1, 1}}, {{0, 1}, {1, 0}, {2, 2}}, {{1, 1}, {2, 4}}});
  HostCsr no_diagonal = grid_matrix(9, 0.2), empty_row = grid_matrix(9, 0.2);
  for (Index i = 0; i < no_diagonal.rows; ++i) {
    for (Offset k = no_diagonal.row_ptr[i]; k < no_diagonal.row_ptr[i + 1]; ++k) {
      if (no_diagonal.col[k] == i && i % 4 == 0) no_diagonal.val[k] = 0;
      if (i == 40) empty_row.val[k] = 0;
    }
  }
  for (const HostCsr& a : {zero_first, no_diagonal, empty_row, empty_matrix(50, 50)}) {
    const auto there = upload_matrix<double>(ctx, a);
    const auto x = random_vector<double>(a.rows, 5);
    for (const PrecondOptions& options :
         {named("ilu", IluOptions{0}), named("ilut", IlutOptions{}), named("ilu", IluOptions{2})}) {
      INFO(options.name << " of " << a.rows << " rows");
      const auto m = made<double, S>(ctx, there.wide(), options);
      CHECK(figure(m->info(), "bounded pivots") >= 1);
      CHECK(contains(m->info().detail, "bounded"));
      CHECK(all_finite(applied(ctx, *m, x)));
    }
  }
  // The first pivot of [0 1 0; ...] becomes 1e-4 times the row's largest entry.
  const auto there = upload_matrix<double>(ctx, zero_first);
  const auto m = made<double, S>(ctx, there.wide(), named("ilu", IluOptions{}));
  HostCsr bounded = zero_first;
  bounded.val[0] = 1e-4;
  const auto x = random_vector<double>(3);
  CHECK(relative_difference(applied(ctx, *m, x), solved(dense_factors(bounded, dense_fill(bounded, 0)), x)) < 1e-10);
}

TEST_BOTH("IC shifts the diagonal until all pivots are positive", "[precond][incomplete]") {
  const HostCsr a = kershaw();
  CHECK(dense_factors(a, dense_fill(a, 0)).lu[3][3] < 0);
  const auto there = upload_matrix<double>(ctx, a);
  const auto m = made<double, S>(ctx, there.wide(), named("ic", IcOptions{}));
  const double shift = figure(m->info(), "shift");
  CHECK(shift > 0);
  CHECK(contains(m->info().detail, "shifted"));
  const auto with_shift = [&](double by) {
    HostCsr shifted = a;
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) shifted.val[k] *= a.col[k] == i ? 1 + by : 1;
    }
    return dense_factors(shifted, dense_fill(shifted, 0));
  };
  const auto x = random_vector<double>(4, 2);
  CHECK(relative_difference(applied(ctx, *m, x), solved(with_shift(shift), x)) < 1e-13);
  CHECK(with_shift(shift).lu[3][3] > 0);
  CHECK(with_shift(shift / 2).lu[3][3] <= 1e-6);
  const auto given =
      made<double, S>(ctx, there.wide(), named("ic", IcOptions{}, FactorOptions{FactorOrder::natural, 0, 1.0}));
  CHECK(figure(given->info(), "shift") == 1);
  CHECK(relative_difference(applied(ctx, *given, x), solved(with_shift(1.0), x)) < 1e-13);
  // With its full factor no shift is needed.
  CHECK(figure(made<double, S>(ctx, there.wide(), named("ic", IcOptions{4}))->info(), "shift") == 0);
}

TEST_BOTH("ILU stays symmetric and positive where the solver needs it", "[precond][incomplete]") {
  HostCsr a = grid_matrix(10);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.col[k] == i) a.val[k] = i % 5 == 0 ? -3 : 4;
    }
  }
  const auto there = upload_matrix<double>(ctx, a);
  const auto x = random_vector<double>(a.rows, 2), y = random_vector<double>(a.rows, 3);
  for (PrecondOptions options : {named("ilu", IluOptions{1}), named("ilut", IlutOptions{})}) {
    options.symmetric = true;
    for (const int sweeps : {0, 2}) {
      options.of<FactorOptions>().sweeps = sweeps;
      const auto m = made<double, S>(ctx, there.wide(), options);
      const std::vector<double> mx = applied(ctx, *m, x), my = applied(ctx, *m, y);
      const DotOracle one = dot_oracle(y, mx);
      CHECK(std::fabs(one.value - dot_oracle(x, my).value) <= 1e-12L * one.magnitude);
      CHECK(dot_oracle(x, mx).value > 0);
      CHECK(dot_oracle(y, my).value > 0);
    }
  }
}

TEST_BOTH("Incomplete factors refuse what they cannot take", "[precond][incomplete]") {
  const auto grid = upload_matrix<double>(ctx, grid_matrix(5, 0.3));
  CHECK_THROWS_AS((made<double, S>(ctx, grid.wide(), named("ic", IcOptions{}))), NotSymmetric);
  HostCsr negative = grid_matrix(5);
  negative.val[negative.row_ptr[7] + 2] = -4;
  const auto there = upload_matrix<double>(ctx, negative);
  try {
    made<double, S>(ctx, there.wide(), named("ic", IcOptions{}));
    FAIL("not refused");
  } catch (const NotPositiveDefinite& e) {
    CHECK(e.row() == 7);
    CHECK(e.count() == 1);
  }
  const auto wide = upload_matrix<double>(ctx, ragged_matrix(40, 50));
  CHECK(contains(message_of<InputError>([&] { made<double, S>(ctx, wide.wide(), named("ilu", IluOptions{})); }),
                 "square"));
  const auto refused = [&](const PrecondOptions& options) {
    return message_of<InputError>([&] { made<double, S>(ctx, grid.wide(), options); });
  };
  CHECK(contains(refused(named("ilu", IluOptions{-1})), "level of fill"));
  CHECK(contains(refused(named("ic", IcOptions{99})), "level of fill"));
  CHECK(contains(refused(named("ilut", IlutOptions{-1.0, 5})), "drop tolerance"));
  CHECK(contains(refused(named("ilut", IlutOptions{0.1, 0})), "fill"));
  CHECK(contains(refused(named("ilu", IluOptions{}, FactorOptions{FactorOrder::natural, -1})), "sweeps"));
  CHECK(contains(refused(named("ilu", IluOptions{}, FactorOptions{FactorOrder::natural, 0, -1.0})), "shift"));
  const auto values = upload(ctx, random_vector<double>(10));
  const auto m = made<double, S>(ctx, grid.wide(), named("ilu", IluOptions{}));
  CHECK(contains(message_of<InputError>([&] { m->refresh(ctx, values.cspan()); }), "found 10"));
}

TEST_BOTH("Solves with incomplete factors take fewer iterations than with Jacobi", "[precond][incomplete]") {
  const auto iterations = [&](const HostCsr& a, const std::string& solver, PrecondOptions precond) {
    const auto there = upload_matrix<double>(ctx, a);
    SystemOptions options;
    options.solver.name = solver;
    options.precond = std::move(precond);
    LinearSystem<double, S> system(ctx, there.wide(), options);
    const auto b = random_vector<double>(a.rows, 8);
    const auto at_b = upload(ctx, b);
    auto x = upload(ctx, std::vector<double>(b.size(), 0.0));
    const SolveReport report = system.solve(at_b.cspan(), x.span());
    CHECK(report.converged());
    CHECK(residual_norm(a, download(ctx, x), b) <= 1.01e-8 * norm_oracle(b));
    return report.iterations;
  };
  const HostCsr spd = grid_matrix(24), convection = grid_matrix(24, 0.9);
  PrecondOptions jacobi;
  jacobi.name = "jacobi";
  const int simple = iterations(spd, "cg", jacobi);
  CHECK(iterations(spd, "cg", named("ic", IcOptions{0})) < 0.6 * simple);
  CHECK(iterations(spd, "cg", named("ic", IcOptions{2})) < 0.3 * simple);
  CHECK(iterations(spd, "cg", named("ilu", IluOptions{0})) < 0.6 * simple);
  CHECK(iterations(spd, "cg", named("ic", IcOptions{0}, FactorOptions{FactorOrder::natural, 2})) < 0.8 * simple);
  for (const char* solver : {"bicgstab", "gmres"}) {
    CHECK(iterations(convection, solver, named("ilu", IluOptions{0})) < 0.4 * iterations(convection, solver, jacobi));
    CHECK(iterations(convection, solver, named("ilut", IlutOptions{1e-4, 10})) < 10);
  }
}

// SPDX-License-Identifier: Apache-2.0
// The smallest eigenpairs: against formulas of chains, membranes and rods, and residuals of the test's own.
#include "tests/solver/systems.hpp"

#include <newel/solver/eigenpairs.hpp>

namespace {

constexpr double pi = 3.14159265358979323846;

// The mass matrix of linear elements on a line, times 6 / h; a tensor product of two of them would be a membrane's.
Rows mass_of_line(Index n) {
  Rows m(n);
  for (Index i = 0; i < n; ++i) {
    m.at(i, i) = 4;
    if (i > 0) m.at(i, i - 1) = m.at(i - 1, i) = 1;
  }
  return m;
}

// The k smallest of a five-point membrane of n x n points.
std::vector<double> membrane_values(Index n, std::size_t k) {
  std::vector<double> values;
  const auto of_line = [&](Index i) { return 4 * std::pow(std::sin(pi * i / (2.0 * (n + 1))), 2); };
  for (Index i = 1; i <= n; ++i) {
    for (Index j = 1; j <= n; ++j) values.push_back(of_line(i) + of_line(j));
  }
  std::sort(values.begin(), values.end());
  values.resize(k);
  return values;
}

struct Found {
  EigenReport report;
  std::vector<std::vector<double>> vectors;
};

// Of A, or of A and M, by a preconditioner for `preconditioned`, A itself if that is null.
template <Space S>
struct EigenTest {
  const Context<S>& ctx;
  Rows a;
  std::optional<Rows> m;
  std::string precond = "amg";
  std::optional<Rows> preconditioned;
  std::vector<double> deflated, guesses;
  EigenOptions options;
  EigenProgress progress;

  Found operator()() const {
    const auto options_of = [](const std::string& name) { return system_options("cg", name, "csr"); };
    SystemOf<double, S> of_a(ctx, a, options_of("none"));
    SystemOf<double, S> of_m(ctx, m ? *m : diagonal({1}), options_of(m ? "jacobi" : "none"));
    SystemOf<double, S> of_p(ctx, preconditioned ? *preconditioned : a, options_of(precond));
    EigenProblem<S> problem{&of_a.ordered().matrix(), m ? &of_m.ordered().matrix() : nullptr,
                            of_p.ordered().preconditioner()};
    if (m) problem.inverse_mass_diagonal = of_m.ordered().preconditioner()->traits().diagonal;
    const auto left_out = make_array(ctx, deflated), from = make_array(ctx, guesses);
    problem.deflated = left_out.cspan();
    const std::int64_t n = a.size();
    auto vectors = make_array(ctx, std::vector<double>(static_cast<std::size_t>(n * options.pairs), NAN));
    Found found;
    found.report = smallest_eigenpairs<S>(ctx, problem, options, vectors.span(), from.cspan(), progress);
    const std::vector<double> all = to_vector(ctx, vectors.cspan());
    for (int k = 0; k < options.pairs; ++k)
      found.vectors.emplace_back(all.begin() + k * n, all.begin() + (k + 1) * n);
    return found;
  }

  std::vector<double> times_m(const std::vector<double>& x) const { return m ? m->rhs_for(x) : x; }

  // Residuals and products of vectors, computed here.
  void judge(const Found& found) const {
    const EigenReport& report = found.report;
    REQUIRE(report.converged);
    CHECK(std::is_sorted(report.values.begin(), report.values.end()));
    for (std::size_t i = 0; i < found.vectors.size(); ++i) {
      const std::vector<double>& x = found.vectors[i];
      const std::vector<double> mx = times_m(x);
      const auto ax = a.times(x);
      double sum = 0;
      for (std::size_t r = 0; r < x.size(); ++r) {
        const auto row = static_cast<Index>(r);
        const double d = m ? Rows(*m).at(row, row) : 1.0;
        const auto part = static_cast<double>(ax[r] - static_cast<long double>(report.values[i]) * mx[r]);
        sum += part * part / d;
      }
      CHECK(std::sqrt(sum) <= 1.001 * report.tolerance + 1e-13);
      CHECK(std::sqrt(sum) == Approx(report.residuals[i]).epsilon(1e-3).margin(1e-13));
      for (std::size_t j = 0; j <= i; ++j) {
        double product = 0;
        for (std::size_t r = 0; r < x.size(); ++r) product += mx[r] * found.vectors[j][r];
        CHECK(std::abs(product - (i == j ? 1 : 0)) <= 1e-11);
      }
      const auto longest =
          std::max_element(x.begin(), x.end(), [](double p, double q) { return std::abs(p) < std::abs(q); });
      CHECK(*std::max_element(x.begin(), x.end()) >= (1 - 1e-12) * std::abs(*longest));
    }
  }
};

void check_values(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  // The error is about the square of the residual, a millionth, over the distance to the next eigenvalue.
  for (std::size_t k = 0; k < found.size(); ++k) CHECK(found[k] == Approx(expected[k]).epsilon(1e-8));
}

}  // namespace

TEST_BOTH("eigenvalues of a membrane are those of the formula, pairs of equal ones included", "[solver][eigen]") {
  for (const int pairs : {1, 4, 7, 12}) {
    CAPTURE(pairs);
    EigenTest<S> test{ctx, laplacian(24)};
    test.options.pairs = pairs;
    const Found found = test();
    test.judge(found);
    check_values(found.report.values, membrane_values(24, static_cast<std::size_t>(pairs)));
    CHECK(found.report.iterations > 0);
    CHECK(found.report.iterations < 40);
    CHECK(found.report.tolerance == Approx(1e-6 * found.report.values.back()));
  }
}

TEST_BOTH("eigenvalues of a rod of linear elements are those of its theory", "[solver][eigen]") {
  // K x = lambda M x on n inner points: 6 (1 - cos t) / (2 + cos t) with t = k pi / (n + 1), in units of 6 / h^2.
  constexpr Index n = 300;
  EigenTest<S> test{ctx, line(n), mass_of_line(n)};
  test.options.pairs = 5;
  const Found found = test();
  test.judge(found);
  std::vector<double> expected;
  for (int k = 1; k <= 5; ++k) {
    const double c = std::cos(k * pi / (n + 1));
    expected.push_back((1 - c) / (2 + c));
  }
  check_values(found.report.values, expected);
}

TEST_BOTH("a free chain has its null space, or loses what is left out", "[solver][eigen]") {
  constexpr Index n = 200;
  Rows free = line(n);
  free.at(0, 0) = free.at(n - 1, n - 1) = 1;
  Rows shifted = free;
  for (Index i = 0; i < n; ++i) shifted.at(i, i) += 1e-3;
  for (const bool left_out : {false, true}) {
    EigenTest<S> test{ctx, free};
    test.preconditioned = shifted;
    test.options.pairs = 4;
    if (left_out) test.deflated.assign(n, 3.0);
    const Found found = test();
    test.judge(found);
    for (int k = 0; k < 4; ++k) {
      const double expected = 4 * std::pow(std::sin(pi * (k + (left_out ? 1 : 0)) / (2 * n)), 2);
      CHECK(std::abs(found.report.values[static_cast<std::size_t>(k)] - expected) <= 1e-11);
    }
    if (!left_out) continue;
    for (const std::vector<double>& x : found.vectors)
      CHECK(std::abs(std::accumulate(x.begin(), x.end(), 0.0)) <= 1e-10);
  }
}

TEST_BOTH("matrices of few rows have all their eigenpairs", "[solver][eigen]") {
  for (const Index n : {1, 2, 5, 11}) {
    EigenTest<S> test{ctx, line(n), {}, "jacobi"};
    test.options.pairs = n;
    const Found found = test();
    test.judge(found);
    for (Index k = 0; k < n; ++k) {
      const double expected = 4 * std::pow(std::sin(pi * (k + 1) / (2.0 * (n + 1))), 2);
      CHECK(found.report.values[static_cast<std::size_t>(k)] == Approx(expected).epsilon(1e-10));
    }
  }
}

TEST_BOTH("preconditioners change the iterations only, and the same call has the same bits", "[solver][eigen]") {
  std::vector<double> expected;
  for (const char* precond : {"amg", "amg", "fsai", "none"}) {
    CAPTURE(precond);
    EigenTest<S> test{ctx, laplacian(16), {}, precond};
    test.options.pairs = 3;
    const Found found = test();
    test.judge(found);
    check_values(found.report.values, membrane_values(16, 3));
    if (std::string(precond) != "amg") continue;
    if (!expected.empty()) CHECK(found.vectors[2] == expected);
    expected = found.vectors[2];
  }
}

TEST_BOTH("guesses save iterations, also if they depend on each other", "[solver][eigen]") {
  EigenTest<S> test{ctx, laplacian(24)};
  test.options.pairs = 4;
  const Found first = test();
  for (const std::vector<double>& x : first.vectors) test.guesses.insert(test.guesses.end(), x.begin(), x.end());
  const Found again = test();
  test.judge(again);
  CHECK(again.report.iterations < first.report.iterations);
  test.guesses.clear();
  for (int k = 0; k < 7; ++k)
    test.guesses.insert(test.guesses.end(), first.vectors[0].begin(), first.vectors[0].end());
  const Found same = test();
  test.judge(same);
  check_values(same.report.values, membrane_values(24, 4));
}

TEST_BOTH("an iteration that ends early says what it has reached", "[solver][eigen]") {
  EigenTest<S> test{ctx, laplacian(24)};
  test.options.max_iterations = 2;
  const Found limited = test();
  CHECK_FALSE(limited.report.converged);
  CHECK(limited.report.iterations == 2);
  CHECK(*std::max_element(limited.report.residuals.begin(), limited.report.residuals.end()) >
        limited.report.tolerance);
  test.options.max_iterations = 500;
  test.progress = [](int iterations) { return iterations < 3; };
  CHECK(test().report.iterations == 3);
}

TEST_BOTH("what cannot be solved is refused", "[solver][eigen]") {
  const auto refused = [&](const char* message, const auto& change) {
    EigenTest<S> test{ctx, laplacian(8)};
    test.options.pairs = 2;
    change(test);
    CHECK_THROWS_WITH(test(), Catch::Matchers::Contains(message));
  };
  refused("at least one pair", [](auto& test) { test.options.pairs = 0; });
  refused("at most 64 pairs", [](auto& test) { test.options.pairs = 65; });
  refused("finite tolerance", [](auto& test) { test.options.tolerance = NAN; });
  refused("at least 0 iterations", [](auto& test) { test.options.max_iterations = -1; });
  refused("whole columns", [](auto& test) { test.guesses.assign(65, 1.0); });
  refused("whole columns", [](auto& test) { test.deflated.assign(63, 1.0); });
  refused("not finite", [](auto& test) { test.guesses.assign(64, 1e300); });
  refused("operators of 64 rows", [](auto& test) { test.m = mass_of_line(60); });
  refused("positive definite", [](auto& test) {
    test.m = mass_of_line(64);
    for (Index i = 0; i < 64; i += 2) test.m->at(i, i) = -4;
  });
}

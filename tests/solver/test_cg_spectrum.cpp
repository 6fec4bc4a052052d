// SPDX-License-Identifier: Apache-2.0
// The eigenvalues that CG's coefficients show, and the iterations to go that follow from them.
#include "tests/solver/problem.hpp"

#include <newel/solver/cg.hpp>
#include <newel/solver/linear_system.hpp>
#include "solver/krylov/monitor/residual_rate.hpp"
#include "solver/krylov/steps/cg_spectrum.hpp"

using detail::CgCoefficients;
using detail::CgSpectrum;

namespace {

// CG as in the books on a diagonal matrix; `residuals`: of each iteration.
std::vector<CgCoefficients> coefficients_of(const std::vector<double>& eigenvalues, const std::vector<double>& b,
                                            int steps, std::vector<double>* residuals = nullptr) {
  const std::size_t n = eigenvalues.size();
  std::vector<double> r = b, p(n, 0.0);
  double before = std::numeric_limits<double>::infinity();
  std::vector<CgCoefficients> found;
  for (int k = 0; k < steps; ++k) {
    double rho = 0, pq = 0;
    for (std::size_t i = 0; i < n; ++i) rho += r[i] * r[i];
    if (residuals != nullptr) residuals->push_back(std::sqrt(rho));
    const double beta = rho / before;
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + beta * p[i];
    for (std::size_t i = 0; i < n; ++i) pq += p[i] * eigenvalues[i] * p[i];
    for (std::size_t i = 0; i < n; ++i) r[i] -= rho / pq * eigenvalues[i] * p[i];
    found.push_back({rho / pq, beta});
    before = rho;
  }
  return found;
}

// The same with b = 1.
std::vector<CgCoefficients> coefficients_of(const std::vector<double>& eigenvalues, int steps,
                                            std::vector<double>* residuals = nullptr) {
  return coefficients_of(eigenvalues, std::vector<double>(eigenvalues.size(), 1.0), steps, residuals);
}

std::vector<double> between(double low, double high, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(low * std::pow(high / low, i / (count - 1.0)));
  return values;
}

}  // namespace

TEST_CASE("Only fixed numbers of steps are used, so that estimates depend on nothing else", "[cg_spectrum]") {
  CHECK(CgSpectrum::used(0) == 0);
  CHECK(CgSpectrum::used(15) == 0);
  CHECK(CgSpectrum::used(16) == 16);
  CHECK(CgSpectrum::used(23) == 16);
  CHECK(CgSpectrum::used(24) == 24);
  CHECK(CgSpectrum::used(35) == 24);
  CHECK(CgSpectrum::used(36) == 36);
  CHECK(CgSpectrum::used(1000000) == CgSpectrum::used(detail::most_coefficients));
  CHECK(CgSpectrum::used(1000000) <= detail::most_coefficients);
}

TEST_CASE("The coefficients of CG show the condition number", "[cg_spectrum]") {
  for (const double condition : {3.0, 100.0, 1e4}) {
    CAPTURE(condition);
    CgSpectrum spectrum;
    CHECK(spectrum.condition() == 0);
    CHECK(spectrum.left(1, 1e-8, {}, 200) == 0);
    spectrum.take(coefficients_of(between(0.01, 0.01 * condition, 200), 121));
    CHECK(spectrum.taken() == 121);
    CHECK(spectrum.condition() > 0.7 * condition);
    CHECK(spectrum.condition() < 1.25 * condition);
  }
}

TEST_CASE("A recurrence that begins again adds what it sees to the spectrum", "[cg_spectrum]") {
  // Neither half sees the whole spectrum: [1, 10] and [20, 1000].
  std::vector<CgCoefficients> both = coefficients_of(between(1, 10, 50), 18);
  for (const CgCoefficients& c : coefficients_of(between(20, 1000, 50), 36)) both.push_back(c);
  CgSpectrum spectrum;
  spectrum.take(both);
  CHECK(spectrum.condition() > 800);
  CHECK(spectrum.condition() < 1250);
}

TEST_CASE("The spectrum tells about how many iterations are to go", "[cg_spectrum]") {
  for (const double condition : {50.0, 200.0, 5000.0}) {
    std::vector<double> residuals;
    const std::vector<CgCoefficients> all = coefficients_of(between(1, condition, 2000), 1500, &residuals);
    const double tolerance = 1e-8 * residuals[0];
    int whole = 0;
    while (residuals[static_cast<std::size_t>(whole)] > tolerance) ++whole;
    CgSpectrum spectrum;
    spectrum.take({all.begin(), all.begin() + 81});
    const double left = spectrum.left(residuals[81], tolerance, {0, 1, 81}, 2000);
    CAPTURE(condition, whole, left);
    CHECK(81 + left > whole / 3.0);
    CHECK(81 + left < 3.0 * whole);
  }
}

TEST_CASE("While ever smaller eigenvalues appear, a rate of residuals is not believed", "[cg_spectrum]") {
  // Of second differences on a square; b = A times ones has little of the smooth vectors, which are seen late.
  constexpr int side = 120, n = side * side, early = 54;
  std::vector<double> eigenvalues;
  for (int k = 0; k < n; ++k) {
    const auto of_line = [&](int i) { return std::pow(std::sin((i + 1) * 1.5707963267948966 / (side + 1)), 2); };
    eigenvalues.push_back(of_line(k % side) + of_line(k / side));
  }
  std::vector<double> residuals;
  const std::vector<CgCoefficients> all = coefficients_of(eigenvalues, eigenvalues, 1000, &residuals);
  const double tolerance = 1e-8 * residuals[0];
  int whole = 0;
  while (residuals[static_cast<std::size_t>(whole)] > tolerance) ++whole;
  detail::ResidualRate rate;
  for (int i = 0; i <= early; ++i) rate.add(residuals[static_cast<std::size_t>(i)]);
  CgSpectrum spectrum;
  spectrum.take({all.begin(), all.begin() + early});
  const double by_rate = rate.left(tolerance);
  const double left = spectrum.left(residuals[early], tolerance, rate.trend(tolerance), n);
  CAPTURE(whole, by_rate, left);
  CHECK(spectrum.growth() > 0.9);
  CHECK(by_rate > 0);
  CHECK(by_rate < 0.6 * (whole - early));
  CHECK(left > 0.6 * (whole - early));
  CHECK(left < 1.6 * (whole - early));
  // But one by which it is nearly done is, as with a strong preconditioner.
  CHECK(spectrum.left(10 * tolerance, tolerance, {9, 0, early}, n) == Approx(9));
}

TEST_CASE("Once the spectrum has settled the rate of the residuals counts", "[cg_spectrum]") {
  CgSpectrum spectrum;
  spectrum.take(coefficients_of(between(0.01, 1, 100), 121));
  CHECK(spectrum.growth() < 0.01);
  CHECK(spectrum.left(1, 1e-8, {77, 0, 121}, 1000) == Approx(77).epsilon(0.05));
  CHECK(spectrum.left(1, 1e-8, {77, 0, 121}, 50) == 50);
}

TEST_CASE("A residual that stayed up for long is expected to fall faster than it has", "[cg_spectrum]") {
  CgSpectrum spectrum;
  spectrum.take(coefficients_of(between(0.01, 1, 100), 121));
  const auto left = [&](double plateau) { return spectrum.left(1, 1e-8, {800, plateau, 1000}, 1e5); };
  CHECK(left(0.05) == Approx(800).epsilon(0.05));
  CHECK(left(0.5) < 0.8 * left(0.05));
  CHECK(left(0.2) < left(0.05));
  CHECK(left(0.2) > left(0.5));
  // While it stays up there is no rate, and about as many are to come as there were, where the spectrum and the size
  // make expect fewer.
  CHECK(spectrum.left(1, 1e-8, {0, 1, 1000}, 1e5) == Approx(900).epsilon(0.1));
  CHECK(spectrum.left(1, 1e-8, {0, 1, 4}, 1e5) < spectrum.left(1, 1e-8, {0, 1, 0}, 1e5));
  CHECK(spectrum.left(1, 1e-8, {0, 1, 20}, 1e6) > spectrum.left(1, 1e-8, {0, 1, 20}, 1e5));
  CHECK(spectrum.left(1, 1e-8, {0, 1, 20}, 1e5, 0.65) < 0.9 * spectrum.left(1, 1e-8, {0, 1, 20}, 1e5));
}

TEST_CASE("The trend of residuals tells for how long they stayed up", "[cg_spectrum]") {
  detail::ResidualRate rate;
  CHECK(rate.trend(1e-8).plateau == 0);
  rate.add(1);
  for (int k = 1; k < 30; ++k) rate.add(0.6);
  CHECK(rate.trend(1e-8).plateau > 1);
  for (int k = 0; k <= 70; ++k) rate.add(0.4 * std::pow(0.9, k));
  CHECK(rate.trend(1e-8).iterations == 100);
  CHECK(rate.trend(1e-8).plateau == Approx(0.3));
  CHECK(rate.trend(1e-8).by_rate == rate.left(1e-8));
}

TEST_CASE("Steps behind one that is not positive are left out, and too few tell nothing", "[cg_spectrum]") {
  std::vector<CgCoefficients> steps = coefficients_of(between(1, 100, 200), 54);
  CgSpectrum whole;
  whole.take(steps);
  CHECK(whole.condition() > 50);
  for (const CgCoefficients bad : {CgCoefficients{0, 0.1}, CgCoefficients{-1, 0.1}, CgCoefficients{1, -0.1},
                                   CgCoefficients{std::nan(""), 0.1}, CgCoefficients{1, std::nan("")}}) {
    steps[20] = bad;
    CgSpectrum some;
    some.take(steps);
    CHECK(some.condition() > 1);
    CHECK(some.condition() < whole.condition());
    steps[10] = bad;
    some.take(steps);
    CHECK(some.condition() == 0);
    CHECK(some.left(1, 1e-8, {}, 200) == 0);
    steps = coefficients_of(between(1, 100, 200), 54);
  }
}

TEST_BOTH("A solve says early about how many iterations are to go", "[cg_spectrum][cg]") {
  for (const char* format : {"csr", "ehyb"}) {
    for (const bool resident : {false, true}) {
      Problem<S> problem("generate:elasticity:8");
      SystemOptions options = system_options("cg", "jacobi", format);
      options.solver.of<CgOptions>().resident = resident;
      options.stop.check_every = 16;
      LinearSystem<double, S> system(problem.ctx, problem.there.wide(), options);
      double at_32 = 0, first = 0;
      int iterations = 0;
      const auto watch = [&](const Progress& now) {
        if (iterations == 0) first = now.iterations_left;
        if (now.iteration == 32) at_32 = now.iterations_left;
        iterations = now.iteration;
        return true;
      };
      const SolveReport report = system.solve(problem.b.cspan(), problem.x.span(), watch);
      CAPTURE(format, resident, iterations, at_32, first);
      REQUIRE(report.converged());
      REQUIRE(report.iterations > 60);
      CHECK(at_32 > (report.iterations - 32) / 3.0);
      CHECK(at_32 < 3.0 * (report.iterations - 32));
      CHECK((S == Space::host || first > 0));
    }
  }
}

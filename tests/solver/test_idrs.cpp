// SPDX-License-Identifier: Apache-2.0
// IDR(s): its residuals are those of the original IDR(s) in long double, it ends as early as the theory says, and M
// makes of A what a product with M makes of it.
#include "tests/solver/long_vectors.hpp"
#include "tests/solver/ready_systems.hpp"

#include <newel/solver/idrs.hpp>

namespace {

void add(Vector& y, long double factor, const Vector& x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

// The solution of a small system, with pivots.
Vector solved(std::vector<Vector> a, Vector b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    }
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const long double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

// SplitMix64 from its paper: output k of seed 2, as a number of either sign with a length in [1, 2).
long double shadow_entry(std::uint64_t k) {
  std::uint64_t z = 2 + (k + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  const long double length = 1 + static_cast<long double>(z >> 12) / 4503599627370496.0L;
  return z % 2 == 0 ? length : -length;
}

// |r| where a space is entered: the first residual of G_1, G_2, ... by P. Sonneveld and M. van Gijzen, "IDR(s): A
// Family of Simple and Fast Algorithms for Solving Large Nonsymmetric Systems of Linear Equations", SIAM J. Sci.
// Comput. 31 (2008), figure 3.1, with omega as the library chooses it. Whatever a variant does between them, these
// are the same.
std::vector<double> original_idr(const Rows& a, const std::vector<double>& b, std::size_t s, int spaces) {
  const std::size_t n = b.size();
  std::vector<Vector> P(s, Vector(n)), dR;
  for (std::size_t k = 0; k < s; ++k) {
    for (std::size_t i = 0; i < n; ++i) P[k][i] = shadow_entry(k * n + i);
  }
  Vector r(b.begin(), b.end());
  const auto omega_of = [](const Vector& t, const Vector& v) {
    const long double tv = dot_of(t, v), tt = dot_of(t, t), cosine = std::abs(tv) / std::sqrt(tt * dot_of(v, v));
    return tv / tt * (cosine < 0.7L ? 0.7L / cosine : 1.0L);
  };
  for (std::size_t k = 0; k < s; ++k) {  // s steps of steepest descent
    Vector dr = times(a, r);
    const long double omega = dot_of(dr, r) / dot_of(dr, dr);
    for (long double& value : dr) value *= -omega;
    add(r, 1, dr);
    dR.push_back(dr);
  }
  std::vector<double> entered;
  long double omega = 1;
  for (int space = 0; space < spaces; ++space) {
    for (std::size_t k = 0; k <= s; ++k) {
      std::vector<Vector> small(s, Vector(s));
      Vector rhs(s);
      for (std::size_t i = 0; i < s; ++i) {
        for (std::size_t j = 0; j < s; ++j) small[i][j] = dot_of(P[i], dR[j]);
        rhs[i] = dot_of(P[i], r);
      }
      const Vector c = solved(small, rhs);
      Vector v = r;
      for (std::size_t j = 0; j < s; ++j) add(v, -c[j], dR[j]);
      const Vector t = times(a, v);
      if (k == 0) omega = omega_of(t, v);
      Vector dr(n, 0.0L);  // r' - r with r' = v - omega t
      for (std::size_t j = 0; j < s; ++j) add(dr, -c[j], dR[j]);
      add(dr, -omega, t);
      add(r, 1, dr);
      if (k == 0) entered.push_back(static_cast<double>(std::sqrt(dot_of(r, r))));
      dR.erase(dR.begin());
      dR.push_back(dr);
    }
  }
  return entered;
}

// I + noise: well conditioned, not symmetric.
Rows near_identity(Index n, double size) {
  Rows a(n);
  const auto entries = noise(n * n, 5);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) a.at(i, j) = (i == j) + size * entries[static_cast<std::size_t>(i * n + j)];
  }
  return a;
}

SolverOptions idrs_options(int s) {
  SolverOptions options{"idrs"};
  options.of<IdrsOptions>().s = s;
  return options;
}

}  // namespace

TEST_BOTH("IDR(s) enters its spaces with the residuals of the original IDR(s)", "[solver][idrs]") {
  const Rows a = laplacian(9, 0.6);
  const auto b = noise(a.size());
  const Ready<double, S> system(ctx, a);
  for (const int s : {1, 2, 4, 5, 8}) {
    INFO("s = " << s);
    const int spaces = 24 / (s + 1) + 1;
    Idrs<double, S> idrs(ctx, a.size(), s);
    const auto run = run_solver<double, S>(ctx, idrs, *system.A, nullptr, b, stop_after(spaces * (s + 1), 1e-13));
    const auto expected = original_idr(a, b, static_cast<std::size_t>(s), spaces);
    for (int space = 1; space <= spaces; ++space) {
      const double found = run.report.history[static_cast<std::size_t>(space * (s + 1))];
      CHECK(found == Approx(expected[static_cast<std::size_t>(space - 1)]).epsilon(1e-6));
    }
    CHECK(run.report.true_residual == Approx(true_residual(a, b, run.x)).epsilon(1e-6));
  }
}

TEST_BOTH("IDR(s) ends within n + n / s products", "[solver][idrs]") {
  for (const Index n : {1, 2, 3, 7, 12, 24}) {
    const Rows a = near_identity(n, 0.5 / std::sqrt(static_cast<double>(n)));
    const auto b = noise(n);
    const Ready<double, S> system(ctx, a);
    for (const int s : {1, 2, 3, 4, 6, 8}) {
      INFO(n << " unknowns, s = " << s);
      const Index taken = std::min<Index>(s, n);
      Idrs<double, S> idrs(ctx, n, s);
      const auto run = run_solver<double, S>(ctx, idrs, *system.A, nullptr, b, stop_at(1e-9));
      CHECK(run.report.converged());
      CHECK(run.report.iterations <= n + (n + taken - 1) / taken);
      CHECK(true_residual(a, b, run.x) <= 1.001e-9 * norm(b));
    }
  }
}

TEST_BOTH("IDR(s) with M does with A what it does with A M alone", "[solver][idrs]") {
  const Rows a = laplacian(10, 0.4);
  const Index n = a.size();
  const auto b = noise(n);
  const Ready<double, S> system(ctx, a);
  for (const char* const name : {"l1-jacobi", "spai"}) {
    const auto M = system.precond(ctx, name);
    Rows product(n);  // A M, column by column
    for (Index j = 0; j < n; ++j) {
      std::vector<double> unit(static_cast<std::size_t>(n), 0.0);
      unit[static_cast<std::size_t>(j)] = 1;
      const auto e = make_array(ctx, unit);
      Array<double, S> column(ctx, n);
      M->apply(ctx, 1.0, e.cspan(), 0.0, column.span());
      const auto image = a.times(to_vector(ctx, column.cspan()));
      for (Index i = 0; i < n; ++i) product.at(i, j) = static_cast<double>(image[static_cast<std::size_t>(i)]);
    }
    const Ready<double, S> alone(ctx, product);
    for (const int s : {2, 4, 8}) {
      INFO(name << ", s = " << s);
      Idrs<double, S> idrs(ctx, n, s);
      const auto with = run_solver<double, S>(ctx, idrs, *system.A, M.get(), b, stop_at(1e-10));
      const auto without = run_solver<double, S>(ctx, idrs, *alone.A, nullptr, b, stop_at(1e-10));
      CHECK(with.report.converged());
      CHECK(true_residual(a, b, with.x) <= 1.001e-10 * norm(b));
      for (std::size_t k = 0; k <= 20; ++k) {
        CHECK(with.report.history[k] == Approx(without.report.history[k]).epsilon(1e-6));
      }
    }
  }
}

TEST_BOTH("IDR(4) solves with eigenvalues near the imaginary axis", "[solver][idrs]") {
  Rows a(400);  // a wind without diffusion
  for (Index i = 0; i < a.size(); ++i) {
    a.at(i, i) = 0.5;
    if (i > 0) a.at(i, i - 1) = -1;
    if (i + 1 < a.size()) a.at(i, i + 1) = 1;
  }
  const Ready<double, S> system(ctx, a);
  Idrs<double, S> idrs(ctx, a.size());
  Bicgstab<double, S> bicgstab(ctx, a.size());
  int own = 0, others = 0;  // products, of several solves: how rounding is done moves that of one
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto b = a.rhs_for(noise(a.size(), seed));
    const auto run = run_solver<double, S>(ctx, idrs, *system.A, nullptr, b, stop_after(1500, 1e-8));
    INFO(run.report.reason);
    CHECK(run.report.converged());
    CHECK(true_residual(a, b, run.x) <= 1.001e-8 * norm(b));
    own += run.report.iterations;
    others += 2 * run_solver<double, S>(ctx, bicgstab, *system.A, nullptr, b, stop_after(1500, 1e-8)).report.iterations;
  }
  UNSCOPED_INFO(own << " of " << others);
  CHECK(own < others);
}

TEST_BOTH("IDR(s) restarts with other shadow vectors after a breakdown", "[solver][idrs]") {
  const double p0 = static_cast<double>(shadow_entry(0)), p1 = static_cast<double>(shadow_entry(1));
  Rows a(2);  // p.A p = 0
  a.at(0, 0) = p1 * p1;
  a.at(1, 1) = -p0 * p0;
  a.at(0, 1) = -(a.at(1, 0) = 1);
  const std::vector<double> b = {p0, p1};
  const Ready<double, S> system(ctx, a);
  Idrs<double, S> idrs(ctx, 2, 1);
  const auto run = run_solver<double, S>(ctx, idrs, *system.A, nullptr, b, stop_at(1e-10));
  CHECK(run.report.restarts >= 1);
  CHECK(run.report.converged());
  CHECK(true_residual(a, b, run.x) <= 1.001e-10 * norm(b));
}

TEST_BOTH("IDR(s) ends with a breakdown where A gives nothing", "[solver][idrs]") {
  const Rows a = diagonal({0, 0, 0, 0, 0, 0});
  const Ready<double, S> system(ctx, a);
  Idrs<double, S> idrs(ctx, a.size());
  const auto run = run_solver<double, S>(ctx, idrs, *system.A, nullptr, noise(a.size()), stop_at(1e-8));
  CHECK(run.report.status == Status::breakdown);
  CHECK(run.report.failure.cause == Cause::rho_vanished);
  CHECK(run.report.restarts == 5);
  CHECK(run.x == std::vector<double>(6, 0.0));
  // t.r = 0 for every r: omega must not be infinite.
  Rows turns(8);
  for (Index i = 0; i < 8; i += 2) turns.at(i, i + 1) = -(turns.at(i + 1, i) = 1);
  const Ready<double, S> turned(ctx, turns);
  Idrs<double, S> one(ctx, 8, 1);
  const auto run_one = run_solver<double, S>(ctx, one, *turned.A, nullptr, noise(8), stop_at(1e-8));
  CHECK((run_one.report.converged() || run_one.report.failure.cause == Cause::omega_vanished));
  CHECK(run_one.report.true_residual == Approx(true_residual(turns, noise(8), run_one.x)).margin(1e-12));
}

TEST_BOTH("IDR(s) iterates in single precision within double", "[solver][idrs]") {
  const Rows a = laplacian(14, 0.5);
  const auto b = a.rhs_for(noise(a.size()));
  SystemOptions options = system_options("idrs", "jacobi");
  options.mixed = true;
  options.stop.rel_tol = 1e-11;
  SystemOf<double, S> system(ctx, a, options);
  const auto run = run_system<double, S>(ctx, system, b);
  CHECK(run.report.solver == "mixed idrs");
  CHECK(run.report.refinements > 0);
  CHECK(true_residual(a, b, run.x) <= 1.001e-11 * norm(b));
}

TEST_CASE("The number of shadow vectors is an option from 1 to 8", "[solver][idrs]") {
  const Context<Space::host> ctx;
  for (const int s : {0, -1, 9}) {
    CHECK_THROWS_AS((Idrs<double, Space::host>(ctx, 20, s)), InputError);
    CHECK_THROWS_AS((make_solver<double, Space::host>(ctx, 20, idrs_options(s))), InputError);
  }
  const SolverMethod idrs = idrs_method();
  CHECK(idrs.bytes_per_unknown(idrs_options(1), 20, 8) == 7 * 8);
  CHECK(idrs.bytes_per_unknown(idrs_options(8), 20, 4) == 28 * 4);
  const Rows a = laplacian(12, 0.6);
  const auto b = noise(a.size());
  const Ready<double, Space::host> system(ctx, a);
  std::vector<std::vector<double>> histories;
  for (const int s : {1, 4}) {
    const auto solver = make_solver<double, Space::host>(ctx, a.size(), idrs_options(s));
    histories.push_back(
        run_solver<double, Space::host>(ctx, *solver, *system.A, nullptr, b, stop_at(1e-8)).report.history);
  }
  CHECK(histories[0] != histories[1]);
}

TEST_CASE("The bits of IDR(s) do not depend on the number of threads", "[solver][idrs]") {
  const Rows a = laplacian(90, 0.3);
  const auto b = a.rhs_for(noise(a.size()));
  std::vector<std::vector<double>> found;
  for (const int threads : {1, 3}) {
    const Context<Space::host> ctx(threads);
    const Ready<double, Space::host> system(ctx, a);
    Idrs<double, Space::host> idrs(ctx, a.size());
    const auto M = system.precond(ctx, "jacobi");
    found.push_back(run_solver<double, Space::host>(ctx, idrs, PlainProducts(a), M.get(), b, stop_at(1e-8)).x);
  }
  const bool same = found[0] == found[1];
  CHECK(same);
}

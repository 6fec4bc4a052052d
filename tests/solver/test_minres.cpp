// SPDX-License-Identifier: Apache-2.0
// MINRES: its iterates are those of least residual in Krylov spaces that the test spans itself, and it ends honestly
// on singular matrices.
#include "tests/solver/ready_systems.hpp"

#include <newel/solver/minres.hpp>
#include "solver/chain/attempts.hpp"

namespace {

using Vector = std::vector<long double>;
using Dense = std::vector<Vector>;  // by rows

long double dense_dot(const Vector& x, const Vector& y) {
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

Vector dense_times(const Dense& a, const Vector& x) {
  Vector y;
  for (const Vector& row : a) y.push_back(dense_dot(row, x));
  return y;
}

Dense transposed(const Dense& a) {
  Dense t(a.size(), Vector(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a.size(); ++j) t[j][i] = a[i][j];
  }
  return t;
}

// M = L L^T
Dense cholesky(const Dense& m) {
  Dense L(m.size(), Vector(m.size(), 0.0L));
  for (std::size_t j = 0; j < m.size(); ++j) {
    for (std::size_t i = j; i < m.size(); ++i) {
      long double rest = m[i][j];
      for (std::size_t k = 0; k < j; ++k) rest -= L[i][k] * L[j][k];
      L[i][j] = i == j ? std::sqrt(rest) : rest / L[j][j];
    }
  }
  return L;
}

// L^-T r
Vector back_solved(const Dense& L, Vector r) {
  for (std::size_t i = r.size(); i-- > 0;) {
    for (std::size_t k = i + 1; k < r.size(); ++k) r[i] -= L[k][i] * r[k];
    r[i] /= L[i][i];
  }
  return r;
}

// v without its parts along a basis, twice, and then of length 1; the length before is returned.
long double orthonormalise(const Dense& basis, Vector& v, Vector& along) {
  along.assign(basis.size(), 0.0L);
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t k = 0; k < basis.size(); ++k) {
      const long double share = dense_dot(basis[k], v);
      along[k] += share;
      for (std::size_t i = 0; i < v.size(); ++i) v[i] -= share * basis[k][i];
    }
  }
  const long double length = std::sqrt(dense_dot(v, v));
  for (long double& entry : v) entry /= length;
  return length;
}

struct Iterates {
  std::vector<double> residual;  // |b - A x_k|
  std::vector<std::vector<double>> x;
};

// With B = L^T A L and s = L^T b: x_k = L y, y of the space of s, B s, ..., B^(k-1) s with the least |s - B y|, by
// Gram-Schmidt with all vectors.
Iterates least_residuals(const Rows& a, const Dense& M, const std::vector<double>& b, int steps) {
  const std::size_t n = b.size();
  const Dense L = cholesky(M), Lt = transposed(L);
  const auto image = [&](const Vector& y) {
    const Vector x = dense_times(L, y);
    Vector ax(n, 0.0L);
    for (std::size_t i = 0; i < n; ++i) {
      for (const auto& [j, value] : a.row[i]) ax[i] += value * x[static_cast<std::size_t>(j)];
    }
    return dense_times(Lt, ax);
  };
  const Vector s = dense_times(Lt, Vector(b.begin(), b.end()));
  Iterates found{{norm(b)}, {std::vector<double>(n, 0.0)}};
  Dense V, Q;  // bases of the space and of its image
  Dense R;     // by columns: B V = Q R
  Vector rest = s, along;
  Vector next = s;
  for (int k = 0; k < steps; ++k) {
    orthonormalise(V, next, along);
    V.push_back(next);
    Vector q = image(next);
    next = q;
    const long double length = orthonormalise(Q, q, along);
    along.push_back(length);
    R.push_back(along);
    Q.push_back(q);
    const long double share = dense_dot(q, rest);
    for (std::size_t i = 0; i < n; ++i) rest[i] -= share * q[i];
    // R y = Q^T s
    Vector y(Q.size());
    for (std::size_t i = Q.size(); i-- > 0;) {
      y[i] = dense_dot(Q[i], s);
      for (std::size_t j = i + 1; j < Q.size(); ++j) y[i] -= R[j][i] * y[j];
      y[i] /= R[i][i];
    }
    Vector in_space(n, 0.0L);
    for (std::size_t j = 0; j < V.size(); ++j) {
      for (std::size_t i = 0; i < n; ++i) in_space[i] += y[j] * V[j][i];
    }
    const Vector x = dense_times(L, in_space), r = back_solved(L, rest);
    found.x.emplace_back(x.begin(), x.end());
    found.residual.push_back(static_cast<double>(std::sqrt(dense_dot(r, r))));
  }
  return found;
}

// M by its products with the unit vectors.
template <Space S>
Dense dense_of(const Context<S>& ctx, const LinearOperator<double, S>* M, Index n) {
  Dense columns;
  for (Index j = 0; j < n; ++j) {
    std::vector<double> e(static_cast<std::size_t>(n), 0.0);
    e[static_cast<std::size_t>(j)] = 1;
    if (M != nullptr) {
      const auto unit = make_array(ctx, e);
      Array<double, S> image(ctx, n);
      M->apply(ctx, 1, unit.cspan(), 0, image.span());
      e = to_vector(ctx, image.cspan());
    }
    columns.emplace_back(e.begin(), e.end());
  }
  return columns;  // symmetric
}

// A saddle point: a second difference, a coupling to a third as many unknowns, and zeros below it.
Rows saddle(Index n) {
  const Index m = n / 3;
  Rows a(n + m);
  for (Index i = 0; i < n; ++i) {
    a.at(i, i) = 2;
    if (i > 0) a.at(i, i - 1) = a.at(i - 1, i) = -1;
  }
  for (Index i = 0; i < m; ++i) {
    for (Index j = 3 * i; j < 3 * i + 2; ++j) a.at(n + i, j) = a.at(j, n + i) = 1 + 0.1 * (j % 7);
  }
  return a;
}

template <Space S>
void check_iterates(const Context<S>& ctx, const Rows& a, const LinearOperator<double, S>& A,
                    const LinearOperator<double, S>* M, int steps) {
  const std::vector<double> b = noise(a.size(), 5);
  const Iterates expected = least_residuals(a, dense_of(ctx, M, a.size()), b, steps);
  Minres<double, S> minres(ctx, a.size());
  for (int k = 1; k <= steps; ++k) {
    const auto run = run_solver<double, S>(ctx, minres, A, M, b, stop_after(k));
    CAPTURE(k);
    REQUIRE(run.report.iterations == k);
    CHECK(run.report.history.back() == Approx(expected.residual[static_cast<std::size_t>(k)]).epsilon(1e-9));
    CHECK(run.report.true_residual == Approx(run.report.history.back()).epsilon(1e-9));
    std::vector<double> apart = run.x;
    for (std::size_t i = 0; i < apart.size(); ++i) apart[i] -= expected.x[static_cast<std::size_t>(k)][i];
    CHECK(norm(apart) <= 1e-9 * norm(expected.x[static_cast<std::size_t>(k)]));
  }
}

}  // namespace

TEST_BOTH("Every iterate of MINRES has the least residual of its Krylov space", "[solver][minres]") {
  for (const Rows& a : {laplacian(6, 0, -3.1), saddle(30)}) {
    const Ready<double, S> system(ctx, a);
    const auto diagonal = system.precond(ctx, "l1-jacobi");
    // That of another matrix of this size, definite and no diagonal.
    const auto definite = Ready<double, S>(ctx, line(a.size(), 1, 3)).precond(ctx, "fsai");
    for (const LinearOperator<double, S>* M : {static_cast<const LinearOperator<double, S>*>(nullptr),
                                               static_cast<const LinearOperator<double, S>*>(diagonal.get()),
                                               static_cast<const LinearOperator<double, S>*>(definite.get())}) {
      check_iterates<S>(ctx, a, *system.A, M, 12);
    }
  }
}

TEST_BOTH("MINRES ends after as many iterations as A has eigenvalues", "[solver][minres]") {
  std::vector<double> entries;
  for (int i = 0; i < 40; ++i)
    entries.push_back(std::vector<double>{-3, -1, 0.5, 2, 7}[static_cast<std::size_t>(i % 5)]);
  const Rows a = diagonal(entries);
  const Ready<double, S> system(ctx, a);
  Minres<double, S> minres(ctx, a.size());
  const auto b = noise(a.size());
  const auto run = run_solver<double, S>(ctx, minres, *system.A, nullptr, b, stop_at(1e-12));
  CHECK(run.report.converged());
  CHECK(run.report.iterations == 5);
  CHECK(true_residual(a, b, run.x) <= 1e-12 * norm(b));
}

TEST_BOTH("MINRES reaches the tolerance for indefinite matrices in both precisions", "[solver][minres]") {
  for (const Rows& a : {laplacian(12, 0, -3.1), saddle(90)}) {
    const auto b = a.rhs_for(noise(a.size()));
    for (const char* const name : {"none", "l1-jacobi"}) {
      const Ready<double, S> system(ctx, a);
      Minres<double, S> minres(ctx, a.size());
      const auto run =
          run_solver<double, S>(ctx, minres, *system.A, system.precond(ctx, name).get(), b, stop_at(1e-10));
      CHECK(run.report.converged());
      CHECK(true_residual(a, b, run.x) <= 1.001e-10 * norm(b));
      const Ready<float, S> single(ctx, a);
      Minres<float, S> low(ctx, a.size());
      const auto in_single =
          run_solver<float, S>(ctx, low, *single.A, single.precond(ctx, name).get(), b, stop_at(1e-4));
      CHECK(in_single.report.converged());
      CHECK(true_residual(a, cast<float>(b), in_single.x) <= 1.01e-4 * norm(b));
    }
  }
}

TEST_BOTH("MINRES solves singular systems that have a solution", "[solver][minres]") {
  const Rows free = neumann(9);
  const Rows gaps = diagonal({-2, -1, 0, 3, 0, 5, -7, 2, 1, 0.5});
  for (const Rows* a : {&free, &gaps}) {
    const Ready<double, S> system(ctx, *a);
    const auto b = a->rhs_for(noise(a->size()));
    Minres<double, S> minres(ctx, a->size());
    const auto run = run_solver<double, S>(ctx, minres, *system.A, nullptr, b, stop_at(1e-11));
    INFO(run.report.reason);
    CHECK(run.report.converged());
    CHECK(true_residual(*a, b, run.x) <= 1.001e-11 * norm(b));
    // Below rounding: no figure is claimed that does not hold.
    const auto further = run_solver<double, S>(ctx, minres, *system.A, nullptr, b, stop_after(2000, 1e-18));
    CHECK(further.report.true_residual == Approx(true_residual(*a, b, further.x)).margin(1e-15 * norm(b)));
    CHECK(further.report.status != Status::breakdown);
    CHECK(true_residual(*a, b, further.x) <= 1e-12 * norm(b));
  }
}

template <class T, Space S>
void check_inconsistent(const Context<S>& ctx, double of_rounding) {
  const Rows a = neumann(9);  // its range has no constants
  const Ready<T, S> system(ctx, a);
  std::vector<double> b = a.rhs_for(noise(a.size()));
  for (double& value : b) value += 0.25;
  const double least = 0.25 * std::sqrt(static_cast<double>(a.size()));
  Minres<T, S> minres(ctx, a.size());
  const auto run = run_solver<T, S>(ctx, minres, *system.A, nullptr, b, stop_after(5000, 1e-6));
  INFO(run.report.reason);
  CHECK(run.report.status == Status::stagnation);
  CHECK(run.report.iterations < 1000);
  CHECK(true_residual(a, cast<T>(b), run.x) <= (1 + of_rounding) * least);
  CHECK(run.report.true_residual == Approx(true_residual(a, cast<T>(b), run.x)).epsilon(1e-4));
}

TEST_BOTH("MINRES ends near a least-squares solution where there is no other", "[solver][minres]") {
  check_inconsistent<double, S>(ctx, 1e-2);
  check_inconsistent<float, S>(ctx, 1e-2);
  const Rows a = [] {
    Rows ones(2);
    ones.at(0, 0) = ones.at(0, 1) = ones.at(1, 0) = ones.at(1, 1) = 1;
    return ones;
  }();
  const Ready<double, S> system(ctx, a);
  Minres<double, S> minres(ctx, 2);
  const auto run = run_solver<double, S>(ctx, minres, *system.A, nullptr, {1, 0}, stop_at(1e-8));
  CHECK(run.report.failure.cause == Cause::no_progress);
  CHECK(true_residual(a, std::vector<double>{1, 0}, run.x) <= std::sqrt(0.5) * (1 + 1e-12));
}

TEST_BOTH("MINRES refuses a preconditioner that is not positive definite", "[solver][minres]") {
  const Rows a = laplacian(6, 0, -9);  // a negative diagonal
  const Ready<double, S> system(ctx, a);
  Minres<double, S> minres(ctx, a.size());
  const auto b = noise(a.size());
  const auto run =
      run_solver<double, S>(ctx, minres, *system.A, system.precond(ctx, "jacobi").get(), b, stop_at(1e-8));
  CHECK(run.report.status == Status::not_positive_definite);
  CHECK(run.report.failure.cause == Cause::precond_not_positive);
  const auto good =
      run_solver<double, S>(ctx, minres, *system.A, system.precond(ctx, "l1-jacobi").get(), b, stop_at(1e-8));
  CHECK(good.report.converged());
}

TEST_BOTH("MINRES claims nothing of a matrix that is not symmetric", "[solver][minres]") {
  const Rows a = laplacian(12, 0.9);
  const Ready<double, S> system(ctx, a);
  const auto b = noise(a.size());
  Minres<double, S> minres(ctx, a.size());
  const auto run = run_solver<double, S>(ctx, minres, *system.A, nullptr, b, stop_after(3000, 1e-8));
  const double found = true_residual(a, b, run.x);
  CHECK(run.report.true_residual == Approx(found).epsilon(1e-6));
  if (run.report.converged()) CHECK(found <= 1e-8 * norm(b));
}

TEST_BOTH("auto takes MINRES with l1-Jacobi for symmetric matrices without a positive diagonal", "[solver][minres]") {
  Rows a = saddle(120);
  const auto b = a.rhs_for(noise(a.size()));
  SystemOf<double, S> system(ctx, a);
  const auto first = run_system<double, S>(ctx, system, b);
  CHECK(first.report.solver == "minres");
  CHECK(first.report.converged());
  CHECK(system.history().decision().preconditioner == "l1-jacobi");
  CHECK(true_residual(a, b, first.x) <= 1.001e-8 * norm(b));
  for (auto& row : a.row) {
    for (auto& [j, value] : row) value *= -3;
  }
  const Arrays<double, S> changed(ctx, a);
  system.refresh(changed.val.cspan());
  const auto again = run_system<double, S>(ctx, system, b);
  CHECK(again.report.solver == "minres");
  CHECK(true_residual(a, b, again.x) <= 1.001e-8 * norm(b));
  SystemOf<double, S> anew(ctx, a);
  CHECK(run_system<double, S>(ctx, anew, b).x == again.x);
}

TEST_BOTH("MINRES follows CG where the matrix has proved indefinite", "[solver][minres]") {
  const Rows a = laplacian(14, 0, -2.3);
  const auto b = a.rhs_for(noise(a.size()));
  SystemOf<double, S> system(ctx, a);
  const auto run = run_system<double, S>(ctx, system, b);
  CHECK(run.report.converged());
  REQUIRE(run.report.attempts.size() >= 2);  // factors may be faster than all of MINRES's iterations on a device
  if (S == Space::host) CHECK(run.report.attempts.size() == 2);
  CHECK(run.report.attempts[0].failure.cause == Cause::matrix_not_positive);
  CHECK(run.report.attempts[1].method == "minres");
  CHECK(true_residual(a, b, run.x) <= 1.001e-8 * norm(b));
}

TEST_CASE("MINRES is tried after CG only where the matrix is symmetric and has proved indefinite",
          "[solver][minres]") {
  const SolverMethod minres = minres_method();
  const auto after = [](const std::string& method, Cause cause, Asymmetric asymmetric = Asymmetric::none) {
    SolveReport report;
    Attempt attempt;
    attempt.method = method;
    attempt.failure.cause = cause;
    attempt.failure.asymmetric = asymmetric;
    report.attempts = {attempt};
    return report;
  };
  CHECK(detail::may_help(minres, after("cg", Cause::matrix_not_positive)));
  CHECK_FALSE(detail::may_help(minres, after("cg", Cause::rounding)));
  CHECK_FALSE(detail::may_help(minres, after("cg", Cause::matrix_not_positive, Asymmetric::matrix)));
  CHECK(detail::may_help(minres, after("gmres", Cause::no_progress)));
  CHECK(detail::may_help(find_solver("gmres"), after("cg", Cause::rounding)));
}

TEST_CASE("The bits of MINRES do not depend on the number of threads", "[solver][minres]") {
  const Rows a = saddle(6000);
  const auto b = a.rhs_for(noise(a.size()));
  std::vector<std::vector<double>> found;
  for (const int threads : {1, 3}) {
    const Context<Space::host> ctx(threads);
    const Ready<double, Space::host> system(ctx, a);
    Minres<double, Space::host> minres(ctx, a.size());
    const auto M = system.precond(ctx, "l1-jacobi");
    found.push_back(run_solver<double, Space::host>(ctx, minres, PlainProducts(a), M.get(), b, stop_at(1e-8)).x);
  }
  const bool same = found[0] == found[1];
  CHECK(same);
}

TEST_BOTH("MINRES iterates in single precision within double", "[solver][minres]") {
  const Rows a = saddle(90);
  const auto b = a.rhs_for(noise(a.size()));
  SystemOptions options = system_options("minres", "l1-jacobi");
  options.mixed = true;
  options.stop.rel_tol = 1e-11;
  SystemOf<double, S> system(ctx, a, options);
  const auto run = run_system<double, S>(ctx, system, b);
  CHECK(run.report.solver == "mixed minres");
  CHECK(run.report.refinements > 0);
  CHECK(true_residual(a, b, run.x) <= 1.001e-11 * norm(b));
}

// SPDX-License-Identifier: Apache-2.0
// The preconditioner for saddle points: its action against dense blocks, which rows it takes for constraints,
// refreshes, orders, and iterations that do not grow with the grid.
#include "tests/catch.hpp"
#include "tests/precond/applied.hpp"
#include "tests/precond/saddle_support.hpp"
#include "tests/solver/options.hpp"

#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/registry.hpp>
#include <newel/precond/saddle/saddle_options.hpp>
#include "precond/saddle/diagonal_spread.hpp"
#include "precond/amg/setup/node_guess.hpp"

namespace {

using Vector = std::vector<long double>;

struct Dense {
  Index rows, cols;
  Vector value;
  Dense(Index n, Index m) : rows(n), cols(m), value(static_cast<std::size_t>(n) * m, 0.0L) {}
  long double& at(Index i, Index j) { return value[static_cast<std::size_t>(i) * cols + j]; }
  long double at(Index i, Index j) const { return value[static_cast<std::size_t>(i) * cols + j]; }
};

Vector times(const Dense& a, const Vector& x) {
  Vector y(static_cast<std::size_t>(a.rows), 0.0L);
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.cols; ++j) y[i] += a.at(i, j) * x[j];
  }
  return y;
}

// A x = b by elimination with pivots.
Vector solved(Dense a, Vector b) {
  for (Index k = 0; k < a.rows; ++k) {
    Index p = k;
    for (Index i = k; i < a.rows; ++i) p = std::fabs(a.at(i, k)) > std::fabs(a.at(p, k)) ? i : p;
    for (Index j = 0; j < a.cols; ++j) std::swap(a.at(k, j), a.at(p, j));
    std::swap(b[k], b[p]);
    for (Index i = k + 1; i < a.rows; ++i) {
      const long double factor = a.at(i, k) / a.at(k, k);
      for (Index j = k; j < a.cols; ++j) a.at(i, j) -= factor * a.at(k, j);
      b[i] -= factor * b[k];
    }
  }
  for (Index k = a.rows; k-- > 0;) {
    for (Index j = k + 1; j < a.rows; ++j) b[k] -= a.at(k, j) * b[j];
    b[k] /= a.at(k, k);
  }
  return b;
}

// The blocks of a matrix whose last rows are the constraints, and N = s (G D^-1 F - E).
struct Blocks {
  Dense A, F, G, E, N;
  Vector diagonal;

  Blocks(const HostCsr& a, Index constraints, long double sign = 1)
      : A(a.rows - constraints, a.rows - constraints),
        F(a.rows - constraints, constraints),
        G(constraints, a.rows - constraints),
        E(constraints, constraints),
        N(constraints, constraints) {
    const Index n = A.rows;
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        const Index j = a.col[k];
        (i < n ? j < n ? A.at(i, j) : F.at(i, j - n) : j < n ? G.at(i - n, j) : E.at(i - n, j - n)) = a.val[k];
      }
    }
    for (Index i = 0; i < n; ++i) diagonal.push_back(A.at(i, i));
    for (Index i = 0; i < constraints; ++i) {
      for (Index j = 0; j < constraints; ++j) {
        long double sum = -E.at(i, j);
        for (Index k = 0; k < n; ++k) sum += G.at(i, k) * F.at(k, j) / diagonal[k];
        N.at(i, j) = sign * sum;
      }
    }
  }

  Vector scaled(Vector x) const {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] /= diagonal[i];
    return x;
  }
  Vector inverse_of_n(SaddleSchur schur, const Vector& x) const {
    if (schur == SaddleSchur::diagonal) {
      Vector y = x;
      for (std::size_t i = 0; i < y.size(); ++i) y[i] /= N.at(static_cast<Index>(i), static_cast<Index>(i));
      return y;
    }
    Vector y = solved(N, x);
    if (schur == SaddleSchur::product) return y;
    const Vector of_e = times(E, y);
    Vector middle = times(G, scaled(times(A, scaled(times(F, y)))));
    for (std::size_t i = 0; i < middle.size(); ++i) middle[i] -= of_e[i];
    return solved(N, middle);
  }
};

// M r by dense algebra, for r with the constraints last.
Vector expected_action(const Blocks& of, SaddleForm form, SaddleSchur schur, SaddleBlock block, double scale,
                       const std::vector<double>& r, long double sign = 1) {
  const auto n = static_cast<std::size_t>(of.A.rows);
  Vector top(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(n)),
      bottom(r.begin() + static_cast<std::ptrdiff_t>(n), r.end());
  Vector z = of.inverse_of_n(schur, bottom);
  for (long double& value : z) value *= scale * (form == SaddleForm::triangular ? -sign : 1);
  if (form == SaddleForm::triangular) {
    const Vector coupling = times(of.F, z);
    for (std::size_t i = 0; i < n; ++i) top[i] -= coupling[i];
  }
  top = block == SaddleBlock::jacobi ? of.scaled(top) : solved(of.A, top);
  top.insert(top.end(), z.begin(), z.end());
  return top;
}

PrecondOptions saddle(SaddleForm form, SaddleSchur schur, SaddleBlock block = SaddleBlock::automatic) {
  PrecondOptions options{"saddle"};
  auto& own = options.of<SaddleOptions>();
  own.form = form;
  own.schur = schur;
  own.block = block;
  options.of<AmgOptions>().precision = AmgPrecision::system;
  return options;
}

template <class T, Space S>
OperatorPtr<T, S> made(const Context<S>& ctx, const HostCsr& a, const PrecondOptions& options,
                       const RowOrder<S>& order = {}) {
  const auto there = upload_matrix<T>(ctx, a);
  return make_precond<T, S>(ctx, there.narrow(), order, options, SpmvOptions{});
}

void check_close(const std::vector<double>& found, const Vector& expected, double bound) {
  long double largest = 0;
  for (const long double value : expected) largest = std::max(largest, std::fabs(value));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    REQUIRE(std::fabs(static_cast<long double>(found[i]) - expected[i]) <= bound * largest);
  }
}

constexpr Index cells = 6;  // along the box, with 36 constraints and 60 other rows

// [A B^T; -B c I]: the same system with the sign of the constraints changed.
HostCsr with_other_sign(HostCsr a, Index constraints) {
  for (Offset k = a.row_ptr[a.rows - constraints]; k < a.nnz(); ++k) a.val[k] = -a.val[k];
  return a;
}

}  // namespace

TEST_BOTH("The preconditioner for saddle points is that of dense blocks", "[precond][saddle]") {
  const HostCsr a = mac_stokes(2, cells, 0.5, 0.25);
  const Index constraints = cells * cells;
  const Blocks blocks(a, constraints);
  const auto r = random_vector<double>(a.rows, 3);
  for (const SaddleForm form : {SaddleForm::diagonal, SaddleForm::triangular}) {
    for (const SaddleSchur schur : {SaddleSchur::diagonal, SaddleSchur::product, SaddleSchur::commutator}) {
      for (const SaddleBlock block : {SaddleBlock::jacobi, SaddleBlock::amg}) {
        INFO("form " << static_cast<int>(form) << ", schur " << static_cast<int>(schur) << ", block "
                     << static_cast<int>(block));
        const auto m = made<double, S>(ctx, a, saddle(form, schur, block));
        CHECK(m->info().figure("constraints") == constraints);
        const double scale = m->info().figure("scale").value();
        check_close(applied(ctx, *m, r), expected_action(blocks, form, schur, block, scale, r), 1e-9);
      }
    }
  }
}

TEST_BOTH("A saddle point whose constraints have the other sign has the same inverse", "[precond][saddle]") {
  const Index constraints = cells * cells;
  const HostCsr a = with_other_sign(mac_stokes(2, cells, 0.5, 0.25), constraints);
  const Blocks blocks(a, constraints, -1);
  const auto r = random_vector<double>(a.rows, 3);
  PrecondOptions options = saddle(SaddleForm::automatic, SaddleSchur::product, SaddleBlock::amg);
  options.of<SaddleOptions>().constraints = constraints;
  const auto m = made<double, S>(ctx, a, options);
  const double scale = m->info().figure("scale").value();
  check_close(applied(ctx, *m, r),
              expected_action(blocks, SaddleForm::triangular, SaddleSchur::product, SaddleBlock::amg, scale, r, -1),
              1e-9);
}

TEST_BOTH("The scale of a Schur complement brings its largest eigenvalue to about two", "[precond][saddle]") {
  const HostCsr a = mac_stokes(2, cells, 1.0 / 64, 0.25);
  const Blocks blocks(a, cells * cells);
  for (const SaddleSchur schur : {SaddleSchur::diagonal, SaddleSchur::product}) {
    const auto m = made<double, S>(ctx, a, saddle(SaddleForm::diagonal, schur, SaddleBlock::amg));
    const double scale = m->info().figure("scale").value();
    Vector v(static_cast<std::size_t>(cells * cells));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = 1 + 0.1L * static_cast<long double>((7 * i) % 11);
    long double largest = 0;
    for (int step = 0; step < 400; ++step) {
      Vector product = times(blocks.G, solved(blocks.A, times(blocks.F, v)));
      const Vector of_e = times(blocks.E, v);
      for (std::size_t i = 0; i < v.size(); ++i) product[i] -= of_e[i];
      product = blocks.inverse_of_n(schur, product);
      long double before = 0, after = 0;
      for (std::size_t i = 0; i < v.size(); ++i) before += v[i] * v[i], after += product[i] * product[i];
      largest = std::sqrt(after / before);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] = product[i] / std::sqrt(after);
    }
    CHECK(scale * largest >= 1.6);
    CHECK(scale * largest <= 2.6);
  }
}

TEST_BOTH("The preconditioner for saddle points keeps its action in another order and after a refresh",
          "[precond][saddle]") {
  const HostCsr first = mac_stokes(2, cells, 0.5, 0.25), second = mac_stokes(2, cells, 2, 0.5);
  const auto options = saddle(SaddleForm::triangular, SaddleSchur::product, SaddleBlock::amg);
  const auto r = random_vector<double>(first.rows, 3);
  const auto old_of_new = random_order(first.rows, 5);
  const RowOrder<S> order = make_row_order(ctx, old_of_new);
  const auto there = upload_matrix<double>(ctx, first);
  const auto permuted = permute<double, S>(ctx, there.wide(), order);
  const auto fresh = made<double, S>(ctx, second, options);
  const auto expected = applied(ctx, *fresh, r);
  std::vector<double> in_order(r.size());
  for (std::size_t i = 0; i < r.size(); ++i) in_order[i] = r[static_cast<std::size_t>(old_of_new[i])];

  auto in_caller_order = made<double, S>(ctx, first, options);
  OperatorPtr<double, S> moved[2] = {make_precond<double, S>(ctx, permuted.view(), order, options, SpmvOptions{}),
                                     in_caller_order->renumbered(ctx, order, SpmvOptions{})};
  for (auto& m : moved) {
    REQUIRE(m != nullptr);
    m->refresh(ctx, upload(ctx, second.val).cspan());
    const auto found = applied(ctx, *m, in_order);
    for (std::size_t i = 0; i < r.size(); ++i) {
      REQUIRE(found[i] == Approx(expected[static_cast<std::size_t>(old_of_new[i])]).epsilon(1e-9).margin(1e-11));
    }
  }
}

TEST_ON_HOST("The constraints of a saddle point are found by their diagonal", "[precond][saddle]") {
  const Index constraints = cells * cells;
  const auto found_in = [&](const HostCsr& a) {
    return made<double, Space::host>(ctx, a, PrecondOptions{"saddle"})->info().figure("constraints");
  };
  CHECK(found_in(mac_stokes(2, cells)) == constraints);               // none is stored
  CHECK(found_in(mac_stokes(2, cells, 1, 0.5)) == constraints);       // negative
  CHECK(found_in(mac_stokes(2, cells, 1, -1e-6)) == constraints);     // a small penalty of the wrong sign
  CHECK(found_in(mac_stokes(2, cells, 1e-3, -1e-9)) == constraints);  // the same in other units
  HostCsr zeros = mac_stokes(2, cells, 1, 1);
  for (Index i = zeros.rows - constraints; i < zeros.rows; ++i) zeros.val[zeros.row_ptr[i + 1] - 1] = 0;
  CHECK(found_in(zeros) == constraints);  // stored zeros: the diagonal is the last entry of these rows
  CHECK(found_in(mixed_diffusion(3, 3)) == 27);
}

TEST_ON_HOST("How far a matrix is from its diagonal is bounded from below", "[precond][saddle]") {
  const auto spread = [&](const HostCsr& a) {
    const auto there = upload_matrix<double>(ctx, a);
    return detail::diagonal_spread(ctx, there.wide());
  };
  CHECK(spread(diagonal_matrix(50)) == Approx(1).epsilon(1e-6));
  const double mass = spread(tridiagonal_matrix(400, 4));  // -1 beside 4: eigenvalues from 2 to 6
  CHECK(mass <= 3.0001);
  CHECK(mass >= 2.5);
  const double pi = 3.14159265358979, true_spread = 4 * 101 * 101 / (pi * pi);  // -1 beside 2, 100 rows
  CHECK(spread(tridiagonal_matrix(100, 2)) <= 1.001 * true_spread);
  CHECK(spread(tridiagonal_matrix(100, 2)) >= 25);
  CHECK(spread(tridiagonal_matrix(100, 1)) == std::numeric_limits<double>::infinity());  // indefinite
}

TEST_ON_HOST("Nodes of displacements are found where zeros between them are left out", "[precond][saddle]") {
  // Springs between nodes on a line, which couple components by `across`.
  const auto guess = [&](Index nodes, Index size, double across) {
    MapRows rows(static_cast<std::size_t>(nodes * size));
    const auto add = [&](Index node, Index other, double stiffness) {
      for (Index i = 0; i < size; ++i) {
        for (Index j = 0; j < size; ++j) {
          const double value = i == j ? stiffness + 1 : across * stiffness;
          if (value == 0) continue;
          rows[static_cast<std::size_t>(node * size + i)][node * size + j] += value;
          rows[static_cast<std::size_t>(node * size + i)][other * size + j] -= value;
        }
      }
    };
    for (Index node = 0; node < nodes; ++node) {
      for (const Index step : {-1, 1}) {
        if (node + step >= 0 && node + step < nodes) add(node, node + step, 1);
      }
    }
    const auto there = upload_matrix<double>(ctx, from_rows(nodes * size, rows));
    return detail::guessed_node_rows(there.wide());
  };
  CHECK(guess(60, 2, 0.5) == 2);
  CHECK(guess(60, 3, 0.5) == 3);
  CHECK(guess(60, 3, 0) == 0);  // components that do not know of each other
  CHECK(guess(60, 1, 0.5) == 0);
}

TEST_ON_HOST("A matrix that is no saddle point is refused in words", "[precond][saddle]") {
  const auto refused = [&](const HostCsr& a, const PrecondOptions& options) {
    return message_of<InputError>([&] { made<double, Space::host>(ctx, a, options); });
  };
  CHECK(contains(refused(tridiagonal_matrix(30), PrecondOptions{"saddle"}), "does not look like a saddle point"));
  PrecondOptions most = PrecondOptions{"saddle"};
  most.of<SaddleOptions>().constraints = 20;
  CHECK(contains(refused(tridiagonal_matrix(30), most), "at most as many constraints as other rows, not 20 and 10"));
  PrecondOptions beyond = PrecondOptions{"saddle"};
  beyond.of<SaddleOptions>().rows = std::make_shared<std::vector<Index>>(std::vector<Index>{3, 30});
  CHECK(contains(refused(tridiagonal_matrix(30), beyond), "constraint 30 is not a row of a matrix of 30 rows"));
  PrecondOptions both = beyond;
  both.of<SaddleOptions>().constraints = 3;
  CHECK(contains(refused(tridiagonal_matrix(30), both), "not by both"));
  PrecondOptions symmetric = saddle(SaddleForm::triangular, SaddleSchur::diagonal);
  symmetric.symmetric = true;
  CHECK(contains(refused(mac_stokes(2, cells), symmetric), "use the block-diagonal form"));
  PrecondOptions wrong_rows = PrecondOptions{"saddle"};
  wrong_rows.of<SaddleOptions>().constraints = 2;
  CHECK(contains(refused(mac_stokes(2, cells), wrong_rows), "diagonal"));
}

TEST_BOTH("Constraints may be given by their rows, and the Schur complement by a matrix", "[precond][saddle]") {
  const HostCsr straight = mac_stokes(2, cells, 0.5, 0.25);
  const Index constraints = cells * cells;
  const auto new_of_old = random_order(straight.rows, 7);
  const HostCsr a = renumbered(straight, new_of_old);
  std::vector<Index> rows(new_of_old.end() - constraints, new_of_old.end());
  std::vector<Index> ascending = rows;
  std::sort(ascending.begin(), ascending.end());

  PrecondOptions options = saddle(SaddleForm::diagonal, SaddleSchur::automatic, SaddleBlock::amg);
  auto& own = options.of<SaddleOptions>();
  own.rows = std::make_shared<const std::vector<Index>>(rows);
  auto mass = std::make_shared<SchurMatrix>();
  mass->rows = constraints;
  mass->row_ptr = {0};
  for (Index i = 0; i < constraints; ++i) {
    mass->col.push_back(i);
    mass->val.push_back(2 + i % 3);
    mass->row_ptr.push_back(i + 1);
  }
  own.schur_matrix = mass;
  const auto m = made<double, S>(ctx, a, options);
  CHECK(m->info().figure("constraints") == constraints);
  const double scale = m->info().figure("scale").value();
  auto r = random_vector<double>(a.rows, 3);
  const auto found = applied(ctx, *m, r);
  for (Index i = 0; i < constraints; ++i) {
    const auto row = static_cast<std::size_t>(ascending[i]);
    CHECK(found[row] == Approx(scale * r[row] / (2 + i % 3)));
  }
  own.schur = SaddleSchur::product;
  CHECK(contains(message_of<InputError>([&] { made<double, S>(ctx, a, options); }), "replaces the choice"));
}

namespace {

template <class T, Space S>
int iterations_of(const Context<S>& ctx, const HostCsr& a, const char* solver, double rel_tol = 1e-8) {
  const auto there = upload_matrix<T>(ctx, a);
  LinearSystem<T, S> system(ctx, there.wide(), system_options(solver, "saddle", "csr", rel_tol));
  const auto ones = random_vector<T>(a.rows, 11);
  const auto b = product_oracle(a, ones);  // in the range, where the pressure is determined up to a constant
  const SolveReport report = checked_solve(ctx, system, a, b, rel_tol);
  REQUIRE(report.converged());
  return report.iterations;
}

// The finest grid may take a fifth more iterations than the coarsest.
void check_growth(const std::vector<int>& iterations, int most) {
  for (const int count : iterations) CHECK(count <= most);
  CHECK(iterations.back() <= 1.2 * iterations.front());
}

}  // namespace

TEST_ON_HOST("Iterations for Stokes flow do not grow with the grid", "[precond][saddle]") {
  std::vector<int> plane, space, triangular;
  for (const Index n : {32, 64, 128}) {
    plane.push_back(iterations_of<double>(ctx, mac_stokes(2, n), "minres"));
    triangular.push_back(iterations_of<double>(ctx, mac_stokes(2, n), "fgmres"));
  }
  for (const Index n : {12, 18, 24}) space.push_back(iterations_of<double>(ctx, mac_stokes(3, n), "minres"));
  CAPTURE(plane, triangular, space);
  check_growth(plane, 70);
  check_growth(triangular, 40);
  check_growth(space, 80);
}

TEST_ON_HOST("Iterations for diffusion in mixed form do not grow with the grid", "[precond][saddle]") {
  std::vector<int> plane, space;
  for (const Index n : {32, 64, 128}) plane.push_back(iterations_of<double>(ctx, mixed_diffusion(2, n), "minres"));
  for (const Index n : {10, 16, 24}) space.push_back(iterations_of<double>(ctx, mixed_diffusion(3, n), "minres"));
  CAPTURE(plane, space);
  check_growth(plane, 60);
  check_growth(space, 60);
}

TEST_BOTH("Saddle points are solved in single precision and by each solver", "[precond][saddle]") {
  const HostCsr a = mac_stokes(2, 12, 1, 0.125);
  for (const char* solver : {"minres", "gmres", "fgmres", "bicgstab", "idrs"}) {
    INFO(solver);
    CHECK(iterations_of<float>(ctx, a, solver, 1e-5) <= 60);
    CHECK(iterations_of<double>(ctx, a, solver) <= 80);
  }
}

TEST_BOTH("Auto moves to the preconditioner for saddle points, and ends honestly without a solution",
          "[precond][saddle]") {
  const HostCsr a = mac_stokes(2, 48);
  const auto there = upload_matrix<double>(ctx, a);
  SystemOptions options = system_options("auto");
  LinearSystem<double, S> system(ctx, there.wide(), options);
  const auto b = product_oracle(a, random_vector<double>(a.rows, 11));
  const SolveReport report = checked_solve(ctx, system, a, b);
  CHECK(report.converged());

  auto outside = b;
  for (std::size_t i = b.size() - 48 * 48; i < b.size(); ++i) outside[i] += 1;  // a net inflow
  LinearSystem<double, S> again(ctx, there.wide(), system_options("minres", "saddle"));
  const SolveReport refused = checked_solve(ctx, again, a, outside);
  CHECK_FALSE(refused.converged());
}

TEST_ON_HOST("Auto begins with the preconditioner for saddle points that are not symmetric", "[precond][saddle]") {
  const Index n = 24;
  const HostCsr a = with_other_sign(mac_stokes(2, n), n * n);
  const auto there = upload_matrix<double>(ctx, a);
  LinearSystem<double, Space::host> system(ctx, there.wide(), system_options("auto"));
  const auto b = product_oracle(a, random_vector<double>(a.rows, 11));
  const SolveReport report = checked_solve(ctx, system, a, b);
  CHECK(report.converged());
  CHECK(report.iterations <= 60);
  CHECK(system.info().preconditioner.name == "saddle");
}

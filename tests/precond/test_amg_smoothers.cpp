// SPDX-License-Identifier: Apache-2.0
// AMG's smoothers: SPAI and FSAI against their definitions, which of them the setup chooses, refreshes.
#include "precond/amg/smooth/amg_smoother.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <newel/io/matrix_market.hpp>
#include <newel/precond/registry.hpp>

#include "precond/amg/smooth/smoothing_look.hpp"
#include "precond/build_cost.hpp"
#include "tests/precond/smoother_support.hpp"
#include "tests/solver/options.hpp"

namespace {

// Columns that minimise |A m - e_j| on the pattern of A, which is symmetric.
EigenDense spai_oracle(const HostCsr& matrix) {
  const EigenDense a = eigen_dense(matrix), identity = EigenDense::Identity(a.rows(), a.rows());
  const RowSets rows = row_sets(matrix);
  EigenDense m = EigenDense::Zero(a.rows(), a.rows());
  for (Index j = 0; j < matrix.rows; ++j) {
    const std::vector<Eigen::Index> J(rows[j].begin(), rows[j].end());
    m(J, j) = EigenDense(a(Eigen::all, J)).colPivHouseholderQr().solve(identity.col(j));
  }
  return m;
}

HostCsr system_for(AmgSmoother kind) {
  return fem_matrix(kind == AmgSmoother::fsai ? "generate:diffusion:6" : "generate:convection:6:40");
}

HostCsr with_stiff_elements(Index every) { return with_flat_elements(9, every, 1e3); }

// A multigrid cycle in another order of its matrix.
template <Space S>
struct Moved {
  Moved(const Context<S>& context, AmgOperator<double, S>& m) : ctx(context), old_of_new(random_order(m.rows(), 5)) {
    SpmvOptions csr;
    csr.format = "csr";
    there = m.renumbered(ctx, make_row_order(ctx, old_of_new), csr);
    REQUIRE(there != nullptr);
  }
  // The largest of |scale M x - y|.
  double difference(const std::vector<double>& x, double scale, const std::vector<double>& y) const {
    std::vector<double> in_order(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) in_order[i] = x[old_of_new[i]];
    const std::vector<double> found = applied(ctx, *there, in_order);
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      largest = std::max(largest, std::fabs(scale * found[i] - y[old_of_new[i]]));
    }
    return largest;
  }

  const Context<S>& ctx;
  std::vector<Index> old_of_new;
  OperatorPtr<double, S> there;
};

}  // namespace

TEST_BOTH("SPAI and FSAI smooth AMG's levels as polynomials of their definitions", "[amg]") {
  for (const AmgSmoother kind : {AmgSmoother::spai, AmgSmoother::fsai}) {
    const HostCsr matrix = system_for(kind);
    const EigenDense a = eigen_dense(matrix),
                     s = kind == AmgSmoother::fsai ? fsai_oracle(matrix) : spai_oracle(matrix);
    const EigenDense step = smoother_alone(ctx, matrix, kind);
    const double lambda = 4.0 / 3.0 * s(0, 0) / step(0, 0);
    INFO(detail::name_of(kind));
    CHECK(largest(step - 4.0 / 3.0 / lambda * s) < 1e-9 * largest(step));
    const double exact = Eigen::EigenSolver<EigenDense>(s * a, false).eigenvalues().cwiseAbs().maxCoeff();
    CHECK(lambda > 0.95 * exact);
    CHECK(lambda < 1.2 * exact);
    for (const int degree : {1, 2, 4}) {  // one step, one and two
      const auto m = amg<double, S>(ctx, matrix, smoother_options(kind, degree));
      REQUIRE(m.hierarchy().levels().size() == 2);
      CHECK(contains(m.info().detail, detail::name_of(kind)));
      const EigenDense p = eigen_dense(ctx, m.hierarchy().levels()[0].p);
      const EigenDense correction = p * eigen_dense(ctx, m.hierarchy().levels()[1].a).inverse() * p.transpose();
      const EigenDense smoother = smoother_oracle(a, s, lambda, kind, degree == 4 ? 2 : 1);
      CHECK(difference_on_vectors(ctx, m, level_oracle(a, smoother, correction)) < 1e-9);
    }
  }
}

TEST_BOTH("AMG with FSAI is symmetric and definite on all levels, with SPAI where that is asked for", "[amg]") {
  const MeshSystem elastic("generate:elasticity:4");
  for (const AmgSmoother kind : {AmgSmoother::spai, AmgSmoother::fsai}) {
    PrecondOptions options = smoother_options(kind);
    options.of<AmgOptions>().max_coarse = 20;
    options.symmetric = true;
    const auto m = amg<double, S>(ctx, elastic.a, options, elastic.coordinates);
    REQUIRE(m.hierarchy().levels().size() >= 3);
    const EigenDense dense = dense_operator(ctx, m);
    INFO(detail::name_of(kind));
    CHECK(largest(dense - dense.transpose()) < 1e-12 * largest(dense));
    const EigenDense half = 0.5 * (dense + dense.transpose());
    CHECK(Eigen::SelfAdjointEigenSolver<EigenDense>(half).eigenvalues()(0) > 0);
  }
}

TEST_ON_HOST("AMG's largest eigenvalues come close from below", "[amg]") {
  for (const HostCsr& a : {fem_matrix("generate:diffusion:6"), fem_matrix("generate:elasticity:4"),
                           with_stiff_elements(50), diagonal_matrix(7), neumann_grid(3, 2)}) {
    const EigenDense dense = eigen_dense(a);
    const Eigen::VectorXd root = dense.diagonal().cwiseSqrt().cwiseInverse();
    const EigenDense scaled = root.asDiagonal() * dense * root.asDiagonal();
    const double exact = Eigen::SelfAdjointEigenSolver<EigenDense>(scaled).eigenvalues().tail(1)(0);
    const double found = detail::largest_eigenvalue(ctx, blocks_of(ctx, a, 1), 10).lambda;
    INFO(a.rows);
    CHECK(found <= exact * (1 + 1e-12));
    CHECK(found >= 0.95 * exact);
  }
}

TEST_BOTH("A look at the values tells how far a matrix is from symmetric", "[amg]") {
  const auto share = [&](const HostCsr& a, int node_rows) {
    const auto there = upload_matrix<double>(ctx, a);
    return detail::expected_antisymmetry(ctx, there.wide(), node_rows);
  };
  const HostCsr convection = fem_matrix("generate:convection:6:40");
  const EigenDense dense = eigen_dense(convection);
  const EigenDense off = dense - EigenDense(dense.diagonal().asDiagonal());
  const double exact = (off - off.transpose()).norm() / (2 * off.norm());
  CHECK(share(convection, 1) == Approx(exact).epsilon(1e-12));
  CHECK(share(kron_identity(convection, 3), 3) == Approx(exact).epsilon(1e-12));
  MapRows one_sided(2);
  one_sided[0] = {{0, 2.0}, {1, 1.0}};
  one_sided[1] = {{1, 2.0}};
  CHECK(share(from_rows(2, one_sided), 1) == Approx(std::sqrt(0.5)));
  CHECK(share(from_rows(2, one_sided), 2) == 0);  // in one node
  CHECK(share(diagonal_matrix(5), 1) == 0);
}

TEST_BOTH("The setup of AMG includes SPAI if convection prevails", "[amg]") {
  const PrecondMethod& method = find_preconditioner("amg");
  const auto seconds = [&](const char* matrix, bool symmetric) {
    const HostCsr a = fem_matrix(matrix);
    const auto there = upload_matrix<double>(ctx, a);
    PrecondOptions options;
    options.symmetric = symmetric;
    KnownValues values;
    values.matrix = there.wide();
    const auto view = there.wide();
    return detail::build_seconds(ctx, Pattern<S>(view), method, options, nullptr, &values).build;
  };
  const double plain = seconds("generate:convection:12:0.01", false);
  CHECK(seconds("generate:convection:12:0.01", true) == Approx(plain));
  const double slow = seconds("generate:convection:12:6", false), fast = seconds("generate:convection:12:40", false);
  CHECK(slow > plain);  // SPAI on the coarse levels
  CHECK(fast > slow);   // on all
}

TEST_ON_HOST("AMG measures how far a matrix is from symmetric, and entangled nodes", "[amg]") {
  const HostCsr convection = fem_matrix("generate:convection:6:40");
  const EigenDense a = eigen_dense(convection);
  const EigenDense off = a - EigenDense(a.diagonal().asDiagonal());
  const double exact = (off - off.transpose()).norm() / (2 * off.norm());
  CHECK(std::fabs(detail::antisymmetric_share(ctx, blocks_of(ctx, convection, 1)) - exact) < 1e-13);
  MapRows one_sided(2);
  one_sided[0] = {{0, 2.0}, {1, 1.0}};
  one_sided[1] = {{1, 2.0}};
  CHECK(std::fabs(detail::antisymmetric_share(ctx, blocks_of(ctx, from_rows(2, one_sided), 1)) - std::sqrt(0.5)) <
        1e-15);
  CHECK(detail::antisymmetric_share(ctx, blocks_of(ctx, fem_matrix("generate:elasticity:4"), 3)) < 1e-15);
  CHECK(detail::antisymmetric_share(ctx, blocks_of(ctx, diagonal_matrix(5), 1)) == 0);

  // Positive entries of 0.9 and 0.7 of the diagonal; negative ones do not count.
  MapRows rows(4);
  for (Index i = 0; i < 4; ++i) rows[i][i] = 1;
  rows[0][1] = 0.5, rows[0][2] = 0.4;
  rows[1][0] = 0.7;
  rows[2][0] = -0.9;
  CHECK(detail::entangled_share(ctx, blocks_of(ctx, from_rows(4, rows), 1)) == 0.25);
}

TEST_BOTH("AMG chooses FSAI for two entangled nodes in 400,000", "[amg]") {
  MapRows rows(400000);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i][static_cast<Index>(i)] = 1;
  const auto chosen = [&] {
    const auto a = in_space(ctx, blocks_of(Context<host>(), from_rows(static_cast<Index>(rows.size()), rows), 1));
    return detail::choose_smoother(ctx, a, AmgSmoother::automatic, true);
  };
  CHECK(chosen() == AmgSmoother::chebyshev);
  rows[7][8] = rows[8][7] = 0.9;
  CHECK(chosen() == AmgSmoother::fsai);
}

TEST_ON_HOST("AMG does not smooth by SPAI if rows are so long that its local problems are dense matrices", "[amg]") {
  const auto chosen = [&](Index n, Index length) {
    MapRows rows(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) {
      for (Index k = 1; k < length; ++k) rows[static_cast<std::size_t>(i)][(i + k) % n] = -1;  // those behind alone
      rows[static_cast<std::size_t>(i)][i] = length;
    }
    return detail::choose_smoother(ctx, blocks_of(ctx, from_rows(n, rows), 1), AmgSmoother::automatic, false);
  };
  CHECK(chosen(300, 10) == AmgSmoother::spai);
  CHECK(chosen(3000, 10) == AmgSmoother::spai);
  CHECK(chosen(800, 350) == AmgSmoother::jacobi);  // 350 x 800 operations for an entry
}

TEST_BOTH("AMG chooses SPAI for convection, FSAI for flat elements and else Chebyshev's polynomial", "[amg]") {
  const auto chosen = [&](const HostCsr& a, AmgSmoother asked) {
    const auto m = amg<double, S>(ctx, a, smoother_options(asked));
    return std::make_pair(m.hierarchy().levels()[0].smoother, m.info().detail);
  };
  const HostCsr good = fem_matrix("generate:diffusion:9"), flow = fem_matrix("generate:convection:9:200");
  CHECK(chosen(good, AmgSmoother::automatic).first == AmgSmoother::chebyshev);
  CHECK(chosen(fem_matrix("generate:convection:9:1"), AmgSmoother::automatic).first == AmgSmoother::chebyshev);
  CHECK(chosen(flow, AmgSmoother::automatic).first == AmgSmoother::spai);
  CHECK(contains(chosen(flow, AmgSmoother::automatic).second, "spai"));
  CHECK(chosen(with_stiff_elements(50), AmgSmoother::automatic).first == AmgSmoother::fsai);
  CHECK(contains(chosen(with_stiff_elements(50), AmgSmoother::automatic).second, "fsai"));
  CHECK(chosen(flow, AmgSmoother::jacobi).first == AmgSmoother::jacobi);
  CHECK(contains(chosen(good, AmgSmoother::fsai).second, "fsai"));
}

namespace {

// Upwind differences for a vortex in a square: -nu laplace u + v . grad u. Its cells have Peclet numbers up to
// h / nu.
HostCsr vortex(Index side, double nu) {
  const double h = 1.0 / (side + 1);
  MapRows rows(static_cast<std::size_t>(side) * side);
  for (Index j = 0; j < side; ++j) {
    for (Index i = 0; i < side; ++i) {
      const double x = (i + 1) * h, y = (j + 1) * h;
      const double vx = 4 * x * (x - 1) * (1 - 2 * y), vy = -4 * y * (y - 1) * (1 - 2 * x);
      const Index row = j * side + i;
      auto& of_row = rows[static_cast<std::size_t>(row)];
      const auto couple = [&](bool inside, Index other, double speed) {
        const double value = nu / (h * h) + std::max(speed, 0.0) / h;
        of_row[row] += value;
        if (inside) of_row[other] -= value;
      };
      couple(i > 0, row - 1, vx);
      couple(i + 1 < side, row + 1, -vx);
      couple(j > 0, row - side, vy);
      couple(j + 1 < side, row + side, -vy);
    }
  }
  return from_rows(side * side, rows);
}

}  // namespace

TEST_BOTH("AMG smooths by incomplete factors if asked to, and not by itself", "[amg]") {
  const HostCsr a = vortex(60, 1e-6);
  const auto chosen = [&](AmgSmoother asked) {
    return amg<double, S>(ctx, a, smoother_options(asked)).hierarchy().levels()[0].smoother;
  };
  CHECK(chosen(AmgSmoother::automatic) == AmgSmoother::spai);
  CHECK(chosen(AmgSmoother::ilut) == AmgSmoother::ilut);
  const auto info = amg<double, S>(ctx, a, smoother_options(AmgSmoother::ilut)).info();
  CHECK(contains(info.detail, "ilut"));
}

TEST_ON_HOST("AMG with incomplete factors solves convection of Peclet numbers of 1e5 a cell", "[amg]") {
  for (const double nu : {1e-3, 1e-5, 1.6e-7}) {  // with 60 points h / nu is 1e5 for the last
    const HostCsr a = vortex(60, nu);
    for (const char* solver : {"bicgstab", "gmres"}) {
      SystemOptions options = system_options(solver, "amg", "csr");
      options.precond.of<AmgOptions>().smoother = AmgSmoother::ilut;
      const auto there = upload_matrix<double>(ctx, a);
      LinearSystem<double, host> system(ctx, there.wide(), options);
      std::vector<double> b(static_cast<std::size_t>(a.rows), 1.0), x(b.size(), 0.0);
      const SolveReport report =
          system.solve({b.data(), a.rows}, Span<double, host>(x.data(), a.rows), {}, InitialGuess::zero);
      INFO(nu << " " << solver << ": " << report.reason);
      CHECK(report.converged());
      CHECK(report.iterations <= 50);
      std::vector<double> r = b;
      for (Index i = 0; i < a.rows; ++i) {
        for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) r[i] -= a.val[k] * x[a.col[k]];
      }
      double square = 0;
      for (const double v : r) square += v * v;
      CHECK(std::sqrt(square) <= 1.01e-8 * std::sqrt(static_cast<double>(a.rows)));
    }
  }
}

TEST_BOTH("AMG takes Chebyshev's polynomial where FSAI refuses the matrix, unless FSAI was asked for", "[amg]") {
  HostCsr a = with_stiff_elements(50);
  for (Offset k = a.row_ptr[400]; k < a.row_ptr[401]; ++k) {
    if (a.col[k] == 400) a.val[k] = 1e-3;  // not definite
  }
  const auto m = amg<double, S>(ctx, a, smoother_options(AmgSmoother::automatic));
  CHECK(m.hierarchy().levels()[0].smoother == AmgSmoother::fsai);
  CHECK(m.info().detail.find("chebyshev") == 0);
  CHECK_THROWS_AS((amg<double, S>(ctx, a, smoother_options(AmgSmoother::fsai))), NotPositiveDefinite);
}

TEST_BOTH("FSAI smooths levels of AMG with rows of zeros", "[amg]") {
  const HostCsr a = fem_matrix("generate:diffusion:9");
  PrecondOptions options = smoother_options(AmgSmoother::fsai);
  options.of<AmgOptions>().max_coarse = 12;
  // The second vector depends on the first in every aggregate.
  options.of<AmgOptions>().vectors = std::make_shared<NearNullVectors>(
      NearNullVectors{2, std::vector<double>(2 * static_cast<std::size_t>(a.rows), 1.0)});
  const auto m = amg<double, S>(ctx, a, options);
  REQUIRE(m.hierarchy().levels().size() >= 3);
  REQUIRE(m.hierarchy().levels()[0].tentative.missing > 0);
  CHECK_FALSE(contains(m.info().detail, "chebyshev"));
  const EigenDense dense = dense_operator(ctx, m);
  CHECK(largest(dense - dense.transpose()) < 1e-12 * largest(dense));
  CHECK(Eigen::SelfAdjointEigenSolver<EigenDense>(dense).eigenvalues()(0) > 0);
}

TEST_CASE("AMG keeps no FSAI that leaves the spectrum as wide as the diagonal does", "[amg][data]") {
  if (skipped_without_data()) return;
  const Context<host> ctx;
  const Csr<double, host> a = read_matrix(ctx, data_folder() + "/matrices/ex10hs.mtx.gz");
  const auto made = [&](AmgSmoother asked) {
    return AmgOperator<double, host>(ctx, a, {}, smoother_options(asked), SpmvOptions{});
  };
  const auto chosen = made(AmgSmoother::automatic);
  CHECK(chosen.hierarchy().levels()[0].smoother == AmgSmoother::fsai);
  CHECK(chosen.info().detail.find("chebyshev") == 0);
  CHECK(made(AmgSmoother::fsai).info().detail.find("fsai") == 0);
}

TEST_BOTH("A refresh reaches AMG's sparse smoothers, and FSAI keeps its values where it refuses the new ones",
          "[amg]") {
  for (const AmgSmoother kind : {AmgSmoother::spai, AmgSmoother::fsai}) {
    const HostCsr a = system_for(kind);
    HostCsr scaled = a;
    for (double& value : scaled.val) value *= 16;  // of which the root is exact too
    PrecondOptions options = smoother_options(kind);
    options.of<AmgOptions>().max_coarse = 5;
    auto m = amg<double, S>(ctx, a, options);
    REQUIRE(m.hierarchy().levels().size() >= 3);
    const auto x = random_vector<double>(a.rows);
    const auto values = upload(ctx, scaled.val);
    m.refresh(ctx, values.cspan());
    INFO(detail::name_of(kind));
    CHECK(same_bits(applied(ctx, m, x), applied(ctx, amg<double, S>(ctx, scaled, options), x)));
    if (kind == AmgSmoother::spai) continue;
    HostCsr changed = scaled;
    for (Offset k = a.row_ptr[100]; k < a.row_ptr[101]; ++k) {
      if (a.col[k] == 100) changed.val[k] = 1e-3;
    }
    const auto indefinite = upload(ctx, changed.val);
    CHECK_NOTHROW(m.refresh(ctx, indefinite.cspan()));
    m.refresh(ctx, values.cspan());
    CHECK(same_bits(applied(ctx, m, x), applied(ctx, amg<double, S>(ctx, scaled, options), x)));
  }
}

TEST_BOTH("AMG with SPAI and FSAI moves to another order of the matrix", "[amg]") {
  for (const AmgSmoother kind : {AmgSmoother::spai, AmgSmoother::fsai}) {
    const HostCsr a = system_for(kind);
    auto m = amg<double, S>(ctx, a, smoother_options(kind));
    const auto x = random_vector<double>(a.rows), y = applied(ctx, m, x);
    INFO(detail::name_of(kind));
    const Moved<S> moved(ctx, m);
    CHECK(moved.difference(x, 1, y) < 1e-12 * norm_oracle(y));
  }
}

TEST_BOTH("AMG moves to another order of a matrix of nodes, and takes new values there", "[amg]") {
  const MeshSystem system("generate:elasticity:6");
  const HostCsr& a = system.a;
  HostCsr scaled = a;
  for (double& value : scaled.val) value *= 16;  // exact, and so is what the cycle makes of it
  auto m = amg<double, S>(ctx, a, small_levels(40), system.coordinates);
  const auto x = random_vector<double>(a.rows), y = applied(ctx, m, x);
  const Moved<S> moved(ctx, m);
  CHECK(moved.difference(x, 1, y) < 1e-12 * norm_oracle(y));
  const auto values = upload(ctx, scaled.val);
  moved.there->refresh(ctx, values.cspan());
  CHECK(moved.difference(x, 16, y) < 1e-12 * norm_oracle(y));
}

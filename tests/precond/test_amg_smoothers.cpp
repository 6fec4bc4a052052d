// SPDX-License-Identifier: Apache-2.0
// AMG's smoothers: SPAI and FSAI against their definitions, which of them the setup chooses, refreshes.
#include <purlin/precond/amg/amg_smoother.hpp>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <map>
#include <set>

#include <purlin/core/error.hpp>
#include <purlin/core/matrix_market.hpp>
#include <purlin/precond/amg/tied_nodes.hpp>

#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"

namespace purlin::testing {
namespace {

constexpr Space host = Space::host;

// The columns of each row.
using RowSets = std::vector<std::set<Index>>;

RowSets row_sets(const HostCsr& a) {
  RowSets rows;
  for (Index i = 0; i < a.rows; ++i) {
    rows.emplace_back(a.col.begin() + a.row_ptr[i], a.col.begin() + a.row_ptr[i + 1]);
  }
  return rows;
}

// G^T G by its definition: row i of G solves A(J, J) g = e on the entries on and below the diagonal.
EigenDense fsai_oracle(const EigenDense& a, const RowSets& rows) {
  EigenDense g = EigenDense::Zero(a.rows(), a.rows());
  for (Index i = 0; i < a.rows(); ++i) {
    const std::vector<Eigen::Index> J(rows[i].begin(), rows[i].upper_bound(i));
    const Eigen::VectorXd last = EigenDense(a(J, J)).inverse().rightCols(1);
    g(i, J) = last.transpose() / std::sqrt(last(last.size() - 1));
  }
  return g.transpose() * g;
}
EigenDense fsai_oracle(const HostCsr& matrix) { return fsai_oracle(eigen_dense(matrix), row_sets(matrix)); }

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

PrecondOptions smoother_options(AmgSmoother kind, int degree = 2) {
  PrecondOptions options = small_levels(60);
  options.of<AmgOptions>().smoother = kind;
  options.of<AmgOptions>().degree = degree;
  return options;
}

// Without strong neighbours there is one level, and M is one step of the smoother: 4 / (3 lambda) S.
template <Space S>
EigenDense one_step(const Context<S>& ctx, const HostCsr& a, AmgSmoother kind,
                    const std::vector<Index>& old_of_new = {}) {
  PrecondOptions alone = smoother_options(kind);
  alone.of<AmgOptions>().theta = 1;
  return dense_operator(ctx, amg<double, S>(ctx, a, alone, nullptr, old_of_new));
}

HostCsr system_for(AmgSmoother kind) {
  return fem_matrix(kind == AmgSmoother::fsai ? "generate:diffusion:6" : "generate:convection:6:40");
}

// A symmetric matrix of flat elements: w w^T with w = (1, -1, 1, -1) on four nodes, beside a good one.
HostCsr with_flat_elements(Index every) {
  const HostCsr good = fem_matrix("generate:diffusion:9");
  Rows rows(good.rows);
  for (Index i = 0; i < good.rows; ++i) {
    for (Offset k = good.row_ptr[i]; k < good.row_ptr[i + 1]; ++k) rows[i][good.col[k]] = good.val[k];
  }
  for (Index i = 0; i + 4 <= good.rows; i += every) {
    for (Index r = 0; r < 4; ++r) {
      for (Index c = 0; c < 4; ++c) rows[i + r][i + c] += (r + c) % 2 == 0 ? 1e3 : -1e3;
    }
  }
  return from_rows(good.rows, rows);
}

}  // namespace

TEST_BOTH("SPAI and FSAI smooth AMG's levels as polynomials of their definitions", "[amg]") {
  const auto ctx = make_context<S>();
  for (const AmgSmoother kind : {AmgSmoother::spai, AmgSmoother::fsai}) {
    const HostCsr matrix = system_for(kind);
    const EigenDense a = eigen_dense(matrix),
                     s = kind == AmgSmoother::fsai ? fsai_oracle(matrix) : spai_oracle(matrix);
    const EigenDense step = one_step(ctx, matrix, kind);
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
  const auto ctx = make_context<S>();
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

TEST_CASE("AMG's largest eigenvalues come close from below", "[amg]") {
  const Context<host> ctx;
  for (const HostCsr& a : {fem_matrix("generate:diffusion:6"), fem_matrix("generate:elasticity:4"),
                           with_flat_elements(50), diagonal_matrix(7), neumann_grid(3, 2)}) {
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

TEST_CASE("AMG measures how far a matrix is from symmetric, and entangled nodes", "[amg]") {
  const Context<host> ctx;
  const HostCsr convection = fem_matrix("generate:convection:6:40");
  const EigenDense a = eigen_dense(convection);
  const EigenDense off = a - EigenDense(a.diagonal().asDiagonal());
  const double exact = (off - off.transpose()).norm() / (2 * off.norm());
  CHECK(std::fabs(detail::antisymmetric_share(ctx, blocks_of(ctx, convection, 1)) - exact) < 1e-13);
  Rows one_sided(2);
  one_sided[0] = {{0, 2.0}, {1, 1.0}};
  one_sided[1] = {{1, 2.0}};
  CHECK(std::fabs(detail::antisymmetric_share(ctx, blocks_of(ctx, from_rows(2, one_sided), 1)) - std::sqrt(0.5)) <
        1e-15);
  CHECK(detail::antisymmetric_share(ctx, blocks_of(ctx, fem_matrix("generate:elasticity:4"), 3)) < 1e-15);
  CHECK(detail::antisymmetric_share(ctx, blocks_of(ctx, diagonal_matrix(5), 1)) == 0);

  // Positive entries of 0.9 and 0.7 of the diagonal; negative ones do not count.
  Rows rows(4);
  for (Index i = 0; i < 4; ++i) rows[i][i] = 1;
  rows[0][1] = 0.5, rows[0][2] = 0.4;
  rows[1][0] = 0.7;
  rows[2][0] = -0.9;
  CHECK(detail::entangled_share(ctx, blocks_of(ctx, from_rows(4, rows), 1)) == 0.25);
}

TEST_BOTH("AMG chooses FSAI for two entangled nodes in 400,000", "[amg]") {
  const auto ctx = make_context<S>();
  Rows rows(400000);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i][static_cast<Index>(i)] = 1;
  const auto chosen = [&] {
    const auto a = in_space(ctx, blocks_of(Context<host>(), from_rows(static_cast<Index>(rows.size()), rows), 1));
    return detail::choose_smoother(ctx, a, AmgSmoother::automatic, true);
  };
  CHECK(chosen() == AmgSmoother::chebyshev);
  rows[7][8] = rows[8][7] = 0.9;
  CHECK(chosen() == AmgSmoother::fsai);
}

TEST_BOTH("AMG chooses SPAI for convection, FSAI for flat elements and else Chebyshev's polynomial", "[amg]") {
  const auto ctx = make_context<S>();
  const auto chosen = [&](const HostCsr& a, AmgSmoother asked) {
    const auto m = amg<double, S>(ctx, a, smoother_options(asked));
    return std::make_pair(m.hierarchy().levels()[0].smoother, m.info().detail);
  };
  const HostCsr good = fem_matrix("generate:diffusion:9"), flow = fem_matrix("generate:convection:9:200");
  CHECK(chosen(good, AmgSmoother::automatic).first == AmgSmoother::chebyshev);
  CHECK(chosen(fem_matrix("generate:convection:9:1"), AmgSmoother::automatic).first == AmgSmoother::chebyshev);
  CHECK(chosen(flow, AmgSmoother::automatic).first == AmgSmoother::spai);
  CHECK(contains(chosen(flow, AmgSmoother::automatic).second, "spai"));
  CHECK(chosen(with_flat_elements(50), AmgSmoother::automatic).first == AmgSmoother::fsai);
  CHECK(contains(chosen(with_flat_elements(50), AmgSmoother::automatic).second, "fsai"));
  CHECK(chosen(flow, AmgSmoother::jacobi).first == AmgSmoother::jacobi);
  CHECK(contains(chosen(good, AmgSmoother::fsai).second, "fsai"));
}

TEST_BOTH("AMG takes Chebyshev's polynomial where FSAI refuses the matrix, unless FSAI was asked for", "[amg]") {
  const auto ctx = make_context<S>();
  HostCsr a = with_flat_elements(50);
  for (Offset k = a.row_ptr[400]; k < a.row_ptr[401]; ++k) {
    if (a.col[k] == 400) a.val[k] = 1e-3;  // not definite
  }
  const auto m = amg<double, S>(ctx, a, smoother_options(AmgSmoother::automatic));
  CHECK(m.hierarchy().levels()[0].smoother == AmgSmoother::fsai);
  CHECK(m.info().detail.find("chebyshev") == 0);
  CHECK_THROWS_AS((amg<double, S>(ctx, a, smoother_options(AmgSmoother::fsai))), NotPositiveDefinite);
}

TEST_BOTH("FSAI smooths levels of AMG with rows of zeros", "[amg]") {
  const auto ctx = make_context<S>();
  const HostCsr a = fem_matrix("generate:diffusion:9");
  PrecondOptions options = smoother_options(AmgSmoother::fsai);
  options.of<AmgOptions>().max_coarse = 12;
  // The second vector depends on the first in every aggregate.
  options.of<AmgOptions>().vectors = std::make_shared<NearNullVectors>(
      NearNullVectors{2, std::vector<double>(2 * static_cast<std::size_t>(a.rows), 1.0)});
  const auto m = amg<double, S>(ctx, a, options);
  REQUIRE(m.hierarchy().levels().size() >= 3);
  REQUIRE(m.hierarchy().levels()[0].tentative.missing > 0);
  CHECK(m.info().detail.find("chebyshev") == std::string::npos);
  const EigenDense dense = dense_operator(ctx, m);
  CHECK(largest(dense - dense.transpose()) < 1e-12 * largest(dense));
  CHECK(Eigen::SelfAdjointEigenSolver<EigenDense>(dense).eigenvalues()(0) > 0);
}

// The 5-point Laplacian on side x side points; `pairs` are joined by stiff springs.
HostCsr grid_with_springs(Index side, const std::vector<std::pair<Index, Index>>& pairs) {
  Rows rows(side * side);
  const auto join = [&](Index i, Index j, double stiffness) {
    rows[i][i] += stiffness, rows[j][j] += stiffness;
    rows[i][j] -= stiffness, rows[j][i] -= stiffness;
  };
  for (Index i = 0; i < side * side; ++i) {
    rows[i][i] += i % side == 0 ? 1 : 0;
    if (i % side + 1 < side) join(i, i + 1, 1);
    if (i + side < side * side) join(i, i + side, 1);
  }
  for (const auto& [i, j] : pairs) join(i, j, 1000);
  return from_rows(side * side, rows);
}

// The pattern by its definition, of nodes with `block` unknowns; empty where there is none.
RowSets tied_oracle(const HostCsr& a, int block) {
  const Index nodes = a.rows / block;
  std::vector<std::map<Index, double>> square(static_cast<std::size_t>(nodes));
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      square[i / block][a.col[k] / block] += a.val[k] * a.val[k];
  }
  std::set<Index> tied, members;
  for (Index i = 0; i < nodes; ++i) {
    double sum = 0;
    for (const auto& [j, value] : square[i]) sum += j == i ? 0 : value / std::sqrt(square[i][i] * square[j][j]);
    if (sum >= 0.5) tied.insert(i);
  }
  if (tied.empty() || 20 * static_cast<Index>(tied.size()) > nodes) return {};
  for (const Index i : tied) {
    for (const auto& [j, value] : square[i]) {
      if (value > 0) members.insert(j);
    }
  }
  const std::size_t most = detail::reached_rows(nodes, static_cast<Index>(members.size())) / block;
  RowSets rows(static_cast<std::size_t>(nodes));
  for (Index i = 0; i < nodes; ++i) {
    for (const auto& [j, value] : square[i]) rows[i].insert(j);
  }
  for (const Index i : members) {
    std::vector<Index> found = {i};
    for (std::size_t next = 0; next < found.size(); ++next) {
      for (const auto& [j, value] : square[found[next]]) {
        const bool is_new = std::find(found.begin(), found.end(), j) == found.end();
        if (value > 0 && is_new && members.count(j) != 0) found.push_back(j);
      }
    }
    found.resize(std::min(found.size(), most));
    rows[i].insert(found.begin(), found.end());
    for (const Index j : found) rows[j].insert(i);
  }
  return rows;
}

template <Space S>
RowSets tied_rows(const Context<S>& ctx, const HostCsr& a, int block) {
  const auto found = detail::tied_pattern(ctx, in_space(ctx, blocks_of(Context<host>(), a, block)));
  if (!found) return {};
  const std::vector<Offset> row_ptr = download(ctx, found->row_ptr);
  const std::vector<Index> col = download(ctx, found->col);
  REQUIRE(static_cast<Index>(row_ptr.size()) == found->rows + 1);
  RowSets rows;
  for (Index i = 0; i < found->rows; ++i) {
    for (Offset k = row_ptr[i] + 1; k < row_ptr[i + 1]; ++k) REQUIRE(col[k - 1] < col[k]);
    rows.emplace_back(col.begin() + row_ptr[i], col.begin() + row_ptr[i + 1]);
  }
  return rows;
}

// Pairs side by side, in rows `from` and `from` + 1 of the grid.
std::vector<std::pair<Index, Index>> pairs_in_line(Index side, Index from, Index count) {
  std::vector<std::pair<Index, Index>> pairs;
  for (Index column = 1; column <= count; ++column) {
    pairs.emplace_back(side * from + column, side * (from + 1) + column);
  }
  return pairs;
}

TEST_BOTH("AMG's FSAI sees tied nodes with their neighbours, and elsewhere the pattern of A", "[amg]") {
  const auto ctx = make_context<S>();
  CHECK(tied_rows(ctx, grid_with_springs(20, {}), 1).empty());
  CHECK(tied_rows(ctx, fem_matrix("generate:diffusion:9"), 1).empty());
  // 20 * 9 + 9 and its neighbour above, which a spring ties: 8 nodes with those around them.
  const HostCsr a = grid_with_springs(20, {{189, 209}});
  const std::set<Index> group = {169, 188, 189, 190, 208, 209, 210, 229};
  RowSets expected = row_sets(a);
  for (const Index i : group) expected[i].insert(group.begin(), group.end());
  CHECK(tied_rows(ctx, a, 1) == expected);
  // Three unknowns a node: the same groups.
  CHECK(tied_rows(ctx, kron_identity(a, 3), 3) == expected);
  // Springs at every second node are no single elements.
  std::vector<std::pair<Index, Index>> everywhere;
  for (Index i = 0; i + 1 < 400; i += 2) everywhere.emplace_back(i, i + 1);
  CHECK(tied_rows(ctx, grid_with_springs(20, everywhere), 1).empty());
}

TEST_BOTH("AMG's FSAI sees no more of a large group than what is nearest", "[amg]") {
  const auto ctx = make_context<S>();
  CHECK(detail::reached_rows(64 * 64, 4 * 59 + 4) == 64);
  CHECK(detail::reached_rows(1000000, 6000) == 135);
  CHECK(detail::reached_rows(1000000, 10) == 256);
  const HostCsr line = grid_with_springs(64, pairs_in_line(64, 20, 59));
  for (const int block : {1, 2, 3}) {
    INFO(block);
    const HostCsr a = kron_identity(line, block);
    const RowSets found = tied_rows(ctx, a, block);
    CHECK(found == tied_oracle(a, block));
    // Nodes around the middle, or of which it is around theirs: none is farther from it than 6 columns, or outside of
    // the pairs and what touches them.
    if (block != 3) continue;
    for (const Index j : found[64 * 20 + 30]) {
      CHECK(std::abs(j % 64 - 30) <= 6);
      CHECK((j / 64 >= 19 && j / 64 <= 22));
    }
  }
  // A hundred rows and more of a group.
  const HostCsr large = grid_with_springs(122, pairs_in_line(122, 20, 36));
  CHECK(tied_rows(ctx, large, 1) == tied_oracle(large, 1));
  // Pairs anywhere, and zeros that are stored between them, which couple nothing.
  Random random(17);
  std::vector<std::pair<Index, Index>> pairs;
  for (int k = 0; k < 20; ++k) pairs.emplace_back(random.index(1600), random.index(1600));
  HostCsr anywhere = grid_with_springs(40, pairs);
  Rows rows(anywhere.rows);
  for (Index i = 0; i < anywhere.rows; ++i) {
    for (Offset k = anywhere.row_ptr[i]; k < anywhere.row_ptr[i + 1]; ++k) rows[i][anywhere.col[k]] = anywhere.val[k];
  }
  for (const auto& [i, j] : pairs) {
    const Index k = pairs.front().first;
    rows[i][k] += 0, rows[k][i] += 0;
    rows[j][k] += 0, rows[k][j] += 0;
  }
  anywhere = from_rows(anywhere.rows, rows);
  CHECK_FALSE(tied_rows(ctx, anywhere, 1).empty());
  CHECK(tied_rows(ctx, anywhere, 1) == tied_oracle(anywhere, 1));
}

TEST_BOTH("FSAI smooths on the pattern that tied nodes get, in any order of the solver", "[amg]") {
  const auto ctx = make_context<S>();
  const HostCsr grid = grid_with_springs(10, {{34, 44}, {44, 45}});
  for (const int block : {1, 2}) {
    const HostCsr a = kron_identity(grid, block);
    const RowSets nodes = tied_oracle(a, block);
    REQUIRE_FALSE(nodes.empty());
    for (const std::vector<Index>& old_of_new : {std::vector<Index>(), random_order(a.rows, 3)}) {
      EigenDense matrix = eigen_dense(a);
      RowSets rows(static_cast<std::size_t>(a.rows));
      std::vector<Index> old = old_of_new;
      for (Index i = 0; old_of_new.empty() && i < a.rows; ++i) old.push_back(i);
      for (Index i = 0; i < a.rows; ++i) {
        for (Index j = 0; j < a.rows; ++j) {
          if (nodes[old[i] / block].count(old[j] / block) != 0) rows[i].insert(j);
        }
      }
      const EigenDense s = fsai_oracle(EigenDense(matrix(old, old)), rows);
      const EigenDense step = one_step(ctx, a, AmgSmoother::fsai, old_of_new);
      INFO(block << (old_of_new.empty() ? ", natural" : ", renumbered"));
      CHECK(largest(step * (s(0, 0) / step(0, 0)) - s) < 1e-9 * largest(s));
    }
  }
}

TEST_BOTH("FSAI on the pattern of tied nodes stores no padding, whatever the format of the matrix", "[amg]") {
  const auto ctx = make_context<S>();
  const HostCsr grid = grid_with_springs(10, {{34, 44}, {44, 45}});
  const RowSets rows = tied_oracle(grid, 1);
  std::size_t entries = 0;  // of both triangles, the diagonal twice
  for (const std::set<Index>& row : rows) entries += row.size() + 1;
  const auto level = in_space(ctx, blocks_of(Context<host>(), grid, 1));
  const auto a = make_matrix<double>(ctx, grid);
  SpmvOptions format;
  format.format = "ehyb";
  RowOrder<S> natural;
  auto m = detail::make_sparse_smoother<double, S>(ctx, CsrView<double, S>(a), natural, level, AmgSmoother::fsai,
                                                   true, format);
  CHECK(m->info().stored_slots == static_cast<Offset>(entries));
  const RowOrder<S> order = make_row_order(ctx, random_order(grid.rows, 5));
  m = m->renumbered(ctx, order, format);
  REQUIRE(m != nullptr);
  CHECK(m->info().stored_slots == static_cast<Offset>(entries));
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
  const auto ctx = make_context<S>();
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
  const auto ctx = make_context<S>();
  for (const AmgSmoother kind : {AmgSmoother::spai, AmgSmoother::fsai}) {
    const HostCsr a = system_for(kind);
    auto m = amg<double, S>(ctx, a, smoother_options(kind));
    const auto x = random_vector<double>(a.rows), y = applied(ctx, m, x);
    const std::vector<Index> old_of_new = random_order(a.rows, 5);
    SpmvOptions csr;
    csr.format = "csr";
    const auto moved = m.renumbered(ctx, make_row_order(ctx, old_of_new), csr);
    REQUIRE(moved != nullptr);
    std::vector<double> there(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) there[i] = x[old_of_new[i]];
    const auto found = applied(ctx, *moved, there);
    double difference = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      difference = std::max(difference, std::fabs(found[i] - y[old_of_new[i]]));
    INFO(detail::name_of(kind));
    CHECK(difference < 1e-12 * norm_oracle(y));
  }
}

}  // namespace purlin::testing

// SPDX-License-Identifier: Apache-2.0
/// What the tests of AMG's smoothers share: patterns as sets, FSAI by its definition, and one step of a smoother.
#pragma once

#include <newel/solver/linear_system.hpp>

#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"

namespace newel::testing {

/// The columns of each row.
using RowSets = std::vector<std::set<Index>>;

inline RowSets row_sets(const HostCsr& a) {
  RowSets rows;
  for (Index i = 0; i < a.rows; ++i) {
    rows.emplace_back(a.col.begin() + a.row_ptr[i], a.col.begin() + a.row_ptr[i + 1]);
  }
  return rows;
}

/// G^T G by its definition: row i of G solves A(J, J) g = e on the entries on and below the diagonal.
inline EigenDense fsai_oracle(const EigenDense& a, const RowSets& rows) {
  EigenDense g = EigenDense::Zero(a.rows(), a.rows());
  for (Index i = 0; i < a.rows(); ++i) {
    const std::vector<Eigen::Index> J(rows[i].begin(), rows[i].upper_bound(i));
    const Eigen::VectorXd last = EigenDense(a(J, J)).inverse().rightCols(1);
    g(i, J) = last.transpose() / std::sqrt(last(last.size() - 1));
  }
  return g.transpose() * g;
}
inline EigenDense fsai_oracle(const HostCsr& matrix) { return fsai_oracle(eigen_dense(matrix), row_sets(matrix)); }

/// A symmetric matrix of flat elements: `stiffness` w w^T with w = (1, -1, 1, -1) on four nodes in `every`, beside
/// good ones of a cube of `size` nodes a side.
inline HostCsr with_flat_elements(int size, Index every, double stiffness) {
  const HostCsr good = fem_matrix("generate:diffusion:" + std::to_string(size));
  MapRows rows(good.rows);
  for (Index i = 0; i < good.rows; ++i) {
    for (Offset k = good.row_ptr[i]; k < good.row_ptr[i + 1]; ++k) rows[i][good.col[k]] = good.val[k];
  }
  for (Index i = 0; i + 4 <= good.rows; i += every) {
    for (Index r = 0; r < 4; ++r) {
      for (Index c = 0; c < 4; ++c) rows[i + r][i + c] += (r + c) % 2 == 0 ? stiffness : -stiffness;
    }
  }
  return from_rows(good.rows, rows);
}

inline PrecondOptions smoother_options(AmgSmoother kind, int degree = 2) {
  PrecondOptions options = small_levels(60);
  options.of<AmgOptions>().smoother = kind;
  options.of<AmgOptions>().degree = degree;
  return options;
}

/// Without strong neighbours there is one level, and M is the smoother: with a degree of 1 one step, 4 / (3 lambda)
/// S.
template <Space S>
EigenDense smoother_alone(const Context<S>& ctx, const HostCsr& a, AmgSmoother kind, int degree = 1,
                          const std::vector<Index>& old_of_new = {}) {
  PrecondOptions alone = smoother_options(kind, degree);
  alone.of<AmgOptions>().theta = 1;
  return dense_operator(ctx, amg<double, S>(ctx, a, alone, nullptr, old_of_new));
}

/// The iterations of CG with AMG from 0 to `tolerance` on a host, b = ones, A in csr.
inline int cg_iterations(const HostCsr& a, const PrecondOptions& amg, double tolerance,
                         std::shared_ptr<const NodeCoordinates> coordinates = nullptr) {
  constexpr Space host = Space::host;
  const Context<host> ctx;
  SystemOptions options;
  options.solver.name = "cg";
  options.precond = amg;
  options.precond.name = "amg";
  options.spmv.format = "csr";
  options.spmv.coordinates = std::move(coordinates);
  options.stop.rel_tol = tolerance;
  const auto matrix = make_matrix<double>(ctx, a);
  LinearSystem<double, host> system(ctx, CsrView<double, host>(matrix), options);
  Array<double, host> b(ctx, a.rows), x(ctx, a.rows);
  fill(ctx, 1.0, b.span());
  fill(ctx, 0.0, x.span());
  const SolveReport report = system.solve(b.cspan(), x.span());
  REQUIRE(report.converged());
  return report.iterations;
}

}  // namespace newel::testing

// SPDX-License-Identifier: Apache-2.0
// Incomplete factors and FSAI of batches, judged by dense factors and inverses that the test computes.
#include "tests/catch.hpp"

#include "solver/batched/inverse/batched_ilu_schedule.hpp"
#include "tests/solver/batched_support.hpp"

namespace {

using newel::detail::FactorStep, newel::detail::IluSchedule, newel::detail::no_position;
using Dense = Eigen::MatrixXd;

/// L U - with the inverses of L's unit and U's diagonal left to the caller - of ILU(0) by its definition: Saad,
/// algorithm 10.4, on a dense matrix and the pattern. Pivots that are zero or missing count as 1.
Dense dense_ilu(const HostCsr& pattern, Dense a) {
  const auto stored = [&](Index i, Index j) {
    return std::binary_search(pattern.col.begin() + pattern.row_ptr[i], pattern.col.begin() + pattern.row_ptr[i + 1],
                              j);
  };
  for (Index i = 0; i < pattern.rows; ++i) {
    for (Index k = 0; k < i; ++k) {
      if (!stored(i, k)) continue;
      a(i, k) /= a(k, k);
      for (Index j = k + 1; j < pattern.rows; ++j) {
        if (stored(i, j)) a(i, j) -= a(i, k) * a(k, j);
      }
    }
    if (!stored(i, i) || a(i, i) == 0) a(i, i) = 1;
  }
  return a;
}

/// (L U)^-1 v
Eigen::VectorXd ilu_applied(const HostCsr& pattern, const Dense& a, const Eigen::VectorXd& v) {
  const Dense factors = dense_ilu(pattern, a);
  const Eigen::VectorXd y = factors.triangularView<Eigen::UnitLower>().solve(v);
  return factors.triangularView<Eigen::Upper>().solve(y);
}

/// G of FSAI by its definition: A(J, J) g = e_last, scaled by 1 / sqrt(g_last), J from `columns(i)`.
template <class Columns>
Dense dense_fsai(const Dense& a, Columns&& columns) {
  Dense g = Dense::Zero(a.rows(), a.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    const std::vector<Index> J = columns(i);
    const auto m = static_cast<Index>(J.size());
    Dense local(m, m);
    for (Index r = 0; r < m; ++r) {
      for (Index c = 0; c < m; ++c) local(r, c) = a(std::max(J[r], J[c]), std::min(J[r], J[c]));
    }
    const Eigen::VectorXd row = local.fullPivLu().solve(Eigen::VectorXd::Unit(m, m - 1));
    for (Index k = 0; k < m; ++k) g(i, J[k]) = row(k) / std::sqrt(row(m - 1));
  }
  return g;
}

/// The columns of a row of the lower triangle, at most 32 of them.
std::vector<Index> lower_columns(const HostCsr& pattern, Index i) {
  std::vector<Index> result;
  for (Offset e = pattern.row_ptr[i]; e < pattern.row_ptr[i + 1]; ++e) {
    if (pattern.col[e] < i) result.push_back(pattern.col[e]);
  }
  result.push_back(i);
  if (result.size() > 32) result.erase(result.begin(), result.end() - 32);
  return result;
}

/// M of each system is seen through one iteration of GMRES from zero: x = c M b, where c minimises |b - c A M b|.
template <class T, Space S, class Applied>
void require_preconditioner(const Context<S>& ctx, const Batch<T>& batch, const std::string& precond, double bound,
                            Applied&& applied) {
  BatchedOptions options = options_of("gmres", precond, 0);
  options.max_iterations = 1;
  const BatchAnswer<T> answer = solve_batch<T>(ctx, batch, options);
  REQUIRE(answer.report.together);
  for (Index s = 0; s < batch.systems; ++s) {
    const Dense a = dense(batch.matrix(s));
    const std::vector<T> rhs = batch.rhs(s), x = batch.part(answer.x, s);
    Eigen::VectorXd b(a.rows()), found(a.rows());
    for (Index i = 0; i < a.rows(); ++i) b(i) = rhs[i], found(i) = x[i];
    const Eigen::VectorXd z = applied(a, b), az = a * z;
    const Eigen::VectorXd expected = z * (az.dot(b) / az.squaredNorm());
    INFO(precond << ", system " << s);
    REQUIRE((found - expected).norm() <= bound * expected.norm());
  }
}

/// A random pattern with a diagonal, some of whose rows are long; with `mirrored` a symmetric one.
HostCsr ragged_pattern(Index rows, Index longest, bool mirrored) {
  const HostCsr random = random_matrix(rows, rows, 3, [&](Index i) { return Offset{i % 7 == 3 ? longest : i % 5}; });
  MapRows all(static_cast<std::size_t>(rows));
  for (Index i = 0; i < rows; ++i) {
    all[i][i] = 1;
    for (Offset e = random.row_ptr[i]; e < random.row_ptr[i + 1]; ++e) {
      all[i][random.col[e]] = 1;
      if (mirrored) all[random.col[e]][i] = 1;
    }
  }
  return from_rows(rows, all);
}

HostCsr full_pattern(Index rows) {
  MapRows all(static_cast<std::size_t>(rows));
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < rows; ++j) all[i][j] = 1;
  }
  return from_rows(rows, all);
}

template <class T, Space S>
void compare_with_dense(const Context<S>& ctx, const HostCsr& pattern, bool mirrored, double bound) {
  const Batch<T> batch = dominant_batch<T>(pattern, 9, mirrored);
  require_preconditioner<T>(ctx, batch, "ilu", bound,
                            [&](const Dense& a, const Eigen::VectorXd& v) { return ilu_applied(pattern, a, v); });
  if (!mirrored) return;
  require_preconditioner<T>(ctx, batch, "fsai", bound, [&](const Dense& a, const Eigen::VectorXd& v) {
    const Dense g = dense_fsai(a, [&](Index i) { return lower_columns(pattern, i); });
    return Eigen::VectorXd(g.transpose() * (g * v));
  });
}

}  // namespace

TEST_BOTH("Incomplete factors and FSAI of a batch are those of their definitions", "[batched]") {
  for (const bool mirrored : {false, true}) {
    for (const HostCsr& pattern : {grid_pattern(9, 7), grid_pattern(31, 5), ragged_pattern(70, 20, mirrored),
                                   full_pattern(45), diagonal_matrix(33)}) {
      INFO(pattern.rows << " rows, " << pattern.nnz() << " entries");
      compare_with_dense<double>(ctx, pattern, mirrored, 1e-12);
      compare_with_dense<float>(ctx, pattern, mirrored, 5e-4);
    }
  }
}

TEST_CASE("The levels of incomplete factors compute ILU(0) in any order within a level", "[batched]") {
  const MapRows without_diagonals = {
      {{0, 2.0}, {2, 1.0}}, {{0, -3.0}, {2, 1.5}, {3, 1.0}}, {{1, 0.5}, {2, -4.0}}, {{0, 1.0}, {1, 2.5}}};
  std::vector<HostCsr> matrices = {from_rows(4, without_diagonals)};
  for (const HostCsr& pattern : {grid_pattern(9, 7), ragged_pattern(60, 25, false), full_pattern(20)})
    matrices.push_back(dominant_batch<double>(pattern, 1, false).matrix(0));
  for (const HostCsr& a : matrices) {
    const Csr<double, host> matrix = make_matrix<double>(Context<host>(1), a);
    const IluSchedule plan{Pattern<host>(CsrView<double, host>(matrix))};
    std::vector<double> value(a.val.begin(), a.val.end());
    for (std::size_t level = 0; level + 1 < plan.step_level.size(); ++level) {
      REQUIRE(plan.step_level[level] < plan.step_level[level + 1]);
      const std::vector<double> before = value;  // inputs of a level are outputs of earlier ones
      for (int k = plan.step_level[level]; k < plan.step_level[level + 1]; ++k) {
        const FactorStep step = plan.step[k];
        double entry = before[step.entry];
        for (int p = step.first_pair; p < plan.step[k + 1].first_pair; ++p)
          entry -= before[plan.pair[p].left] * before[plan.pair[p].upper];
        if (step.pivot == step.entry)
          entry = 1 / entry;
        else if (step.pivot != no_position)
          entry *= before[step.pivot];
        value[step.entry] = entry;
      }
    }
    const Dense expected = dense_ilu(a, dense(a));
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset e = a.row_ptr[i]; e < a.row_ptr[i + 1]; ++e) {
        const double wanted = expected(i, a.col[e]);
        REQUIRE(value[e] == Approx(a.col[e] == i ? 1 / wanted : wanted).epsilon(1e-12).margin(1e-13));
      }
    }
  }
}

TEST_BOTH("Incomplete factors of a batch are exact for a pattern without fill, and save iterations as FSAI does",
          "[batched]") {
  MapRows rows(40);
  for (Index i = 0; i < 40; ++i) {
    for (Index j = std::max(0, i - 1); j <= std::min(39, i + 1); ++j) rows[i][j] = 1;
  }
  const Batch<double> line = dominant_batch<double>(from_rows(40, rows), 11, false);
  for (const std::string solver : {"bicgstab", "gmres"}) {
    const BatchAnswer<double> answer = solve_batch<double>(ctx, line, options_of(solver, "ilu", 1e-10));
    for (Index s = 0; s < 11; ++s) {
      require_solved(line, answer, s);
      REQUIRE(answer.report.systems[s].iterations <= 2);  // M is the inverse
    }
  }
  const Batch<double> grid = dominant_batch<double>(grid_pattern(12, 12), 11, true);
  const BatchAnswer<double> with = solve_batch<double>(ctx, grid, options_of("cg", "ilu", 1e-10));
  const BatchAnswer<double> fsai = solve_batch<double>(ctx, grid, options_of("cg", "fsai", 1e-10));
  const BatchAnswer<double> without = solve_batch<double>(ctx, grid, options_of("cg", "jacobi", 1e-10));
  for (Index s = 0; s < 11; ++s) {
    require_solved(grid, with, s);
    require_solved(grid, fsai, s);
    REQUIRE(2 * with.report.systems[s].iterations <= without.report.systems[s].iterations);
    REQUIRE(4 * fsai.report.systems[s].iterations <= 3 * without.report.systems[s].iterations);
  }
}

TEST_BOTH("Incomplete factors of a batch count pivots that are zero or missing as 1", "[batched]") {
  Batch<double> batch = dominant_batch<double>(grid_pattern(4, 4), 9, false);
  const BatchAnswer<double> before = solve_batch<double>(ctx, batch, options_of("gmres", "ilu", 1e-10));
  batch.value(4, 0, 0) = 0;
  const BatchAnswer<double> after = solve_batch<double>(ctx, batch, options_of("gmres", "ilu", 1e-10));
  require_solved(batch, after, 4);
  for (const Index s : {0, 3, 5, 8}) REQUIRE(same_bits(batch.part(before.x, s), batch.part(after.x, s)));
  Batch<double> swapped{from_rows(2, {{{1, 1.0}}, {{0, 1.0}}}), 9, std::vector<double>(18, 3.0),
                        random_vector<double>(18, 7)};
  const BatchAnswer<double> found = solve_batch<double>(ctx, swapped, options_of("gmres", "ilu", 1e-10));
  for (Index s = 0; s < 9; ++s) require_solved(swapped, found, s);
}

TEST_BOTH("FSAI of a batch takes the diagonal of rows whose local problem is not positive definite", "[batched]") {
  const HostCsr pattern = grid_pattern(5, 4);
  Batch<double> batch = dominant_batch<double>(pattern, 9, true);
  const BatchAnswer<double> before = solve_batch<double>(ctx, batch, options_of("gmres", "fsai", 1e-10));
  const Index changed = 4, negative = 7, huge = 12, far = 16;
  batch.value(changed, negative, negative) = -3;
  batch.value(changed, huge, huge - 1) = batch.value(changed, huge - 1, huge) = 40;
  batch.value(changed, far, far) = 0;
  const BatchAnswer<double> after = solve_batch<double>(ctx, batch, options_of("gmres", "fsai", 1e-10));
  for (const Index s : {0, 3, 5, 8}) REQUIRE(same_bits(batch.part(before.x, s), batch.part(after.x, s)));
  Batch<double> alone = batch;
  alone.systems = 1;
  alone.values.assign(batch.values.begin() + changed * pattern.nnz(),
                      batch.values.begin() + (changed + 1) * pattern.nnz());
  alone.b = batch.rhs(changed);
  require_preconditioner<double>(ctx, alone, "fsai", 1e-12, [&](const Dense& a, const Eigen::VectorXd& v) {
    const Dense g = dense_fsai(a, [&](Index i) {
      const std::vector<Index> J = lower_columns(pattern, i);
      Dense local(J.size(), J.size());
      for (std::size_t r = 0; r < J.size(); ++r) {
        for (std::size_t c = 0; c < J.size(); ++c) local(r, c) = a(std::max(J[r], J[c]), std::min(J[r], J[c]));
      }
      const bool definite = local.llt().info() == Eigen::Success;
      return definite ? J : std::vector<Index>{i};
    });
    Dense sound = g;  // 1 in rows whose diagonal has no square root
    for (Index i = 0; i < sound.rows(); ++i) {
      if (!(a(i, i) > 0)) sound.row(i) = Eigen::VectorXd::Unit(sound.rows(), i);
    }
    return Eigen::VectorXd(sound.transpose() * (sound * v));
  });
}

TEST_BOTH("Systems whose factors do not fit on a chip are solved one after another", "[batched]") {
  const Batch<double> batch = dominant_batch<double>(full_pattern(190), 2, true);  // 289 kB
  for (const std::string precond : {"ilu", "fsai"}) {
    const BatchAnswer<double> answer = solve_batch<double>(ctx, batch, options_of("cg", precond, 1e-9));
    REQUIRE(answer.report.together == (S == host || precond == "fsai"));  // G has at most 32 entries in a row
    for (Index s = 0; s < batch.systems; ++s) require_solved(batch, answer, s);
  }
}

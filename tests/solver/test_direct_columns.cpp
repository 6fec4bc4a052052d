// SPDX-License-Identifier: Apache-2.0
// Several right-hand sides by one set of factors: how often the library is called, and that each x is judged.
#include "tests/solver/dense_solution.hpp"
#include "tests/solver/systems.hpp"

#include "solver/direct/direct_solver.hpp"
#include "solver/direct/factor_rows.hpp"
#include "solver/krylov/monitor/column_progress.hpp"

namespace {

using detail::ColumnPattern;
using detail::HostFactorisation;

std::vector<std::size_t> solved;       // values in each solve of the library, in the order of the calls
std::size_t spoilt = std::size_t(-1);  // the entry of the first solve that comes out wrong

// Eigen's factors, which note their calls.
class ObservedFactors final : public detail::Factors {
 public:
  explicit ObservedFactors(const detail::FactorTask& task) : of_(detail::eigen_lu().make(task)) {}
  const std::vector<Index>& order() const override { return of_->order(); }
  detail::FactorCost cost() const override { return of_->cost(); }
  void analyse(const ColumnPattern& ordered) override { of_->analyse(ordered); }
  bool factorise(const std::vector<double>& values) override { return of_->factorise(values); }
  void solve(std::vector<double>& v) override {
    of_->solve(v);
    if (solved.empty() && spoilt < v.size()) v[spoilt] *= 1.001;
    solved.push_back(v.size());
  }
  void solve_transposed(std::vector<double>& v) override { of_->solve_transposed(v); }

 private:
  std::unique_ptr<detail::Factors> of_;
};

HostFactorisation observed() {
  HostFactorisation row = detail::eigen_lu();
  row.make = [](const detail::FactorTask& task) -> std::unique_ptr<detail::Factors> {
    return std::make_unique<ObservedFactors>(task);
  };
  return row;
}

constexpr Index columns = 5;

std::vector<double> column_of(const std::vector<double>& v, Index c) {
  const auto n = static_cast<std::ptrdiff_t>(v.size()) / columns;
  return {v.begin() + c * n, v.begin() + (c + 1) * n};
}

// From the guesses in x.
template <Space S>
std::vector<SolveReport> solve_together(const Context<S>& ctx, const Rows& a, const std::vector<double>& b,
                                        std::vector<double>& x, InitialGuess guess) {
  const Arrays<double, S> arrays(ctx, a);
  const RowOrder<S> natural;
  const SolverMatrix<double, S> matrix{arrays.view(), natural};
  const std::vector<HostFactorisation> table = {observed()};
  detail::DirectSolver<double, S> solver(ctx, matrix,
                                         std::make_unique<detail::HostFactors<double, S>>(ctx, table, matrix));
  solved.clear();
  const auto A = make_spmv<double, S>(ctx, arrays.view(), natural, SpmvOptions{"csr"});
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, x);
  const ProgressFn nobody;
  detail::ColumnProgress progress(nobody, columns);
  auto reports = solver.solve(ctx, *A, nullptr, bs.cspan(), xs.span(), columns, StopCriterion{}, progress, guess);
  x = to_vector(ctx, xs.cspan());
  return reports;
}

}  // namespace

TEST_BOTH("Several columns take one solve of the library", "[direct][columns]") {
  const Rows a = laplacian(9, 0.6);
  const auto n = static_cast<std::size_t>(a.size());
  const auto b = noise(columns * a.size(), 3);
  for (const InitialGuess guess : {InitialGuess::zero, InitialGuess::in_x}) {
    std::vector<double> x(b.size(), guess == InitialGuess::zero ? 0.0 : 0.5);
    const auto reports = solve_together(ctx, a, b, x, guess);
    CHECK(solved == std::vector<std::size_t>{columns * n});
    for (Index c = 0; c < columns; ++c) {
      CHECK(reports[static_cast<std::size_t>(c)].converged());
      CHECK(reports[static_cast<std::size_t>(c)].iterations == 0);
      const auto expected = dense_solution(a, column_of(b, c)), found = column_of(x, c);
      for (std::size_t i = 0; i < n; ++i) CHECK(std::fabs(found[i] - expected[i]) <= 1e-11 * norm(expected));
    }
  }
}

TEST_BOTH("A column whose answer is wrong is refined by itself", "[direct][columns]") {
  const Rows a = laplacian(9, 0.6);
  const auto n = static_cast<std::size_t>(a.size());
  const auto b = noise(columns * a.size(), 3);
  std::vector<double> x(b.size(), 0.0);
  spoilt = 3 * n + 7;
  const auto reports = solve_together(ctx, a, b, x, InitialGuess::zero);
  spoilt = std::size_t(-1);
  CHECK(solved == std::vector<std::size_t>{columns * n, n});
  for (Index c = 0; c < columns; ++c) {
    const SolveReport& report = reports[static_cast<std::size_t>(c)];
    CHECK(report.converged());
    CHECK(report.refinements == (c == 3 ? 1 : 0));
    CHECK(true_residual(a, column_of(b, c), column_of(x, c)) <= 1e-8 * norm(column_of(b, c)));
  }
}

TEST_BOTH("A column of zeros and one with a NaN leave the others as they are", "[direct][columns]") {
  const Rows a = laplacian(9, 0.6);
  const auto n = static_cast<std::size_t>(a.size());
  auto b = noise(columns * a.size(), 3);
  std::fill(b.begin() + static_cast<std::ptrdiff_t>(n), b.begin() + static_cast<std::ptrdiff_t>(2 * n), 0.0);
  b[2 * n + 5] = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> x(b.size(), 0.25);
  const auto reports = solve_together(ctx, a, b, x, InitialGuess::in_x);
  CHECK(reports[1].converged());
  CHECK(norm(column_of(x, 1)) == 0);
  CHECK(reports[2].status == Status::not_finite);
  for (const Index c : {0, 3, 4}) {
    CHECK(reports[static_cast<std::size_t>(c)].converged());
    CHECK(true_residual(a, column_of(b, c), column_of(x, c)) <= 1e-8 * norm(column_of(b, c)));
  }
}

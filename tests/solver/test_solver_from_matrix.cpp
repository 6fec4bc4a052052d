// SPDX-License-Identifier: Apache-2.0
// Solvers that are made from a matrix: one of a test's own, which eliminates, and the division by a diagonal.
#include "tests/solver/systems.hpp"

#include <newel/solver/memory_estimate.hpp>
#include <newel/solver/registry.hpp>

namespace {

// Gaussian elimination with pivots of columns, on a dense copy of the matrix in solver order.
class Elimination final : public KrylovSolver<double, Space::host> {
 public:
  Elimination(const Context<Space::host>& ctx, const SolverMatrix<double, Space::host>& matrix)
      : rows_(matrix.a.rows) {
    const CsrView<double, Space::host>& a = matrix.a;
    for (Index i = 0; i < rows_; ++i) {
      for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) places_.emplace_back(i, a.col[k]);
    }
    // Where each value of the solver's order stands in the caller's.
    const Index n = rows_;
    std::vector<Index> old_of_new(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) {
      old_of_new[static_cast<std::size_t>(i)] = matrix.order.natural() ? i : matrix.order.old_of_new[i];
    }
    for (auto& [i, j] : places_) {
      i = old_of_new[static_cast<std::size_t>(i)];
      j = old_of_new[static_cast<std::size_t>(j)];
    }
    new_of_old_.resize(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) new_of_old_[static_cast<std::size_t>(old_of_new[static_cast<std::size_t>(i)])] = i;
    std::vector<std::pair<std::pair<Index, Index>, double>> entries;
    for (std::size_t k = 0; k < places_.size(); ++k) entries.emplace_back(places_[k], a.val[static_cast<Offset>(k)]);
    std::sort(entries.begin(), entries.end());  // by the caller's rows and columns
    std::vector<double> values;
    for (std::size_t k = 0; k < entries.size(); ++k) {
      places_[k] = entries[k].first;
      values.push_back(entries[k].second);
    }
    refresh(ctx, Span<const double, Space::host>(values.data(), static_cast<std::int64_t>(values.size())));
  }

  std::string_view name() const override { return "elimination"; }

  void refresh(const Context<Space::host>&, Span<const double, Space::host> values) override {
    dense_.assign(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(rows_), 0.0);
    for (std::size_t k = 0; k < places_.size(); ++k) {
      at(new_of(places_[k].first), new_of(places_[k].second)) = values[static_cast<std::int64_t>(k)];
    }
  }

  SolveReport run(const SolveRequest<double, Space::host>& request) override {
    const Index n = rows_;
    std::vector<double> lu = dense_, x(request.b.data, request.b.data + n);
    const auto of = [&](Index i, Index j) -> double& { return lu[static_cast<std::size_t>(i) * n + j]; };
    for (Index k = 0; k < n; ++k) {
      Index pivot = k;
      for (Index i = k + 1; i < n; ++i) pivot = std::fabs(of(i, k)) > std::fabs(of(pivot, k)) ? i : pivot;
      for (Index j = 0; j < n; ++j) std::swap(of(k, j), of(pivot, j));
      std::swap(x[static_cast<std::size_t>(k)], x[static_cast<std::size_t>(pivot)]);
      for (Index i = k + 1; i < n; ++i) {
        const double factor = of(i, k) / of(k, k);
        for (Index j = k; j < n; ++j) of(i, j) -= factor * of(k, j);
        x[static_cast<std::size_t>(i)] -= factor * x[static_cast<std::size_t>(k)];
      }
    }
    for (Index i = n; i-- > 0;) {
      for (Index j = i + 1; j < n; ++j) x[static_cast<std::size_t>(i)] -= of(i, j) * x[static_cast<std::size_t>(j)];
      x[static_cast<std::size_t>(i)] /= of(i, i);
    }
    std::copy(x.begin(), x.end(), request.x.data);
    SolveReport report;
    report.solver = report.method = "elimination";
    report.status = Status::converged;
    report.attempts.emplace_back();
    report.attempts.back().solver = report.attempts.back().method = "elimination";
    report.attempts.back().status = Status::converged;
    return report;
  }

 private:
  double& at(Index i, Index j) { return dense_[static_cast<std::size_t>(i) * static_cast<std::size_t>(rows_) + j]; }
  Index new_of(Index old) const { return new_of_old_[static_cast<std::size_t>(old)]; }

  Index rows_;
  std::vector<std::pair<Index, Index>> places_;  // of the caller's values, in the caller's numbering
  std::vector<Index> new_of_old_;
  std::vector<double> dense_;
};

SolverMethod elimination() {
  SolverMethod method;
  method.name = "elimination";
  method.summary = "Gaussian elimination";
  method.keeps_values = true;
  method.matrix_bytes = [](const SolverOptions&, Index rows, Offset nonzeros, std::size_t value_bytes) {
    return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(rows) * value_bytes +
           static_cast<std::uint64_t>(nonzeros) * 2 * sizeof(Index);
  };
  method.make_from_matrix.host_double = [](const Context<Space::host>& ctx,
                                           const SolverMatrix<double, Space::host>& matrix, const SolverOptions&) {
    return std::unique_ptr<KrylovSolver<double, Space::host>>(std::make_unique<Elimination>(ctx, matrix));
  };
  return method;
}

using System = LinearSystem<double, Space::host>;

}  // namespace

TEST_CASE("A solver made from the matrix solves in every format's order, and follows new values",
          "[solver][registry]") {
  const Registration registration = register_solver(elimination());
  const Context<Space::host> ctx;
  const Rows a = laplacian(12, 0.4);
  Rows other = a;
  for (auto& row : other.row) {
    for (auto& [j, value] : row) value *= 1 + 0.5 * std::sin(j);
  }
  const Arrays<double, Space::host> arrays(ctx, a), others(ctx, other);
  const auto b = noise(a.size());
  for (const char* format : {"auto", "csr", "ehyb", "ellwarp"}) {
    for (const char* precond : {"auto", "jacobi"}) {
      INFO(format << " " << precond);
      SystemOptions options = system_options("elimination", precond, format);
      System system(ctx, arrays.view(), options);
      for (int solve = 0; solve < 3; ++solve) {
        CHECK(true_residual(a, b, run_system(ctx, system, b).x) <= 1e-12 * norm(b));
      }
      system.refresh(others.val.cspan());
      const auto found = run_system(ctx, system, b);
      CHECK(found.report.solver == "elimination");
      CHECK(true_residual(other, b, found.x) <= 1e-12 * norm(b));
      CHECK_FALSE(system.history().improve());
      CHECK_THROWS_WITH(system.in_place().matrix(), Catch::Contains("'elimination' keeps values of the matrix"));
    }
  }
}

TEST_CASE("A solver made from the matrix is estimated by that, and refused where there is none",
          "[solver][registry]") {
  const Registration registration = register_solver(elimination());
  SolverOptions solver{"elimination"};
  CHECK(estimate_system({}, {"none"}, solver, {100, 700}).vectors == 100 * 100 * 8 + 700 * 8);
  const Context<Space::host> ctx;
  CHECK_THROWS_WITH((make_solver<double, Space::host>(ctx, 5, solver)), Catch::Contains("the entries of a matrix"));
  const auto identity = std::make_shared<FunctionOperator<double, Space::host>>(
      5, 5, [](const auto&, double alpha, auto x, double beta, auto y) {
        for (Index i = 0; i < 5; ++i) y[i] = alpha * x[i] + (beta == 0 ? 0 : beta * y[i]);
      });
  SystemOptions options;
  options.solver = solver;
  CHECK_THROWS_WITH((System(ctx, identity, options)), Catch::Contains("the entries of a matrix"));
  // In single precision the table has none, and in mixed precision all is done in double.
  const Rows a = laplacian(5);
  const Arrays<float, Space::host> low(ctx, a);
  CHECK_THROWS_AS((LinearSystem<float, Space::host>(ctx, low.view(), options)), InputError);
  options.mixed = true;
  options.spmv.format = "csr";
  const Arrays<double, Space::host> arrays(ctx, a);
  System mixed(ctx, arrays.view(), options);
  CHECK(mixed.info().precision_reason == "in double, since the solver is set up from the matrix");
  const auto b = noise(a.size());
  CHECK(true_residual(a, b, run_system(ctx, mixed, b).x) <= 1e-12 * norm(b));
}

TEST_BOTH("Division is named for diagonal matrices, and refuses others with the reason", "[solver][division]") {
  std::vector<double> entries = noise(60, 5);
  for (double& value : entries) value += value < 0 ? -0.1 : 0.1;
  const Rows a = diagonal(entries);
  const Arrays<double, S> arrays(ctx, a);
  const auto b = noise(60, 8);
  SystemOptions options = system_options("division");
  for (const char* precond : {"auto", "jacobi"}) {
    for (const char* format : {"auto", "ellwarp"}) {
      options.precond.name = precond;
      options.spmv.format = format;
      LinearSystem<double, S> system(ctx, arrays.view(), options);
      const auto found = run_system(ctx, system, b);
      CHECK(found.report.solver == "division");
      CHECK(found.report.iterations == 0);
      CHECK(true_residual(a, b, found.x) <= 1e-15 * norm(b));
      CHECK(system.info().preconditioner.name == "jacobi");
    }
  }
  const auto refused = [&](const Rows& matrix, const SystemOptions& with, const char* words) {
    const Arrays<double, S> given(ctx, matrix);
    CHECK_THROWS_WITH((LinearSystem<double, S>(ctx, given.view(), with)), Catch::Contains(words));
  };
  options = {};
  options.solver.name = "division";
  refused(laplacian(5), options, "'division' is for diagonal matrices");
  Rows zero = a;
  zero.at(7, 7) = 0;
  refused(zero, options, "'division' needs the preconditioner auto or jacobi");
  SystemOptions bare = options;
  bare.precond.name = "none";
  refused(a, bare, "'division' needs the preconditioner auto or jacobi");
  SystemOptions singular = options;
  singular.null_space = NullSpace::constant;
  CHECK_THROWS_AS((LinearSystem<double, S>(ctx, arrays.view(), singular)), InputError);
  // A tolerance that rounding does not allow: it says so, and nothing follows.
  options.stop.rel_tol = 1e-20;
  LinearSystem<double, S> system(ctx, arrays.view(), options);
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.status == Status::stagnation);
  CHECK(found.report.attempts.size() == 1);
}

// SPDX-License-Identifier: Apache-2.0
// LinearSystem with operators in the place of a matrix, and with an M of the caller's own.
#include "tests/solver/systems.hpp"

namespace {

double relative_residual(const Rows& a, const std::vector<double>& x, const std::vector<double>& b) {
  const auto product = a.times(x);
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum = std::hypot(sum, static_cast<double>(b[i] - product[i]));
  return sum / norm(b);
}

// A matrix behind an operator that shows its products and, if asked to, its diagonal.
template <class T, Space S>
class Hidden final : public LinearOperator<T, S> {
 public:
  Hidden(const Context<S>& ctx, const Rows& a, bool shows_diagonal = false) : shows_diagonal_(shows_diagonal) {
    take(ctx, a);
  }
  void take(const Context<S>& ctx, const Rows& a) {
    const Arrays<T, S> arrays(ctx, a);
    matrix_ = make_spmv(ctx, arrays.view(), RowOrder<S>{}, same_bits());
    std::vector<T> diagonal(static_cast<std::size_t>(a.size()));
    for (Index i = 0; i < a.size(); ++i) {
      const auto& row = a.row[static_cast<std::size_t>(i)];
      const auto at = row.find(i);
      diagonal[static_cast<std::size_t>(i)] = at == row.end() ? T(0) : static_cast<T>(at->second);
    }
    diagonal_ = make_array(ctx, diagonal);
  }
  Index rows() const override { return matrix_->rows(); }
  Index cols() const override { return matrix_->cols(); }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override {
    matrix_->apply(ctx, alpha, x, beta, y);
  }
  bool matrix_diagonal(const Context<S>& ctx, Span<T, S> d) const override {
    if (shows_diagonal_) copy<T>(ctx, diagonal_.cspan(), d);
    return shows_diagonal_;
  }
  OperatorInfo info() const override {
    OperatorInfo info = LinearOperator<T, S>::info();
    info.name = title;
    return info;
  }

  std::string title;

 private:
  bool shows_diagonal_;
  OperatorPtr<T, S> matrix_;
  Array<T, S> diagonal_;
};

// M = D^-1 as an operator that does not say it is diagonal.
template <class T, Space S>
std::shared_ptr<const LinearOperator<T, S>> own_jacobi(const Context<S>& ctx, const Rows& a) {
  std::vector<T> inverse(static_cast<std::size_t>(a.size()));
  for (Index i = 0; i < a.size(); ++i) {
    inverse[static_cast<std::size_t>(i)] = static_cast<T>(1 / a.row[static_cast<std::size_t>(i)].at(i));
  }
  auto there = std::make_shared<Array<T, S>>(make_array(ctx, inverse));
  return std::make_shared<FunctionOperator<T, S>>(a.size(), a.size(),
                                                  [there](const auto& c, T alpha, auto x, T beta, auto y) {
                                                    multiply<T, S>(c, alpha, there->cspan(), x, beta, y);
                                                  });
}

// Diagonals that differ, so that M matters: rows and columns scaled alike.
Rows scaled_laplacian(Index k, double wind = 0) {
  Rows a = laplacian(k, wind);
  const auto factor = [](Index i) { return 1.0 + 3.0 * (i % 7); };
  for (Index i = 0; i < a.size(); ++i) {
    for (auto& [j, value] : a.row[static_cast<std::size_t>(i)]) value *= factor(i) * factor(j);
  }
  return a;
}

template <Space S, class Parts>
std::string refusal(const Context<S>& ctx, std::shared_ptr<const LinearOperator<double, S>> a,
                    const SystemOptions& options, Parts parts) {
  return message_of<InputError>([&] { LinearSystem<double, S>(ctx, std::move(a), options, std::move(parts)); });
}

}  // namespace

TEST_BOTH("Reports say of an operator what it says itself", "[system][open]") {
  const Rows a = scaled_laplacian(6);
  const Arrays<double, S> arrays(ctx, a);
  Hidden<double, S> named(ctx, a, true);
  named.title = "laplacian";
  const std::shared_ptr<const LinearOperator<double, S>> csr =
      make_spmv(ctx, arrays.view(), RowOrder<S>{}, same_bits());
  const SystemOptions options = system_options("cg", "none");
  const SystemInfo of_named =
      LinearSystem<double, S>(ctx, borrowed<LinearOperator<double, S>>(named), options).info();
  const SystemInfo of_csr = LinearSystem<double, S>(ctx, csr, options).info();
  CHECK(of_named.matrix.name == "laplacian");
  CHECK(of_named.matrix.rows == a.size());
  CHECK(of_named.matrix.nonzeros == 0);
  CHECK(of_csr.matrix.name == "csr");
  CHECK(of_csr.matrix.nonzeros == arrays.view().nnz());
}

TEST_BOTH("A system of an operator takes the iterations of the matrix behind it", "[system][open]") {
  const Rows a = scaled_laplacian(14);
  const auto b = a.rhs_for(noise(a.size()));
  SystemOptions options = system_options("cg", "jacobi");
  options.spmv = same_bits();
  SystemOf<double, S> matrix(ctx, a, options);
  const auto expected = run_system(ctx, matrix, b);
  options.spmv = {"auto"};

  const Hidden<double, S> shown(ctx, a, true);
  LinearSystem<double, S> from_diagonal(ctx, borrowed<LinearOperator<double, S>>(shown), options);
  CHECK(from_diagonal.info().preconditioner.name == "jacobi");
  CHECK(from_diagonal.info().matrix.name == "operator");
  const auto same = run_system(ctx, from_diagonal, b);
  CHECK(same.report.converged());
  CHECK(same.report.iterations == expected.report.iterations);
  CHECK(relative_residual(a, same.x, b) <= 1.01e-8);

  const auto hidden = std::make_shared<Hidden<double, S>>(ctx, a);
  SystemParts<double, S> parts;
  parts.preconditioner = own_jacobi<double, S>(ctx, a);
  LinearSystem<double, S> own(ctx, hidden, options, parts);
  CHECK(own.info().preconditioner.name == "own");
  const auto also = run_system(ctx, own, b);
  CHECK(also.report.converged());
  CHECK(std::abs(also.report.iterations - expected.report.iterations) <= 1);
  CHECK(relative_residual(a, also.x, b) <= 1.01e-8);

  options.precond.name = "none";
  LinearSystem<double, S> bare(ctx, hidden, options);
  CHECK(run_system(ctx, bare, b).report.iterations > expected.report.iterations + 5);
}

TEST_BOTH("auto chooses solvers for an operator by two products, and goes on where the first fails",
          "[system][open][chain]") {
  const auto solved = [&](const Rows& a, const std::string& first, const std::string& last) {
    const auto b = a.rhs_for(noise(a.size()));
    LinearSystem<double, S> system(ctx, std::make_shared<Hidden<double, S>>(ctx, a), system_options("auto", "auto"));
    CHECK(system.info().solver == first);
    CHECK(system.info().preconditioner.name == "none");
    const auto found = run_system(ctx, system, b);
    CHECK(found.report.converged());
    CHECK(found.report.attempts.back().solver == last);
    CHECK(relative_residual(a, found.x, b) <= 1.01e-8);
  };
  solved(laplacian(10), "cg", "cg");
  solved(laplacian(10, 0.4), "bicgstab", "bicgstab");
  solved(laplacian(6, 0, -3.3), "cg", "minres");  // symmetric and indefinite, which two products do not show
  // Where the diagonal shows it, CG is not tried.
  const Rows negative = laplacian(6, 0, -7.5);
  LinearSystem<double, S> system(ctx, std::make_shared<Hidden<double, S>>(ctx, negative, true),
                                 system_options("auto", "auto"));
  CHECK(system.info().solver == "minres");
  CHECK(system.info().preconditioner.name == "none");  // which MINRES can use, unlike a negative diagonal
}

TEST_BOTH("What an operator cannot give is refused by the name of the missing piece", "[system][open]") {
  const Rows a = laplacian(5);
  const auto op = std::make_shared<Hidden<double, S>>(ctx, a);
  const SystemParts<double, S> none;
  const auto refused = [&](const SystemOptions& options) { return refusal<S>(ctx, op, options, none); };
  CHECK(contains(refused(system_options("cg", "jacobi")), "matrix_diagonal"));
  for (const char* name : {"spai0", "spai", "fsai"}) {
    const std::string text = refused(system_options("cg", name));
    CHECK(contains(text, std::string("'") + name + "' needs the entries"));
    CHECK(contains(text, "SystemParts::preconditioner"));
  }
  SystemOptions options = system_options("cg", "none");
  options.spmv.format = "ehyb";
  CHECK(contains(refused(options), "format needs a CSR matrix"));
  options = system_options("cg", "none");
  options.old_of_new = {1, 0};
  CHECK(contains(refused(options), "order"));
  options = system_options("cg", "none");
  options.mixed = true;
  CHECK(contains(refused(options), "SystemParts::low_matrix"));
  SystemParts<double, S> parts;
  parts.low_matrix = std::make_shared<Hidden<float, S>>(ctx, a);
  parts.preconditioner = own_jacobi<double, S>(ctx, a);
  CHECK(contains(refusal<S>(ctx, op, options, parts), "SystemParts::low_preconditioner"));
  options.mixed = false;
  parts.preconditioner = own_jacobi<double, S>(ctx, laplacian(4));
  CHECK(contains(refusal<S>(ctx, op, options, parts), "the preconditioner is 16 x 16, and the system has 25"));
  parts = {};
  parts.make_preconditioner = [](const auto&, const auto&, const auto&) { return nullptr; };
  CHECK(contains(refusal<S>(ctx, op, options, parts), "factory"));
  CHECK(contains(refusal<S>(ctx, nullptr, options, none), "null"));

  LinearSystem<double, S> system(ctx, op, options);
  const Array<double, S> values(ctx, 10);
  CHECK_THROWS_WITH(system.refresh(values.cspan()), Catch::Contains("operator_changed"));
  CHECK_THROWS_WITH(system.in_place().matrix(), Catch::Contains("operator_changed"));
}

TEST_BOTH("An operator that has changed is solved as it is now, Jacobi and null space included", "[system][open]") {
  const Rows first = laplacian(9);
  Rows second = scaled_laplacian(9);
  const auto op = std::make_shared<Hidden<double, S>>(ctx, first, true);
  LinearSystem<double, S> system(ctx, op, system_options("cg", "jacobi"));
  CHECK(run_system(ctx, system, first.rhs_for(noise(81))).report.converged());
  op->take(ctx, second);
  system.in_place().operator_changed();
  const auto b = second.rhs_for(noise(81, 2));
  const auto found = run_system(ctx, system, b);
  CHECK(relative_residual(second, found.x, b) <= 1.01e-8);
  LinearSystem<double, S> fresh(ctx, op, system_options("cg", "jacobi"));
  CHECK(found.report.iterations == run_system(ctx, fresh, b).report.iterations);
  second.at(3, 3) = 0;
  op->take(ctx, second);
  CHECK_THROWS_AS(system.in_place().operator_changed(), ZeroDiagonal);
  CHECK_THROWS_AS(run_system(ctx, system, b), InputError);

  const auto singular = std::make_shared<Hidden<double, S>>(ctx, neumann(9));
  SystemOptions options = system_options("cg", "none");
  options.null_space = NullSpace::constant;
  LinearSystem<double, S> floating(ctx, singular, options);
  const auto rhs = neumann(9).rhs_for(noise(81));
  const auto x = run_system(ctx, floating, rhs);
  CHECK(x.report.converged());
  CHECK(relative_residual(neumann(9), x.x, rhs) <= 1.01e-8);
  double mean = 0;
  for (const double value : x.x) mean += value / 81;
  CHECK(std::abs(mean) <= 1e-13);
  singular->take(ctx, first);
  floating.in_place().operator_changed();
  CHECK_THROWS_AS(run_system(ctx, floating, rhs), InputError);
}

TEST_BOTH("Operators in both precisions are solved in mixed precision, by every solver", "[system][open][mixed]") {
  for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
    for (const bool own : {false, true}) {
      CAPTURE(solver, own);
      const Rows a = scaled_laplacian(12, solver == "cg" ? 0 : 0.2);
      const auto b = a.rhs_for(noise(a.size()));
      SystemOptions options = system_options(solver, own ? "none" : "jacobi");
      options.mixed = true;
      options.stop.rel_tol = 1e-11;
      SystemParts<double, S> parts;
      parts.low_matrix = std::make_shared<Hidden<float, S>>(ctx, a, true);
      if (own) {
        parts.preconditioner = own_jacobi<double, S>(ctx, a);
        parts.low_preconditioner = own_jacobi<float, S>(ctx, a);
      }
      LinearSystem<double, S> system(ctx, std::make_shared<Hidden<double, S>>(ctx, a, true), options, parts);
      CHECK(system.info().mixed);
      CHECK(system.info().solver == "mixed " + solver);
      const auto found = run_system(ctx, system, b);
      CHECK(found.report.converged());
      CHECK(found.report.attempts.size() == 1);
      CHECK(found.report.refinements > 0);
      CHECK(relative_residual(a, found.x, b) <= 1.01e-11);
    }
  }
}

TEST_BOTH("Several right-hand sides go through an operator", "[system][open][columns]") {
  const Rows a = laplacian(8);
  const Index n = a.size(), columns = 3;
  LinearSystem<double, S> system(ctx, std::make_shared<Hidden<double, S>>(ctx, a, true),
                                 system_options("cg", "jacobi"));
  std::vector<double> b;
  for (Index c = 0; c < columns; ++c) {
    const auto one = a.rhs_for(noise(n, static_cast<std::uint64_t>(c) + 1));
    b.insert(b.end(), one.begin(), one.end());
  }
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<double>(b.size(), 0.0));
  const auto reports = system.solve_columns(bs.cspan(), xs.span(), columns);
  const auto x = to_vector(ctx, xs.cspan());
  for (Index c = 0; c < columns; ++c) {
    CHECK(reports[static_cast<std::size_t>(c)].converged());
    const std::vector<double> x_c(x.begin() + c * n, x.begin() + (c + 1) * n);
    const std::vector<double> b_c(b.begin() + c * n, b.begin() + (c + 1) * n);
    CHECK(relative_residual(a, x_c, b_c) <= 1.01e-8);
  }
}

TEST_BOTH("An M of the caller's keeps the caller's numbering, whatever the format", "[system][open]") {
  const Rows a = scaled_laplacian(14);
  const auto b = a.rhs_for(noise(a.size()));
  const Arrays<double, S> arrays(ctx, a);
  SystemOptions options = system_options("cg", "jacobi");
  options.expected_products = 1e9;  // any format pays
  LinearSystem<double, S> usual(ctx, arrays.view(), options);
  const int expected = run_system(ctx, usual, b).report.iterations;
  for (const char* format : {"auto", "measure", "csr", "ehyb", "ellwarp", "bce", "evchyb"}) {
    CAPTURE(format);
    options.spmv.format = format;
    SystemParts<double, S> parts;
    parts.preconditioner = own_jacobi<double, S>(ctx, a);
    LinearSystem<double, S> system(ctx, arrays.view(), options, parts);
    CHECK_FALSE(system.info().reordered);
    CHECK(system.info().preconditioner.name == "own");
    CHECK(system.info().preconditioner_reason.text() == "given by the caller");
    const auto found = run_system(ctx, system, b);
    CHECK(found.report.converged());
    CHECK(std::abs(found.report.iterations - expected) <= 1);
    CHECK(relative_residual(a, found.x, b) <= 1.01e-8);
  }
  SystemParts<double, S> parts;
  parts.preconditioner = own_jacobi<double, S>(ctx, a);
  options.old_of_new.resize(static_cast<std::size_t>(a.size()));
  for (Index i = 0; i < a.size(); ++i) options.old_of_new[static_cast<std::size_t>(i)] = a.size() - 1 - i;
  CHECK_THROWS_WITH((LinearSystem<double, S>(ctx, arrays.view(), options, parts)), Catch::Contains("old_of_new"));
}

TEST_BOTH("A factory makes M for A in solver order, and its refresh is passed on", "[system][open]") {
  const Rows a = scaled_laplacian(14);
  Rows changed = a;
  for (Index i = 0; i < a.size(); ++i) changed.at(i, i) *= 1 + i % 3;
  const Arrays<double, S> arrays(ctx, a), later(ctx, changed);
  for (const bool mixed : {false, true}) {
    CAPTURE(mixed);
    SystemOptions options = system_options("cg", "none");
    options.spmv.format = "ehyb";
    options.mixed = mixed;
    int calls = 0;
    SystemParts<double, S> parts;
    parts.make_preconditioner = [&](const Context<S>& c, const CsrView<double, S>& view, const RowOrder<S>& order) {
      ++calls;
      CHECK_FALSE(order.natural());
      return make_precond(c, view, order, PrecondOptions{"fsai"}, SpmvOptions{"csr"});
    };
    parts.make_low_preconditioner = [&](const Context<S>& c, const CsrView<float, S>& view,
                                        const RowOrder<S>& order) {
      ++calls;
      return make_precond(c, view, order, PrecondOptions{"fsai"}, SpmvOptions{"csr"});
    };
    LinearSystem<double, S> system(ctx, arrays.view(), options, parts);
    CHECK(calls == 1);
    CHECK(system.info().preconditioner.name == "fsai");
    options.precond.name = "fsai";
    options.precond.format = "csr";
    LinearSystem<double, S> table(ctx, arrays.view(), options);
    for (const auto* values : {&arrays, &later, &arrays}) {
      system.refresh(values->view().val);
      table.refresh(values->view().val);
      const Rows& now = values == &later ? changed : a;
      const auto b = now.rhs_for(noise(a.size()));
      const auto mine = run_system(ctx, system, b), other = run_system(ctx, table, b);
      CHECK(mine.report.converged());
      CHECK(mine.report.iterations == other.report.iterations);
      CHECK(mine.x == other.x);
      CHECK(relative_residual(now, mine.x, b) <= 1.01e-8);
    }
  }
}

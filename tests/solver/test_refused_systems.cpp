// SPDX-License-Identifier: Apache-2.0
// What LinearSystem refuses: matrices, orders, vectors, sizes and names that make no sense.
#include "tests/solver/systems.hpp"

namespace {}  // namespace

TEST_BOTH("unsorted and repeated columns are refused with the row, or made canonical on request", "[system]") {
  // [4 1; 1 3] with row 1 as (1: 1), (0: 1), (1: 2)
  const auto row_ptr = make_array(ctx, std::vector<std::int32_t>{0, 2, 5});
  const auto col = make_array(ctx, std::vector<Index>{0, 1, 1, 0, 1});
  const auto val = make_array(ctx, std::vector<double>{4, 1, 1, 1, 2});
  const CsrView<double, S> view(2, 2, row_ptr.span(), col.span(), val.span());
  try {
    LinearSystem<double, S> refused(ctx, view);
    FAIL("unsorted columns were accepted");
  } catch (const InputError& e) {
    CHECK(contains(std::string(e.what()), "row 1"));
  }
  SystemOptions options;
  options.canonicalise = true;
  options.stop.rel_tol = 1e-12;
  LinearSystem<double, S> system(ctx, view, options);
  auto x = solve_with(ctx, system, {6, 7});
  CHECK(x[0] == Approx(1));
  CHECK(x[1] == Approx(2));
  // [8 1; 1 5]: the repeated entry is summed anew
  const auto next = make_array(ctx, std::vector<double>{8, 1, 2, 1, 3});
  system.refresh(next.span());
  x = solve_with(ctx, system, {10, 11});
  CHECK(x[0] == Approx(1));
  CHECK(x[1] == Approx(2));
}

TEST_BOTH("matrices that are no linear system are refused", "[system]") {
  const auto row_ptr = make_array(ctx, std::vector<Offset>{0, 1});
  const auto col = make_array(ctx, std::vector<Index>{0});
  const auto val = make_array(ctx, std::vector<double>{1});
  const CsrView<double, S> wide(1, 2, row_ptr.span(), col.span(), val.span());
  CHECK_THROWS_AS((LinearSystem<double, S>(ctx, wide)), InputError);
  SystemOptions options;
  const CsrView<double, S> one(1, 1, row_ptr.span(), col.span(), val.span());
  options.solver.name = "jacobi";
  CHECK_THROWS_AS((LinearSystem<double, S>(ctx, one, options)), InputError);
  options = {};
  options.spmv.format = "coo";
  CHECK_THROWS_AS((LinearSystem<double, S>(ctx, one, options)), InputError);
  options = {};
  options.precond.name = "cholesky";
  CHECK_THROWS_AS((LinearSystem<double, S>(ctx, one, options)), InputError);
  options = {};
  options.old_of_new = {1};
  CHECK_THROWS_AS((LinearSystem<double, S>(ctx, one, options)), InputError);
}

TEST_BOTH("vectors of another length are refused, with and without an order", "[system]") {
  const Rows a = laplacian(4);
  for (const bool reorder : {false, true}) {
    SystemOptions options;
    if (reorder) options.old_of_new = shuffled(16);
    SystemOf<double, S> system(ctx, a, options);
    Array<double, S> good(ctx, 16), shorter(ctx, 15), out(ctx, 16);
    CHECK_THROWS_AS((void)system.solve(shorter.cspan(), out.span()), InputError);
    CHECK_THROWS_AS((void)system.solve(good.cspan(), shorter.span()), InputError);
    CHECK_THROWS_AS((void)system.ordered().solve(shorter.cspan(), out.span()), InputError);
    CHECK_THROWS_AS(system.ordered().from_user_order(shorter.cspan(), out.span()), InputError);
    CHECK_THROWS_AS(system.ordered().to_user_order(good.cspan(), shorter.span()), InputError);
    CHECK_THROWS_AS(system.multiply(shorter.cspan(), out.span()), InputError);
  }
}

TEST_BOTH("a null space that is none, and a right-hand side outside the range, are named", "[system]") {
  SystemOptions options;
  options.null_space = NullSpace::constant;
  const Rows regular = laplacian(6);
  const Arrays<double, S> regular_arrays(ctx, regular);
  CHECK_THROWS_AS((LinearSystem<double, S>(ctx, regular_arrays.view(), options)), InputError);

  const Rows a = neumann(6);
  auto b = a.rhs_for(noise(36));
  b[5] += 1;
  for (const char* solver : {"auto", "cg", "gmres"}) {
    options.solver.name = solver;
    options.stop.max_iterations = 500;
    SystemOf<double, S> system(ctx, a, options);
    SolveReport report;
    const auto x = solve_with(ctx, system, b, &report);
    INFO(solver << " " << report.reason);
    CHECK(report.status == Status::stagnation);
    CHECK(contains(report.reason, "constant part"));
    // The least-squares solution: 1 / sqrt(36) of the added 1 is constant.
    CHECK(true_residual<double>(a, b, x) == Approx(1.0 / 6).epsilon(1e-6));
    CHECK(report.true_residual == Approx(1.0 / 6).epsilon(1e-6));
  }
}

TEST_BOTH("Bounds of parts that do not fit are refused, and those of the natural order are taken", "[system]") {
  const Rows a = laplacian(4);
  const Arrays<double, S> arrays(ctx, a);
  std::vector<Index> natural(16);
  std::iota(natural.begin(), natural.end(), 0);
  for (const std::string format : {"csr", "ehyb", "ehyb-symmetric"}) {
    for (const bool ordered : {false, true}) {
      SystemOptions options = system_options("auto", "auto", format);
      if (ordered) options.old_of_new = natural;
      const std::vector<std::vector<Index>> misfits = {{0, 8},   {0, 8, 99},    {16},      {8, 16},
                                                       {-3, 16}, {0, 9, 4, 16}, {0, 16, 8}};
      for (const auto& bounds : misfits) {
        INFO(format << (ordered ? " in an order, bounds " : ", bounds ") << bounds.size() << " to " << bounds.back());
        options.part_begin = bounds;
        REQUIRE_THROWS_WITH((LinearSystem<double, S>(ctx, arrays.view(), options)),
                            Catch::Contains("bounds of the parts"));
      }
      options.part_begin = {0, 4, 4, 16};
      LinearSystem<double, S> system(ctx, arrays.view(), options);
      const auto x = noise(16), b = a.rhs_for(x);
      const auto xs = make_array(ctx, x);
      auto y = make_array(ctx, std::vector<double>(16, NAN));
      system.multiply(xs.cspan(), y.span());
      const auto product = to_vector(ctx, y.cspan());
      for (std::size_t i = 0; i < 16; ++i) CHECK(product[i] == Approx(b[i]).margin(1e-14));
      CHECK(system.ordered().order().part_begin == options.part_begin);
    }
  }
}

TEST_BOTH("Vectors that share memory are refused, in an order too", "[system]") {
  const Rows a = laplacian(4);
  for (const bool ordered : {false, true}) {
    SystemOptions options;
    if (ordered) {
      for (Index i = 16; i-- > 0;) options.old_of_new.push_back(i);
    }
    SystemOf<double, S> system(ctx, a, options);
    auto x = make_array(ctx, noise(24));
    const Span<double, S> first = x.span().subspan(0, 16), second = x.span().subspan(8, 16);
    REQUIRE_THROWS_WITH(system.multiply(first, first), Catch::Contains("share memory"));
    REQUIRE_THROWS_WITH(system.multiply(first, second), Catch::Contains("share memory"));
    REQUIRE_THROWS_WITH(system.solve(second, first), Catch::Contains("share memory"));
  }
}

TEST_BOTH("After a refresh that failed there is no product either", "[system]") {
  const Rows a = laplacian(4);
  const Arrays<double, S> arrays(ctx, a);
  SystemOptions options = system_options("auto", "jacobi");
  LinearSystem<double, S> system(ctx, arrays.view(), options);
  Rows without = a;
  without.at(3, 3) = 0;
  const Arrays<double, S> refused(ctx, without);
  REQUIRE_THROWS_AS(system.refresh(refused.val.cspan()), ZeroDiagonal);
  const auto x = make_array(ctx, noise(16));
  auto y = make_array(ctx, std::vector<double>(16, 0.0));
  REQUIRE_THROWS_WITH(system.multiply(x.cspan(), y.span()), Catch::Contains("last refresh failed"));
  system.refresh(arrays.val.cspan());
  system.multiply(x.cspan(), y.span());
  ctx.synchronize();
}

TEST_BOTH("Sizes and counts that cannot be are refused before anything is asked for", "[system]") {
  const Rows a = laplacian(4);
  const Arrays<double, S> arrays(ctx, a);
  for (const bool canonicalise : {false, true}) {
    SystemOptions options;
    options.canonicalise = canonicalise;
    CsrView<double, S> view = arrays.view();
    view.rows = view.cols = -1;
    REQUIRE_THROWS_AS((LinearSystem<double, S>(ctx, view, options)), InputError);
    view.rows = view.cols = 5;  // 17 row pointers
    REQUIRE_THROWS_AS((LinearSystem<double, S>(ctx, view, options)), InputError);
  }
  SystemOptions columns, products;
  columns.columns = 0;
  REQUIRE_THROWS_WITH((LinearSystem<double, S>(ctx, arrays.view(), columns)), Catch::Contains("columns"));
  products.expected_products = -1;
  REQUIRE_THROWS_WITH((LinearSystem<double, S>(ctx, arrays.view(), products)), Catch::Contains("expected_products"));
}

TEST_BOTH("Solvers are named in any case, and the automatic choice belongs to a system", "[system]") {
  SolverOptions options;
  REQUIRE_THROWS_WITH((make_solver<double, S>(ctx, 5, options)), Catch::Contains("chosen by a system"));
  options.name = "sor";
  REQUIRE_THROWS_WITH((make_solver<double, S>(ctx, 5, options)), Catch::Contains("cg, bicgstab, gmres"));
  options.name = "BiCGStab";
  CHECK(make_solver<double, S>(ctx, 5, options)->name() == "bicgstab");
  const Arrays<double, S> arrays(ctx, laplacian(4));
  SystemOptions system = system_options("GMRES");
  CHECK(LinearSystem<double, S>(ctx, arrays.view(), system).info().solver == "gmres");
}

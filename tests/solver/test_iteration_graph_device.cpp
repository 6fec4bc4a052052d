// SPDX-License-Identifier: Apache-2.0
// Iterations replayed as CUDA graphs: the same bits as when they are queued one by one, and never a stale number.
#include "tests/solver/iteration_graph_support.hpp"

using namespace newel::graph_tests;

TEMPLATE_TEST_CASE("Replayed iterations have the bits of queued ones", "[solver][graph][device]", double, float) {
  for (const Method& method : methods()) {
    for (const int check_every : {0, 7}) check_replays<TestType>(method, "csr", criterion<TestType>(check_every));
    check_replays<TestType>(method, "ehyb", criterion<TestType>());
  }
}

TEMPLATE_TEST_CASE("Solves of few iterations are replayed too, and none goes beyond max_iterations",
                   "[solver][graph][device]", double, float) {
  for (const Method& method : methods()) {
    for (const int most : {1, 6, 13, 21}) {
      StopCriterion stop = criterion<TestType>(0);
      stop.max_iterations = most;
      check_replays<TestType>(method, "csr", stop);
    }
  }
}

TEMPLATE_TEST_CASE("A graph that stands sees refreshed values of the matrix and the preconditioner",
                   "[solver][graph][device]", double, float) {
  using T = TestType;
  for (const Method& method : methods()) {
    for (const std::string format : {"csr", "ehyb", "ell-warp", "bce", "evc-hyb"}) {
      if (format != "csr" && method.name != "cg jacobi") continue;
      INFO(method.name << ", " << format);
      const Context<D> ctx;
      System<T> system(ctx, format, method.precond);
      const Watched<T> A(*system.A, true);
      Pair<T> pair(ctx, method, system.arrays.n);
      for (int solve = 0; solve < 2; ++solve) CHECK(system.solve(*pair.replaying, A, criterion<T>()).converged());
      A.take_products();
      for (const int which : {1, 0, 1}) {
        INFO("matrix " << which);
        system.refresh(which);
        CHECK(system.solve(*pair.replaying, A, criterion<T>()).converged());
        CHECK(A.take_products() == 0);
        const auto x = to_vector(ctx, system.x.cspan());
        const auto b = to_vector(ctx, system.b.cspan());
        CHECK(true_residual<T>(matrix_of(which), b, x) <= 1.1 * tolerance<T> * norm({b.begin(), b.end()}));
        // A system that was built with these values, solved without a graph.
        System<T> rebuilt(ctx, format, method.precond, which);
        const Watched<T> direct(*rebuilt.A, false);
        rebuilt.solve(*pair.direct, direct, criterion<T>());
        CHECK(same(x, to_vector(ctx, rebuilt.x.cspan())));
      }
    }
  }
}

TEMPLATE_TEST_CASE("What takes the place of a matrix, a preconditioner or an x is captured anew",
                   "[solver][graph][device]", double, float) {
  using T = TestType;
  const Context<D> ctx;
  for (const Method& method : methods()) {
    INFO(method.name);
    System<T> first(ctx, "csr", method.precond, 0), second(ctx, "csr", method.precond, 1);
    Pair<T> pair(ctx, method, first.arrays.n);
    // The operators stand at one address, whatever they are; so does x.
    Watched<T> A(*first.A, true);
    std::unique_ptr<Watched<T>> M;
    if (first.M != nullptr) M = std::make_unique<Watched<T>>(*first.M, true);
    auto x = make_array(ctx, std::vector<T>(first.arrays.n));
    auto other_x = make_array(ctx, std::vector<T>(first.arrays.n));
    const auto check = [&](System<T>& of_A, System<T>& of_M, Array<T, D>& into) {
      A = Watched<T>(*of_A.A, true);
      const Watched<T> direct(*of_A.A, false);
      std::unique_ptr<Watched<T>> direct_M;
      if (M != nullptr) {
        *M = Watched<T>(*of_M.M, true);
        direct_M = std::make_unique<Watched<T>>(*of_M.M, false);
      }
      for (int solve = 0; solve < 3; ++solve) {
        fill<T, D>(ctx, T(0), into.span());
        const SolveReport found = pair.replaying->solve(ctx, A, M.get(), of_A.b.cspan(), into.span(), criterion<T>());
        fill<T, D>(ctx, T(0), of_A.x.span());
        const SolveReport expected =
            pair.direct->solve(ctx, direct, direct_M.get(), of_A.b.cspan(), of_A.x.span(), criterion<T>());
        check_same(found, expected);
        CHECK(same(to_vector(ctx, into.cspan()), to_vector(ctx, of_A.x.cspan())));
      }
    };
    check(first, first, x);
    check(second, second, x);
    check(second, second, other_x);
    check(first, second, other_x);
  }
}

// Nothing but the preconditioner changes here, at its old address.
TEMPLATE_TEST_CASE("Another preconditioner in an old one's place is captured anew", "[solver][graph][device]", double,
                   float) {
  using T = TestType;
  const Context<D> ctx;
  for (const Method& method : methods()) {
    if (method.precond == "none") continue;
    INFO(method.name);
    System<T> first(ctx, "csr", method.precond, 0), second(ctx, "csr", method.precond, 1);
    Pair<T> pair(ctx, method, first.arrays.n);
    Watched<T> M(*first.M, true);
    for (const OperatorPtr<T, D>* inner : {&first.M, &second.M}) {
      M = Watched<T>(**inner, true);
      const Watched<T> direct_M(**inner, false);
      for (int solve = 0; solve < 3; ++solve) {
        fill<T, D>(ctx, T(0), first.x.span());
        const SolveReport expected =
            pair.direct->solve(ctx, *first.A, &direct_M, first.b.cspan(), first.x.span(), criterion<T>());
        const auto x = to_vector(ctx, first.x.cspan());
        fill<T, D>(ctx, T(0), first.x.span());
        check_same(pair.replaying->solve(ctx, *first.A, &M, first.b.cspan(), first.x.span(), criterion<T>()),
                   expected);
        CHECK(same(to_vector(ctx, first.x.cspan()), x));
      }
    }
  }
}

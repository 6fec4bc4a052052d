// SPDX-License-Identifier: Apache-2.0
// What is not captured as a CUDA graph, what takes long, and ranges of iterations.
#include "tests/solver/iteration_graph_support.hpp"

using namespace newel::graph_tests;

TEST_ON_DEVICE("An operator that is not capturable is called in every iteration", "[solver][graph][device]") {
  System<double> system(ctx, "csr", "none");
  int calls = 0;
  const FunctionOperator<double, D> A(system.arrays.n, system.arrays.n,
                                      [&](const auto& c, double alpha, auto x, double beta, auto y) {
                                        ++calls;
                                        system.A->apply(c, alpha, x, beta, y);
                                      });
  CHECK_FALSE(A.capturable());
  CHECK(system.A->capturable());
  for (const Method& method : methods()) {
    if (method.precond != "none") continue;
    INFO(method.name);
    const auto solver = make_solver<double, D>(ctx, system.arrays.n, method.options);
    for (int solve = 0; solve < 3; ++solve) {
      calls = 0;
      const SolveReport report = system.solve(*solver, A, criterion<double>());
      CHECK(report.converged());
      CHECK(calls >= report.iterations);
    }
  }
}

TEST_ON_DEVICE("Where a capture fails the solve goes on without it, and leaves no error", "[solver][graph][device]") {
  System<double> system(ctx, "csr", "none");
  const Waiting<double> A(*system.A);
  const Watched<double> direct(*system.A, false);
  for (const Method& method : methods()) {
    if (method.precond != "none") continue;
    INFO(method.name);
    Pair<double> pair(ctx, method, system.arrays.n);
    for (int solve = 0; solve < 2; ++solve) {
      const SolveReport expected = system.solve(*pair.direct, direct, criterion<double>());
      A.calls = 0;
      check_same(system.solve(*pair.replaying, A, criterion<double>()), expected);
      CHECK(A.calls >= expected.iterations);
      CHECK(cudaPeekAtLastError() == cudaSuccess);
    }
  }
}

TEST_CASE("Nothing is captured on a stream that waits for the default stream", "[solver][graph][device]") {
  cudaStream_t blocking = nullptr;
  REQUIRE(cudaStreamCreate(&blocking) == cudaSuccess);
  for (cudaStream_t stream : {blocking, cudaStream_t(nullptr)}) {
    const Context<D> ctx(0, stream);
    System<double> system(ctx, "csr", "none");
    const Watched<double> A(*system.A, true);
    Cg<double, D> cg(ctx, system.arrays.n);
    for (int solve = 0; solve < 3; ++solve) {
      const SolveReport report = system.solve(cg, A, criterion<double>());
      CHECK(report.converged());
      CHECK(A.take_products() >= report.iterations);
    }
  }
  CHECK(cudaStreamDestroy(blocking) == cudaSuccess);
}

TEST_ON_DEVICE("Hardly an iteration is made behind the end where the preconditioner takes long",
               "[solver][graph][device]") {
  System<double> system(ctx, "csr", "amg");
  CHECK(system.M->traits().takes_long);
  const Watched<double> long_one(*system.M, false, true), other(*system.M, false, false);
  Cg<double, D> with_long(ctx, system.arrays.n), with_other(ctx, system.arrays.n);
  std::vector<double> first;
  for (int solve = 0; solve < 3; ++solve) {
    for (const Watched<double>* const M : {&long_one, &other}) {
      fill<double, D>(ctx, 0.0, system.x.span());
      Cg<double, D>& cg = M == &long_one ? with_long : with_other;
      const SolveReport report = cg.solve(ctx, *system.A, M, system.b.cspan(), system.x.span(), criterion<double>(0));
      const int behind_end = M->take_products() - report.iterations;
      INFO("solve " << solve << ", " << report.iterations << " iterations, and " << behind_end << " behind the end");
      CHECK(report.converged());
      CHECK(behind_end >= 0);
      if (M == &long_one) CHECK(behind_end <= 2);
      if (M == &other && solve == 0) CHECK((report.iterations + behind_end) % 16 == 0);
      if (first.empty()) first = report.history;
      CHECK(same(report.history, first));
    }
  }
}

TEST_ON_DEVICE("A preconditioner that takes long is replayed from its second iteration on",
               "[solver][graph][device]") {
  System<double> system(ctx, "csr", "amg");
  const Watched<double> M(*system.M, true, true);
  Cg<double, D> cg(ctx, system.arrays.n);
  for (int solve = 0; solve < 2; ++solve) {
    fill<double, D>(ctx, 0.0, system.x.span());
    CHECK(cg.solve(ctx, *system.A, &M, system.b.cspan(), system.x.span(), criterion<double>(0)).converged());
    CHECK(M.take_products() == (solve == 0 ? 2 : 0));  // queued, and captured
  }
}

TEST_ON_DEVICE("A solver takes its graphs along when it is moved", "[solver][graph][device]") {
  System<double> system(ctx, "csr", "jacobi");
  const Watched<double> A(*system.A, true);
  Cg<double, D> first(ctx, system.arrays.n), other(ctx, 10);
  const SolveReport expected = system.solve(first, A, criterion<double>());
  system.solve(first, A, criterion<double>());
  A.take_products();
  Cg<double, D> second(std::move(first));
  check_same(system.solve(second, A, criterion<double>()), expected);
  other = std::move(second);
  check_same(system.solve(other, A, criterion<double>()), expected);
  CHECK(A.take_products() == 0);
}

TEST_ON_DEVICE("A range of iterations that differ runs each of them once, however it is cut",
               "[solver][graph][device]") {
  System<double> system(ctx, "csr", "none");
  constexpr int columns = 100;
  const auto ones = make_array(ctx, std::vector<double>(columns, 1.0));
  auto found = make_array(ctx, std::vector<double>(columns, 0.0));
  std::vector<double> expected(columns, 0.0);
  detail::IterationGraph<D> graph;
  graph.bind(ctx, *system.A, static_cast<const LinearOperator<double, D>*>(nullptr), system.x.span());
  const auto random = noise(600, 5);
  for (std::size_t k = 0; k < 300; ++k) {
    const int first = static_cast<int>((random[2 * k] + 1) * 0.5 * (columns - 1));
    const int count = static_cast<int>((random[2 * k + 1] + 1) * 0.5 * (columns - first));
    graph.range(first, count, [&](int j) {
      axpy<double, D>(ctx, j + 1.0, ones.cspan().subspan(j, 1), found.span().subspan(j, 1));
    });
    for (int j = first; j < first + count; ++j) expected[static_cast<std::size_t>(j)] += j + 1.0;
  }
  CHECK(to_vector(ctx, found.cspan()) == expected);
}

TEMPLATE_TEST_CASE("CG's fixed number of iterations works inside the caller's own capture", "[solver][graph][device]",
                   double, float) {
  using T = TestType;
  const Context<D> ctx;
  for (const char* name : {"none", "jacobi", "fsai"}) {
    INFO(name);
    constexpr int iterations = 21;
    System<T> system(ctx, "ehyb", name);
    const Index n = system.arrays.n;
    Cg<T, D> cg(ctx, n), direct(ctx, n, false);  // one kernel alone would take other roundings
    const CapturedGraph graph(
        ctx, [&] { cg.iterate(ctx, *system.A, system.M.get(), system.b.cspan(), system.x.span(), iterations); });
    StopCriterion stop = stop_at(0);
    stop.max_iterations = iterations;
    for (const int which : {0, 1, 0}) {
      system.refresh(which);
      copy<T>(ctx, make_array(ctx, cast<T>(noise(n, 10 + which))).cspan(), system.b.span());
      CHECK(system.solve(direct, *system.A, stop).iterations == iterations);
      const auto expected = to_vector(ctx, system.x.cspan());
      fill<T, D>(ctx, T(0), system.x.span());
      graph.launch();
      CHECK(same(to_vector(ctx, system.x.cspan()), expected));
    }
  }
}

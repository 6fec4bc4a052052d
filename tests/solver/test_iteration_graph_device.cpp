// SPDX-License-Identifier: Apache-2.0
// Iterations replayed as CUDA graphs: the same bits as when they are queued one by one, and never a stale number.
#include "tests/capture_device.hpp"
#include "tests/solver/systems.hpp"

#include "solver/krylov/steps/iteration_graph.hpp"

namespace {

constexpr Space D = Space::device;

// Hands everything on to another operator and counts the products that are asked for; replayed ones are not.
template <class T>
class Watched final : public LinearOperator<T, D> {
 public:
  Watched(const LinearOperator<T, D>& inner, bool capturable, bool takes_long = false)
      : inner_(&inner), capturable_(capturable), takes_long_(takes_long) {}

  Index rows() const override { return inner_->rows(); }
  Index cols() const override { return inner_->cols(); }
  void apply(const Context<D>& ctx, T alpha, Span<const T, D> x, T beta, Span<T, D> y) const override {
    if (beta == T(0)) ++products_;  // others are true residuals, which no graph holds
    inner_->apply(ctx, alpha, x, beta, y);
  }
  void apply_dot(const Context<D>& ctx, Span<const T, D> x, Span<T, D> y, double* xy) const override {
    ++products_;
    inner_->apply_dot(ctx, x, y, xy);
  }
  std::optional<detail::ResidualSums> residual(const Context<D>& ctx, Span<const T, D> b, Span<const T, D> x,
                                               const detail::ResidualScale& scale, Span<T, D> r) const override {
    return inner_->residual(ctx, b, x, scale, r);
  }
  OperatorTraits<T, D> traits() const override { return {capturable_, takes_long_}; }

  int take_products() const { return std::exchange(products_, 0); }

 private:
  const LinearOperator<T, D>* inner_;
  bool capturable_, takes_long_;
  mutable int products_ = 0;
};

// Says that it may be captured, and waits for the stream.
template <class T>
class Waiting final : public LinearOperator<T, D> {
 public:
  explicit Waiting(const LinearOperator<T, D>& inner) : inner_(inner) {}
  Index rows() const override { return inner_.rows(); }
  Index cols() const override { return inner_.cols(); }
  void apply(const Context<D>& ctx, T alpha, Span<const T, D> x, T beta, Span<T, D> y) const override {
    ++calls;
    inner_.apply(ctx, alpha, x, beta, y);
    ctx.synchronize();
  }
  void apply_dot(const Context<D>& ctx, Span<const T, D> x, Span<T, D> y, double* xy) const override {
    ++calls;
    inner_.apply_dot(ctx, x, y, xy);
    ctx.synchronize();
  }
  std::optional<detail::ResidualSums> residual(const Context<D>& ctx, Span<const T, D> b, Span<const T, D> x,
                                               const detail::ResidualScale& scale, Span<T, D> r) const override {
    return inner_.residual(ctx, b, x, scale, r);
  }
  OperatorTraits<T, D> traits() const override { return {true}; }
  mutable int calls = 0;

 private:
  const LinearOperator<T, D>& inner_;
};

// Not for CHECK to print, which would be all of them.
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a == b;
}

template <class T>
constexpr double tolerance = std::is_same_v<T, double> ? 1e-8 : 1e-4;

template <class T>
StopCriterion criterion(int check_every = 16) {
  StopCriterion stop = stop_at(tolerance<T>);
  stop.check_every = check_every;
  return stop;
}

// Two matrices of one pattern, so different that the iterations of one do not solve the other.
Rows matrix_of(int which) {
  Rows a = laplacian(13, 0, which == 0 ? 0.01 : 0.1);
  if (which == 0) return a;
  for (Index i = 0; i < a.size(); ++i) {
    for (auto& [j, value] : a.row[static_cast<std::size_t>(i)]) value *= 1 + 0.1 * ((i + j) % 5);
  }
  return a;
}

template <class T>
OperatorPtr<T, D> precond(const Context<D>& ctx, const CsrView<T, D>& a, const std::string& name) {
  if (name == "none") return nullptr;
  PrecondOptions options{name};
  options.symmetric = true;
  return make_precond(ctx, a, RowOrder<D>{}, options, SpmvOptions{"ell-warp"});
}

// A matrix with its preconditioner, a right-hand side and an x that stays where it is.
template <class T>
struct System {
  System(const Context<D>& context, const std::string& format, const std::string& precond_name, int which = 0)
      : ctx(context),
        arrays(ctx, matrix_of(which)),
        A(make_spmv(ctx, arrays.view(), RowOrder<D>{}, SpmvOptions{format})),
        M(precond<T>(ctx, arrays.view(), precond_name)),
        b(make_array(ctx, cast<T>(noise(arrays.n, 7)))),
        x(ctx, arrays.n) {}

  void refresh(int which) {
    const Arrays<T, D> fresh(ctx, matrix_of(which));
    A->refresh(ctx, fresh.val.cspan());
    if (M != nullptr) M->refresh(ctx, fresh.val.cspan());
  }
  SolveReport solve(KrylovSolver<T, D>& solver, const LinearOperator<T, D>& matrix, const StopCriterion& stop) {
    fill<T, D>(ctx, T(0), x.span());
    return solver.solve(ctx, matrix, M.get(), b.cspan(), x.span(), stop);
  }

  Context<D> ctx;
  Arrays<T, D> arrays;
  OperatorPtr<T, D> A, M;
  Array<T, D> b, x;
};

void check_same(const SolveReport& found, const SolveReport& expected) {
  CHECK(found.status == expected.status);
  CHECK(found.iterations == expected.iterations);
  CHECK(found.restarts == expected.restarts);
  CHECK(found.second_passes == expected.second_passes);
  CHECK(same(found.history, expected.history));
  CHECK(found.true_residual == expected.true_residual);
}

struct Method {
  std::string name, precond;
  SolverOptions options;
};

std::vector<Method> methods() {
  std::vector<Method> all;
  for (const char* m : {"none", "jacobi", "spai0", "fsai"}) all.push_back({std::string("cg ") + m, m, {"cg"}});
  for (const char* m : {"none", "jacobi", "spai"}) all.push_back({std::string("bicgstab ") + m, m, {"bicgstab"}});
  for (const char* m : {"none", "jacobi"}) all.push_back({std::string("gmres ") + m, m, solver_options("gmres", 22)});
  all.push_back({"gmres from the left", "jacobi", solver_options("gmres", 22, true)});
  return all;
}

// The solver of a method beside one that sees the same and queues each iteration by itself.
template <class T>
struct Pair {
  Pair(const Context<D>& ctx, const Method& method, Index n)
      : replaying(make_solver<T, D>(ctx, n, method.options)), direct(make_solver<T, D>(ctx, n, method.options)) {}
  std::unique_ptr<KrylovSolver<T, D>> replaying, direct;
};

template <class T>
void check_replays(const Method& method, const std::string& format, const StopCriterion& stop) {
  INFO(method.name << ", " << format << ", a look every " << stop.check_every << ", at most " << stop.max_iterations);
  const Context<D> ctx;
  System<T> system(ctx, format, method.precond);
  const Watched<T> A(*system.A, true), direct(*system.A, false);
  Pair<T> pair(ctx, method, system.arrays.n);
  for (int solve = 0; solve < 4; ++solve) {
    INFO("solve " << solve);
    const SolveReport expected = system.solve(*pair.direct, direct, stop);
    const auto x = to_vector(ctx, system.x.cspan());
    CHECK(direct.take_products() >= expected.iterations);
    const SolveReport found = system.solve(*pair.replaying, A, stop);
    check_same(found, expected);
    CHECK(same(to_vector(ctx, system.x.cspan()), x));
    const int products = A.take_products();
    if (solve == 0) CHECK(products > 0);
    if (solve == 3) CHECK(products == 0);
  }
}

}  // namespace

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
  CHECK(system.M->takes_long());
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

// SPDX-License-Identifier: Apache-2.0
/// Systems whose iterations are replayed as CUDA graphs, and operators that count what is asked of them.
#pragma once

#include "tests/capture_device.hpp"
#include "tests/solver/systems.hpp"

#include "solver/krylov/steps/iteration_graph.hpp"

namespace newel::graph_tests {

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
inline Rows matrix_of(int which) {
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

inline void check_same(const SolveReport& found, const SolveReport& expected) {
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

inline std::vector<Method> methods() {
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

}  // namespace newel::graph_tests

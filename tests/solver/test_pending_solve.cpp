// SPDX-License-Identifier: Apache-2.0
// Asynchronous solves: the same result as the ordinary solve, and what is refused, waited for or cancelled meanwhile.
#include "tests/solver/systems.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace {

SystemOptions options_with(const char* solver, const char* format, const char* precond) {
  SystemOptions options = system_options(solver, precond, format, 1e-9);
  options.deterministic = true;
  return options;
}

// A system with its vectors. Solves stop when the test says so: the callback waits at its first call.
template <Space S>
struct Fixture {
  Context<S> ctx;
  Rows a;
  Arrays<double, S> arrays;
  std::optional<LinearSystem<double, S>> system;
  Array<double, S> b, x;

  explicit Fixture(double wind = 0, const SystemOptions& options = options_with("cg", "ehyb", "jacobi"),
                   Index columns = 1)
      : a(laplacian(11, wind)), arrays(ctx, a) {
    system.emplace(ctx, arrays.view(), options);
    b = make_array(ctx, noise(a.size() * columns));
    clear();
  }
  void clear() { x = make_array(ctx, std::vector<double>(static_cast<std::size_t>(b.size()), 0.0)); }
  std::vector<double> solution() const { return to_vector(ctx, x.cspan()); }
};

// A callback that holds the solve up until `open`.
class Barrier {
 public:
  ProgressFn callback() {
    return [this](const Progress&) {
      if (!begun_.exchange(true)) reached_.set_value();
      opened_.wait();
      return true;
    };
  }
  void wait_until_reached() { reached_.get_future().wait(); }
  void open() { open_.set_value(); }

 private:
  std::atomic<bool> begun_{false};
  std::promise<void> reached_, open_;
  std::shared_future<void> opened_ = open_.get_future().share();
};

void check_same(const SolveReport& found, const SolveReport& expected) {
  CHECK(found.status == expected.status);
  CHECK(found.iterations == expected.iterations);
  CHECK(found.history == expected.history);
  CHECK(found.true_residual == expected.true_residual);
  CHECK(found.recurrence_residual == expected.recurrence_residual);
  CHECK(found.solver == expected.solver);
  CHECK(found.reason == expected.reason);
  CHECK(found.attempts.size() == expected.attempts.size());
}

}  // namespace

TEST_BOTH("an asynchronous solve has the bits, counts and history of a solve", "[system][async]") {
  const struct {
    SystemOptions options;
    double wind;
  } cases[] = {{options_with("cg", "ehyb", "fsai"), 0},
               {options_with("bicgstab", "csr", "spai"), 0.2},
               {options_with("gmres", "ellwarp", "jacobi"), 0.2},
               {options_with("auto", "csr", "jacobi"), 0.2}};
  for (const auto& [options, wind] : cases) {
    CAPTURE(options.solver.name, options.spmv.format);
    Fixture<S> own(wind, options);
    const SolveReport expected = own.system->solve(own.b.cspan(), own.x.span());
    const auto x = own.solution();
    for (int times = 0; times < 2; ++times) {
      own.clear();
      PendingSolve pending = own.system->async().solve(own.b.cspan(), own.x.span());
      const SolveReport report = pending.get();
      check_same(report, expected);
      CHECK(own.solution() == x);
    }
    own.clear();
    check_same(own.system->solve(own.b.cspan(), own.x.span()), expected);
    CHECK(own.solution() == x);
  }
}

TEST_BOTH("an asynchronous solve of columns has their bits and counts", "[system][async]") {
  const Index columns = 3;
  Fixture<S> own(0, options_with("cg", "ehyb", "jacobi"), columns);
  const auto expected = own.system->solve_columns(own.b.cspan(), own.x.span(), columns);
  const auto x = own.solution();
  own.clear();
  PendingColumns pending = own.system->async().solve_columns(own.b.cspan(), own.x.span(), columns);
  const auto reports = pending.get();
  REQUIRE(reports.size() == expected.size());
  for (std::size_t c = 0; c < reports.size(); ++c) check_same(reports[c], expected[c]);
  CHECK(own.solution() == x);
}

TEST_BOTH("while a solve is pending its system and those with its context refuse every call", "[system][async]") {
  Fixture<S> own, other;
  const Context<S> copied = own.ctx;
  LinearSystem<double, S> sibling(copied, own.arrays.view());
  Array<double, S> y = make_array(own.ctx, std::vector<double>(static_cast<std::size_t>(own.b.size()), 0.0));
  Barrier barrier;
  PendingSolve pending = own.system->async().solve(own.b.cspan(), own.x.span(), barrier.callback());
  barrier.wait_until_reached();
  CHECK_FALSE(pending.ready());
  const auto refused = [&] {
    LinearSystem<double, S>& system = *own.system;
    CHECK(system.rows() == own.a.size());
    CHECK_THROWS_AS((void)system.solve(own.b.cspan(), y.span()), InUse);
    CHECK_THROWS_AS((void)system.ordered().solve(own.b.cspan(), y.span()), InUse);
    CHECK_THROWS_AS((void)system.solve_columns(own.b.cspan(), y.span(), 1), InUse);
    CHECK_THROWS_AS((void)system.ordered().solve_columns(own.b.cspan(), y.span(), 1), InUse);
    CHECK_THROWS_AS((void)system.async().solve(own.b.cspan(), y.span()), InUse);
    CHECK_THROWS_AS((void)system.async().solve_columns(own.b.cspan(), y.span(), 1), InUse);
    CHECK_THROWS_AS(system.refresh(own.arrays.val.cspan()), InUse);
    CHECK_THROWS_AS((void)system.in_place().matrix(), InUse);
    CHECK_THROWS_AS((void)system.in_place().preconditioner(), InUse);
    CHECK_THROWS_AS(system.in_place().written(), InUse);
    CHECK_THROWS_AS(system.ordered().from_user_order(own.b.cspan(), y.span()), InUse);
    CHECK_THROWS_AS(system.ordered().to_user_order(own.b.cspan(), y.span()), InUse);
    CHECK_THROWS_AS(system.multiply(own.b.cspan(), y.span()), InUse);
    CHECK_THROWS_AS((void)system.info(), InUse);
    CHECK_THROWS_AS((void)system.ordered().order(), InUse);
    CHECK_THROWS_AS((void)system.ordered().matrix(), InUse);
    CHECK_THROWS_AS((void)system.ordered().preconditioner(), InUse);
    CHECK_THROWS_AS((void)inverse_residual(system), InUse);
    CHECK_THROWS_AS(system.set_stop_criterion({}), InUse);
    CHECK_THROWS_AS((void)sibling.solve(own.b.cspan(), y.span()), InUse);
    CHECK_THROWS_AS((LinearSystem<double, S>(own.ctx, own.arrays.view())), InUse);
  };
  refused();
  // A system with a context of its own is free.
  CHECK(other.system->solve(other.b.cspan(), other.x.span()).converged());
  barrier.open();
  pending.wait();
  CHECK(pending.ready());
  refused();  // until the report is taken
  CHECK(pending.get().converged());
  CHECK(sibling.solve(own.b.cspan(), y.span()).converged());
  CHECK(own.system->info().solver == "cg");
}

TEST_BOTH("what an asynchronous solve throws comes out of get, and the system works on", "[system][async]") {
  Fixture<S> own;
  PendingSolve short_b = own.system->async().solve(own.b.cspan().subspan(0, 3), own.x.span());
  CHECK_THROWS_AS((void)short_b.get(), InputError);
  struct Own {};
  PendingSolve theirs =
      own.system->async().solve(own.b.cspan(), own.x.span(), [](const Progress&) -> bool { throw Own(); });
  theirs.wait();
  CHECK_THROWS_AS((void)theirs.get(), Own);
  own.clear();
  CHECK(own.system->solve(own.b.cspan(), own.x.span()).converged());
}

TEST_BOTH("a report is taken once, and from where it moved to", "[system][async]") {
  Fixture<S> own;
  PendingSolve first = own.system->async().solve(own.b.cspan(), own.x.span());
  PendingSolve second = std::move(first);
  CHECK_THROWS_AS((void)first.get(), InputError);
  CHECK_THROWS_AS((void)first.ready(), InputError);
  CHECK(second.get().converged());
  CHECK_THROWS_AS((void)second.get(), InputError);
  CHECK_THROWS_AS(second.wait(), InputError);
  CHECK_THROWS_AS(second.cancel(), InputError);
}

TEST_BOTH("a cancelled solve stops, as when the caller's callback says so", "[system][async]") {
  SystemOptions polled = options_with("cg", "ehyb", "jacobi");
  set_resident(polled.solver, false);  // or it ends before the first poll
  Fixture<S> own(0, polled);
  Barrier barrier;
  PendingSolve pending = own.system->async().solve(own.b.cspan(), own.x.span(), barrier.callback());
  barrier.wait_until_reached();
  pending.cancel();
  barrier.open();
  const SolveReport report = pending.get();
  CHECK(report.status == Status::stopped_by_caller);
  own.clear();
  CHECK(own.system->solve(own.b.cspan(), own.x.span()).converged());

  own.clear();
  PendingSolve told = own.system->async().solve(own.b.cspan(), own.x.span(), [](const Progress&) { return false; });
  CHECK(told.get().status == Status::stopped_by_caller);
}

TEST_BOTH("a pending solve that is destroyed or assigned to is cancelled, and frees the system", "[system][async]") {
  Fixture<S> own(0, options_with("cg", "csr", "none")), other;
  std::atomic<int> calls{0};
  // Goes on some time after it is given up, and takes some time for it.
  const auto give_up = [&](auto&& give) {
    calls = 0;
    own.clear();
    Barrier barrier;
    PendingSolve pending =
        own.system->async().solve(own.b.cspan(), own.x.span(), [&, wait = barrier.callback()](const Progress& now) {
          wait(now);
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          return ++calls > 0;
        });
    barrier.wait_until_reached();
    std::thread opener([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      barrier.open();
    });
    give(std::move(pending));
    CHECK(calls == 1);
    CHECK(own.system->info().solver == "cg");
    opener.join();
  };
  give_up([](PendingSolve given) { static_cast<void>(given); });
  give_up([&](PendingSolve&& given) {
    given = other.system->async().solve(other.b.cspan(), other.x.span());
    CHECK(given.get().converged());
  });
}

TEST_BOTH("a pending solve moves with its system, which waits for it before it goes", "[system][async]") {
  Fixture<S> own;
  const SolveReport expected = own.system->solve(own.b.cspan(), own.x.span());
  const auto x = own.solution();
  const auto slowly = [](const Progress&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return true;
  };
  own.clear();
  PendingSolve pending = own.system->async().solve(own.b.cspan(), own.x.span(), slowly);
  OrderedSystem<double, S> ordered = own.system->ordered();
  LinearSystem<double, S> moved = std::move(*own.system);
  CHECK_THROWS_AS((void)moved.info(), InUse);
  check_same(pending.get(), expected);
  CHECK(own.solution() == x);
  CHECK(&ordered.matrix() == &moved.ordered().matrix());

  own.clear();
  pending = moved.async().solve(own.b.cspan(), own.x.span(), slowly);
  moved = LinearSystem<double, S>(Fixture<S>().ctx, own.arrays.view());
  CHECK(pending.ready());
  check_same(pending.get(), expected);
  CHECK(own.solution() == x);

  own.clear();
  own.system.emplace(own.ctx, own.arrays.view(), options_with("cg", "ehyb", "jacobi"));
  pending = own.system->async().solve(own.b.cspan(), own.x.span(), slowly);
  own.system.reset();
  CHECK(pending.ready());
  check_same(pending.get(), expected);
  CHECK(own.solution() == x);
}

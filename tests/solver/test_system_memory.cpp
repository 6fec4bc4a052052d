// SPDX-License-Identifier: Apache-2.0
// A LinearSystem in memory of the caller's: all of it, nothing in a second solve, and what a failure leaves.
#include "tests/core/memory_support.hpp"
#include "tests/solver/systems.hpp"

namespace {

struct Parts {
  const char *solver, *format, *precond;
  double wind;  // of the matrix
};
constexpr Parts several_parts[] = {{"cg", "ehyb", "fsai", 0},
                                   {"bicgstab", "bce", "spai", 0.1},
                                   {"gmres", "ellwarp", "jacobi", 0.1},
                                   {"auto", "auto", "auto", 0.1}};

SystemOptions options_of(const Parts& parts) {
  SystemOptions options = system_options(parts.solver, parts.precond, parts.format, 1e-9);
  return options;
}

template <Space S>
Solved<double, S> solved(const Context<S>& ctx, LinearSystem<double, S>& system, const std::vector<double>& b) {
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<double>(b.size(), 0.0));
  Solved<double, S> result;
  result.report = system.solve(bs.cspan(), xs.span());
  result.x = to_vector(ctx, xs.cspan());
  return result;
}

}  // namespace

TEST_BOTH("A system lies in the caller's memory, and a second solve allocates nothing", "[memory][system]") {
  for (const Parts& parts : several_parts) {
    CAPTURE(parts.solver, parts.format, parts.precond);
    const Rows a = laplacian(9, parts.wind);
    const auto b = a.rhs_for(noise(a.size()));
    const auto memory = std::make_shared<ObservedMemory<S>>();
    const Context<S> theirs(usual, memory), ours;
    const Arrays<double, S> here(theirs, a), there(ours, a);
    {
      LinearSystem<double, S> system(theirs, here.view(), options_of(parts));
      LinearSystem<double, S> reference(ours, there.view(), options_of(parts));
      CHECK(memory->allocations == ours.memory()->use().allocations);
      CHECK(memory->live_bytes() == ours.memory()->use().bytes);
      const Slots<double, S> slots = system.in_place().matrix();
      static_cast<void>(reference.in_place().matrix());  // neither changes in a solve
      CHECK(memory->holds(slots.values.data, static_cast<std::size_t>(slots.values.size) * sizeof(double)));

      const auto bs = make_array(theirs, b);
      auto xs = make_array(theirs, std::vector<double>(b.size(), 0.0));
      const SolveReport first = system.solve(bs.cspan(), xs.span());
      const auto x = to_vector(theirs, xs.cspan());
      CHECK(first.converged());
      CHECK(x == solved(ours, reference, b).x);
      copy<double>(theirs, make_array(theirs, std::vector<double>(b.size(), 0.0)).cspan(), xs.span());
      const std::uint64_t before = memory->allocations;
      const SolveReport second = system.solve(bs.cspan(), xs.span());
      CHECK(memory->allocations == before);
      CHECK(second.iterations == first.iterations);
      CHECK(to_vector(theirs, xs.cspan()) == x);
    }
    CHECK(memory->live_bytes() == theirs.memory()->use().bytes);
    CHECK(memory->wrong_releases == 0);
  }
}

TEST_BOTH("Estimates are not checked against memory of unknown size", "[memory][system]") {
  const Rows a = laplacian(9);
  const auto memory = std::make_shared<ObservedMemory<S>>();
  const Context<S> ctx(usual, memory);
  const Arrays<double, S> arrays(ctx, a);
  const SystemOptions options = options_of(several_parts[0]);
  memory->available = 100;
  try {
    LinearSystem<double, S>(ctx, arrays.view(), options);
    FAIL("100 bytes sufficed");
  } catch (const OutOfMemory& e) {
    CHECK(e.available_bytes() == 100);
  }
  memory->available.reset();
  LinearSystem<double, S> system(ctx, arrays.view(), options);
  CHECK(solved(ctx, system, a.rhs_for(noise(a.size()))).report.converged());
}

TEST_BOTH("A setup whose memory ends at any allocation leaves none of it, and the context works on",
          "[memory][system]") {
  for (const Parts& parts : several_parts) {
    CAPTURE(parts.solver, parts.format, parts.precond);
    const Rows a = laplacian(7, parts.wind);
    const auto b = a.rhs_for(noise(a.size()));
    const auto memory = std::make_shared<ObservedMemory<S>>();
    const Context<S> ctx(usual, memory);
    const Arrays<double, S> arrays(ctx, a);
    const std::uint64_t before = memory->live_bytes();
    int failures = 0;
    for (bool whole = false; !whole && failures < 10000;) {
      memory->left = failures;
      try {
        const LinearSystem<double, S> system(ctx, arrays.view(), options_of(parts));
        whole = memory->left >= 0;  // a choice may continue without a candidate that did not fit
        failures += !whole;
      } catch (const OutOfMemory& e) {
        CHECK(e.on_device() == (S == Space::device));
        CHECK(!e.available_bytes());
        ++failures;
      }
      REQUIRE(memory->live_bytes() == before);
    }
    CHECK(failures > 5);
    memory->left = std::numeric_limits<std::int64_t>::max();
    LinearSystem<double, S> system(ctx, arrays.view(), options_of(parts));
    const Solved<double, S> found = solved(ctx, system, b);
    CHECK(found.report.converged());
    CHECK(true_residual<double>(a, b, found.x) <= 1e-9 * norm(b) * (1 + 1e-6));
  }
}

TEST_BOTH("A solve of columns whose memory ends leaves the system as it was", "[memory][system]") {
  const Rows a = laplacian(7);
  const auto memory = std::make_shared<ObservedMemory<S>>();
  const Context<S> ctx(usual, memory);
  SystemOf<double, S> system(ctx, a, options_of(several_parts[0]));
  const Index columns = 3;
  const auto b = noise(columns * a.size());
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<double>(b.size(), 0.0));
  int failures = 0;
  for (bool whole = false; !whole; failures += !whole) {
    memory->left = failures;
    try {
      const auto reports = system.solve_columns(bs.cspan(), xs.span(), columns);
      whole = memory->left >= 0;
      for (const SolveReport& report : reports) CHECK(report.converged());
    } catch (const OutOfMemory&) {
    }
    REQUIRE(failures < 1000);
  }
  CHECK(failures > 0);
}

// SPDX-License-Identifier: Apache-2.0
// BatchedSystem: many small systems of one pattern. Judged by dense factors of Eigen and by b - A x in long double.
#include "tests/catch.hpp"

#include "tests/solver/batched_support.hpp"

namespace {

template <class T>
constexpr double tolerance = std::is_same_v<T, double> ? 1e-10 : 1e-4;

template <class T, Space S>
void solve_with_everything(const Context<S>& ctx, const HostCsr& pattern, Index systems, bool compare_with_factors) {
  for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
    const Batch<T> batch = dominant_batch<T>(pattern, systems, solver == "cg");
    for (const std::string precond : {"none", "jacobi", "block-jacobi", "ilu", "fsai"}) {
      for (const int block_rows : precond == "block-jacobi" ? std::vector<int>{0, 2, 3, 32} : std::vector<int>{0}) {
        BatchedOptions options = options_of(solver, precond, tolerance<T>);
        options.block_rows = block_rows;
        const BatchAnswer<T> answer = solve_batch<T>(ctx, batch, options);
        INFO(solver << ", " << precond << ", " << block_rows);
        REQUIRE(answer.report.together);
        REQUIRE(answer.report.systems.size() == static_cast<std::size_t>(systems));
        for (Index s = 0; s < systems; ++s) {
          require_solved(batch, answer, s, compare_with_factors);
          REQUIRE(answer.report.systems[s].solver == solver);
          REQUIRE(answer.report.systems[s].iterations > 0);
          REQUIRE(answer.report.systems[s].tolerance == Approx(options.rel_tol * norm_oracle(batch.rhs(s))));
        }
      }
    }
  }
}

}  // namespace

TEST_BOTH("Every system of a batch is solved by every method with every preconditioner", "[batched]") {
  solve_with_everything<double>(ctx, grid_pattern(7, 5), 11, true);
}

TEST_BOTH("Every system of a batch is solved in single precision", "[batched]") {
  solve_with_everything<float>(ctx, grid_pattern(7, 5), 5, true);
}

TEST_BOTH("Systems of hundreds of rows are solved by every method with every preconditioner", "[batched]") {
  solve_with_everything<double>(ctx, grid_pattern(23, 20), 3, false);
  solve_with_everything<float>(ctx, grid_pattern(23, 20), 3, false);
}

TEST_BOTH("A system of a batch has the same bits alone, elsewhere and with other neighbours", "[batched]") {
  const Batch<double> batch = dominant_batch<double>(grid_pattern(6, 6), 19, false);
  for (const std::string solver : {"bicgstab", "gmres", "auto"}) {
    const BatchedOptions options = options_of(solver, "jacobi", 1e-9);
    const BatchAnswer<double> all = solve_batch<double>(ctx, batch, options);
    for (const Index s : {0, 7, 8, 18}) {
      Batch<double> one = batch;
      one.systems = 1;
      one.values.assign(batch.values.begin() + s * batch.pattern.nnz(),
                        batch.values.begin() + (s + 1) * batch.pattern.nnz());
      one.b = batch.rhs(s);
      const BatchAnswer<double> alone = solve_batch<double>(ctx, one, options);
      REQUIRE(same_bits(alone.x, batch.part(all.x, s)));
      REQUIRE(alone.report.systems[0].iterations == all.report.systems[s].iterations);
      REQUIRE(alone.report.systems[0].true_residual == all.report.systems[s].true_residual);
    }
  }
}

TEST_BOTH("Systems that fail touch no other system of their batch, and say why", "[batched]") {
  const Index systems = 24;
  const Batch<double> sound = dominant_batch<double>(grid_pattern(6, 5), systems, true);
  for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
    const BatchedOptions options = options_of(solver, "jacobi", 1e-9);
    const BatchAnswer<double> expected = solve_batch<double>(ctx, sound, options);
    Batch<double> batch = sound;
    const Index nan_in_a = 1, infinite_b = 4, singular = 9, indefinite = 12, zero_b = 17, nan_in_b = 22;
    batch.value(nan_in_a, 3, 3) = std::numeric_limits<double>::quiet_NaN();
    batch.b[infinite_b * 30 + 5] = std::numeric_limits<double>::infinity();
    batch.b[nan_in_b * 30] = std::numeric_limits<double>::quiet_NaN();
    for (Index col : {1, 0, 6}) batch.value(singular, 0, col) = batch.value(singular, col, 0) = 0;
    for (Index row = 0; row < 30; ++row) batch.value(indefinite, row, row) = row % 2 == 0 ? 2.0 : -2.0;
    for (Index row = 0; row < 30; ++row) batch.b[zero_b * 30 + row] = 0;
    const BatchAnswer<double> answer = solve_batch<double>(ctx, batch, options);
    const std::set<Index> planted = {nan_in_a, infinite_b, singular, indefinite, zero_b, nan_in_b};
    for (Index s = 0; s < systems; ++s) {
      INFO(solver << ", system " << s);
      const BatchedResult& result = answer.report.systems[s];
      if (planted.count(s) == 0) {
        REQUIRE(same_bits(batch.part(answer.x, s), batch.part(expected.x, s)));
        REQUIRE(result.iterations == expected.report.systems[s].iterations);
        REQUIRE(result.converged());
        continue;
      }
      if (s == nan_in_a || s == infinite_b || s == nan_in_b) REQUIRE(result.status == Status::not_finite);
      if (s == infinite_b || s == nan_in_b) REQUIRE(result.cause == Cause::not_finite_input);
      if (s == singular) {  // row 0 holds zeros alone, and b_0 is not 0
        REQUIRE(!result.converged());
        REQUIRE(result.true_residual >= std::fabs(batch.rhs(s)[0]));
        REQUIRE((result.status == Status::not_positive_definite || result.status == Status::breakdown ||
                 result.status == Status::stagnation || result.status == Status::not_finite ||
                 result.status == Status::diverged || result.status == Status::max_iterations));
      }
      if (s == indefinite && solver == "cg") {
        REQUIRE(result.status == Status::not_positive_definite);
      } else if (s == indefinite && result.converged()) {
        require_solved(batch, answer, s);
      }
      if (s == zero_b) {
        REQUIRE(result.converged());
        REQUIRE(result.iterations == 0);
        REQUIRE(result.true_residual == 0);
        REQUIRE(batch.part(answer.x, s) == std::vector<double>(30, 0.0));
      }
    }
    REQUIRE(!answer.report.converged());
  }
}

TEST_BOTH("With auto each system of a batch gets the method that its values allow", "[batched]") {
  const Batch<double> symmetric = dominant_batch<double>(grid_pattern(5, 5), 10, true);
  Batch<double> batch = symmetric;
  batch.value(3, 0, 1) *= 0.5;                                          // not symmetric
  for (Index row = 0; row < 25; ++row) batch.value(6, row, row) *= -1;  // negative definite
  batch.value(8, 12, 12) = 0.01;                                        // symmetric, but hardly definite
  const BatchAnswer<double> answer = solve_batch<double>(ctx, batch, options_of("auto", "jacobi", 1e-9));
  for (Index s = 0; s < 10; ++s) {
    require_solved(batch, answer, s);
    const bool by_cg = s != 3 && s != 6 && s != 8;
    INFO("system " << s << " by " << answer.report.systems[s].solver);
    REQUIRE((answer.report.systems[s].solver == "cg") == by_cg);
  }
}

TEST_BOTH("A batch stops at its limit of iterations and says so", "[batched]") {
  const Batch<double> batch = dominant_batch<double>(grid_pattern(9, 9), 9, true, 1e-3);
  for (const std::string solver : {"cg", "bicgstab", "gmres", "auto"}) {
    for (const int limit : {0, 1, 5}) {
      BatchedOptions options = options_of(solver, "jacobi", 1e-12);
      options.max_iterations = limit;
      const BatchAnswer<double> answer = solve_batch<double>(ctx, batch, options);
      for (Index s = 0; s < batch.systems; ++s) {
        const BatchedResult& result = answer.report.systems[s];
        REQUIRE(result.status == Status::max_iterations);
        REQUIRE(result.cause == Cause::iteration_limit);
        REQUIRE(result.iterations == limit);
        REQUIRE(result.true_residual ==
                Approx(residual_norm(batch.matrix(s), batch.part(answer.x, s), batch.rhs(s))).epsilon(1e-9));
        REQUIRE(text_of(result.failure()).find("iteration") != std::string::npos);
      }
    }
  }
}

TEST_BOTH("Block Jacobi of a batch inverts blocks that need pivots, and the diagonal of singular ones", "[batched]") {
  MapRows rows(12);
  for (Index i = 0; i < 12; ++i) {
    for (Index j = i / 3 * 3; j < i / 3 * 3 + 3; ++j) rows[i][j] = 1;
  }
  Batch<double> batch{from_rows(12, rows), 9, {}, random_vector<double>(9 * 12, 5)};
  Random random(11);
  for (Index k = 0; k < 9 * 36; ++k) batch.values.push_back(random.value());
  for (Index s = 0; s < 9; ++s) {
    for (Index i = 0; i < 12; ++i) batch.value(s, i, i) = 0;
  }
  BatchedOptions options = options_of("gmres", "block-jacobi", 1e-10);
  options.block_rows = 3;
  const BatchAnswer<double> answer = solve_batch<double>(ctx, batch, options);
  for (Index s = 0; s < 9; ++s) {
    require_solved(batch, answer, s);
    REQUIRE(answer.report.systems[s].iterations <= 2);  // M is the inverse
  }
  for (const Index j : {0, 1, 2}) batch.value(4, 1, j) = batch.value(4, 0, j);  // two equal rows
  for (const Index i : {0, 1, 2}) batch.value(4, i, i) = 3;
  const BatchAnswer<double> singular = solve_batch<double>(ctx, batch, options);
  REQUIRE(singular.report.systems[4].true_residual >= 0);
  for (const Index s : {3, 5}) REQUIRE(same_bits(batch.part(singular.x, s), batch.part(answer.x, s)));
}

TEST_BOTH("A batch begins with the guesses that are better than zero", "[batched]") {
  const Batch<double> batch = dominant_batch<double>(grid_pattern(5, 4), 9, true);
  const BatchedOptions options = options_of("cg", "jacobi", 1e-10);
  const BatchAnswer<double> first = solve_batch<double>(ctx, batch, options);
  std::vector<double> guess = first.x;
  for (Index i = 0; i < 20; ++i) guess[4 * 20 + i] = 1e6;
  guess[7 * 20] = std::numeric_limits<double>::quiet_NaN();
  const BatchAnswer<double> again = solve_batch<double>(ctx, batch, options, &guess);
  for (Index s = 0; s < batch.systems; ++s) {
    require_solved(batch, again, s);
    const bool dropped = s == 4 || s == 7;
    REQUIRE(again.report.systems[s].iterations == (dropped ? first.report.systems[s].iterations : 0));
    REQUIRE(same_bits(batch.part(again.x, s), batch.part(first.x, s)));
  }
}

TEST_BOTH("Empty batches and systems of no row or one row are solved", "[batched]") {
  const Batch<double> none = dominant_batch<double>(grid_pattern(3, 3), 0, true);
  const BatchAnswer<double> nothing = solve_batch<double>(ctx, none, {});
  REQUIRE(nothing.report.systems.empty());
  REQUIRE(nothing.report.converged());
  for (const std::string solver : {"cg", "bicgstab", "gmres", "auto"}) {
    const BatchAnswer<double> no_rows =
        solve_batch<double>(ctx, Batch<double>{empty_matrix(0, 0), 3, {}, {}}, options_of(solver, "jacobi", 1e-8));
    REQUIRE(no_rows.report.systems.size() == 3);
    REQUIRE(no_rows.report.converged());
    const Batch<double> single{diagonal_matrix(1), 3, {2, 4, -8}, {1, 1, 1}};
    const BatchAnswer<double> one_row = solve_batch<double>(ctx, single, options_of(solver, "none", 1e-8));
    const bool definite_only = solver == "cg";
    REQUIRE(one_row.x[0] == 0.5);
    REQUIRE(one_row.x[1] == 0.25);
    if (definite_only) {
      REQUIRE(one_row.report.systems[2].status == Status::not_positive_definite);
    } else {
      REQUIRE(one_row.x[2] == -0.125);
    }
  }
}

TEST_BOTH("Systems with long rows, whose values or basis do not fit on a chip, are solved", "[batched]") {
  const HostCsr wide = random_matrix(300, 300, 5, [](Index) { return Offset{150}; });
  MapRows rows(300);
  for (Index i = 0; i < 300; ++i) {
    rows[i][i] = 1;
    for (Offset e = wide.row_ptr[i]; e < wide.row_ptr[i + 1]; ++e) rows[i][wide.col[e]] = 1;
  }
  const Batch<double> batch = dominant_batch<double>(from_rows(300, rows), 3, false, 5);
  for (const std::string solver : {"bicgstab", "gmres"}) {
    const BatchAnswer<double> answer = solve_batch<double>(ctx, batch, options_of(solver, "jacobi", 1e-9));
    REQUIRE(answer.report.together);
    for (Index s = 0; s < batch.systems; ++s) require_solved(batch, answer, s, false);
  }
  const Batch<double> tall = dominant_batch<double>(grid_pattern(40, 40), 3, false);
  BatchedOptions options = options_of("gmres", "none", 1e-9);
  options.restart = 30;
  const BatchAnswer<double> answer = solve_batch<double>(ctx, tall, options);
  for (Index s = 0; s < tall.systems; ++s) require_solved(tall, answer, s, false);
}

TEST_BOTH("Systems that do not fit are solved one after another, failures included", "[batched]") {
  Batch<double> batch = dominant_batch<double>(grid_pattern(6, 6), 5, true);
  batch.value(1, 4, 4) = 0;  // Jacobi of an ordinary solve refuses it
  batch.value(3, 0, 0) = std::numeric_limits<double>::quiet_NaN();
  for (const std::string solver : {"auto", "cg", "gmres"}) {
    BatchedOptions options = options_of(solver, "jacobi", 1e-9);
    options.together = false;
    const BatchAnswer<double> answer = solve_batch<double>(ctx, batch, options);
    REQUIRE(!answer.report.together);
    for (const Index s : {0, 2, 4}) require_solved(batch, answer, s);
    REQUIRE(answer.report.systems[3].status == Status::not_finite);
  }
}

TEST_BOTH("Only systems of few rows are solved together", "[batched]") {
  const auto fits = [&](Index width, Index height) {
    const Csr<double, S> matrix = make_matrix<double>(ctx, grid_pattern(width, height));
    return BatchedSystem<double, S>(ctx, Pattern<S>(CsrView<double, S>(matrix))).fits();
  };
  REQUIRE(fits(64, 32));
  REQUIRE(!fits(S == Space::device ? 683 : 200, S == Space::device ? 3 : 200));
}

TEST_CASE("Threads of the host do not change a bit of a batch", "[batched]") {
  const Batch<float> batch = dominant_batch<float>(grid_pattern(8, 8), 50, false);
  const BatchedOptions options = options_of("auto", "block-jacobi", 1e-5);
  const BatchAnswer<float> one = solve_batch<float>(Context<host>(1), batch, options);
  const BatchAnswer<float> three = solve_batch<float>(Context<host>(3), batch, options);
  REQUIRE(same_bits(one.x, three.x));
}

// Memory with bytes after each allocation that nobody may write.
class GuardedMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes, CUstream_st*) override {
    auto* const begin = static_cast<unsigned char*>(std::aligned_alloc(alignment, padded(bytes) + guard));
    std::fill_n(begin + padded(bytes), guard, mark);
    return begin;
  }
  void release(void* pointer, std::size_t bytes, CUstream_st*) noexcept override {
    const auto* const end = static_cast<unsigned char*>(pointer) + padded(bytes);
    if (!std::all_of(end, end + guard, [](unsigned char byte) { return byte == mark; })) ++damaged;
    std::free(pointer);
  }

  int damaged = 0;  ///< allocations after which somebody has written

 private:
  static constexpr std::size_t alignment = 256, guard = std::size_t{4} << 20;
  static constexpr unsigned char mark = 0xa5;
  static std::size_t padded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }
};

// Two groups of systems, and memory for the two threads that solve them.
TEST_CASE("Threads of the host for which a batch has no memory take no part", "[batched]") {
  const auto memory = std::make_shared<GuardedMemory>();
  {
    const Context<host> ctx(12, memory);
    const Batch<double> batch = dominant_batch<double>(grid_pattern(8, 7), 11, true);
    const BatchedOptions options = options_of("cg", "jacobi", 1e-10);
    const std::vector<double> alone = solve_batch<double>(Context<host>(1), batch, options).x;
    for (int round = 0; round < 100; ++round) REQUIRE(same_bits(solve_batch<double>(ctx, batch, options).x, alone));
  }
  CHECK(memory->damaged == 0);
}

TEST_BOTH("A batch refuses what it cannot solve, with what was expected", "[batched]") {
  const Csr<double, S> square = make_matrix<double>(ctx, grid_pattern(3, 3));
  const Pattern<S> pattern{CsrView<double, S>(square)};
  const auto refusal = [&](BatchedOptions options) {
    return message_of<InputError>([&] { BatchedSystem<double, S>(ctx, pattern, std::move(options)); });
  };
  CHECK(contains(refusal(options_of("bicg", "jacobi", 1e-8)), "did you mean bicgstab"));
  CHECK(contains(refusal(options_of("cg", "jacobbi", 1e-8)), "did you mean jacobi"));
  CHECK(contains(refusal(options_of("cg", "jacobi", -1)), "rel_tol must be"));
  BatchedOptions options;
  options.restart = 0;
  CHECK(contains(refusal(options), "restart must be from 1 to 100, not 0"));
  options = {};
  options.block_rows = 33;
  CHECK(contains(refusal(options), "block_rows must be from 0 to 32, not 33"));
  const Csr<double, S> wide = make_matrix<double>(ctx, empty_matrix(2, 3));
  CHECK(contains(message_of<InputError>([&] { BatchedSystem<double, S>(ctx, Pattern<S>(CsrView<double, S>(wide))); }),
                 "2 x 3"));
  BatchedSystem<double, S> system(ctx, pattern);
  const Array<double, S> values(ctx, 2 * system.nonzeros()), b(ctx, 18);
  Array<double, S> x(ctx, 18), shorter(ctx, 17);
  const auto solve = [&](Index systems, const Array<double, S>& rhs, Array<double, S>& to) {
    return message_of<InputError>([&] { static_cast<void>(system.solve(systems, values, rhs, to)); });
  };
  CHECK(contains(solve(3, b, x), "for 3 systems"));
  CHECK(contains(solve(2, b, shorter), "x has 17 values, expected 18"));
  CHECK(contains(solve(2, x, x), "share memory"));
  CHECK(contains(solve(-1, b, x), "0 or more"));
}

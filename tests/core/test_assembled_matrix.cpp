// SPDX-License-Identifier: Apache-2.0
// AssembledMatrix: every form and index type against sums by hand, new values, threads, and what is borrowed.
#include "tests/catch.hpp"
#include "tests/core/input_cases.hpp"
#include "tests/core/memory_support.hpp"

#include <newel/core/assembled_matrix.hpp>

namespace {

// The values that an input has been given.
template <class T, Space S>
std::vector<T> values_of(const Context<S>& ctx, const InputCase<T, S>& c) {
  return to_vector(ctx, c.input.values());
}

template <class T, Space S>
void check_case(const Context<S>& ctx, const InputCase<T, S>& c) {
  INFO(c.name << ", " << c.rows << " x " << c.cols);
  AssembledMatrix<T, S> assembled(ctx, c.input);
  CHECK(same_matrix(download_view(ctx, assembled.view()), c.expected(values_of(ctx, c))));
  check_csr<T>(ctx, assembled.view());

  // New values equal a rebuild, also when the pattern is gone.
  assembled.drop_pattern();
  const std::vector<T> next = rounding_values<T>(c.count(), 77);
  const auto there = upload(ctx, next);
  const std::vector<T> canonical = to_vector(ctx, assembled.values(ctx, there.cspan()));
  CHECK(same_bits(canonical, converted<T>(c.expected(next).val)));
}

}  // namespace

TEST_BOTH("Every form of a matrix is assembled as by hand, with every index type", "[assembly]") {
  std::vector<InputCase<double, S>> all;
  add_cases<int, int>(ctx, 40, 40, 300, 1, all);
  add_cases<unsigned, long long>(ctx, 33, 33, 200, 100, all);
  add_cases<std::size_t, int>(ctx, 7, 7, 20, 200, all);
  add_cases<long long, std::size_t>(ctx, 60, 31, 90, 300, all);
  add_cases<long, unsigned>(ctx, 9, 200, 400, 400, all);
  for (const auto& c : all) check_case(ctx, c);
  std::vector<InputCase<float, S>> single;
  add_cases<int, long>(ctx, 25, 25, 400, 500, single);
  for (const auto& c : single) check_case(ctx, c);
}

TEST_BOTH("Matrices without entries, rows or columns are assembled", "[assembly]") {
  for (const auto& [rows, cols] : {Cell{0, 0}, Cell{0, 5}, Cell{5, 0}, Cell{5, 5}, Cell{1, 1}}) {
    std::vector<InputCase<double, S>> all;
    add_cases<int, std::size_t>(ctx, static_cast<Index>(rows), static_cast<Index>(cols), 0, 1, all);
    for (const auto& c : all) check_case(ctx, c);
  }
  std::vector<InputCase<double, S>> one;
  add_cases<int, int>(ctx, 1, 1, 3, 1, one);
  for (const auto& c : one) check_case(ctx, c);
}

TEST_BOTH("Random shapes and forms are assembled as by hand", "[assembly]") {
  Random random(5);
  for (int round = 0; round < (S == Space::host ? 60 : 8); ++round) {
    const Index rows = random.index(80), cols = round % 3 == 0 ? rows : random.index(80);
    std::vector<InputCase<float, S>> all;
    add_cases<int, long long>(ctx, rows, cols, random.index(round % 7 == 0 ? 900 : 150), 1000 + 50 * round, all);
    for (const auto& c : all) check_case(ctx, c);
  }
}

TEST_BOTH("Entries of one place are summed in the order in which they stood", "[assembly]") {
  // (1 + 1e8) - 1e8 is 0 in single precision; from the other end it is 1.
  const auto ctx = make_context<S>();
  const std::vector<Cell> cells = {{0, 1}, {0, 0}, {0, 1}, {0, 1}};
  const std::vector<float> val = {1, 3, 1e8f, -1e8f};
  const auto canonical = [&](const InputCase<float, S>& c) {
    return download_view(ctx, AssembledMatrix<float, S>(ctx, c.input).view()).val;
  };
  CHECK(canonical(coo_case<int, int>(ctx, 1, 2, cells, val)) == std::vector<double>{3, 0});
  CHECK(canonical(compressed_case<int, int>(ctx, false, 1, 2, cells, val)) == std::vector<double>{3, 0});
}

TEST_BOTH("A node's block lands where its order says", "[assembly]") {
  // Block row 0: blocks 1 2 / 3 4 at column 1 and 5 6 / 7 8 at column 0.
  const auto ctx = make_context<S>();
  const auto row_ptr = upload(ctx, std::vector<int>{0, 2});
  const auto col = upload(ctx, std::vector<int>{1, 0});
  const auto val = upload(ctx, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
  const auto values = [&](BlockOrder order) {
    const auto input = MatrixInput<double, S>::bsr(1, 2, 2, row_ptr, col, val, order);
    return download_view(ctx, AssembledMatrix<double, S>(ctx, input).view()).val;
  };
  CHECK(values(BlockOrder::by_rows) == std::vector<double>{5, 6, 1, 2, 7, 8, 3, 4});
  CHECK(values(BlockOrder::by_columns) == std::vector<double>{5, 7, 1, 3, 6, 8, 2, 4});
}

TEST_CASE("The result does not depend on the threads, and long rows and columns are no exception", "[assembly]") {
  std::vector<Cell> cells = random_cells(3000, 2000, 40000, 3);
  for (Index k = 0; k < 20000; ++k) cells.push_back(k % 2 == 0 ? Cell{1234, k % 1999} : Cell{k % 2999, 77});
  const auto val = rounding_values<double>(static_cast<std::int64_t>(cells.size()), 4);
  for (const int threads : {1, 2, 3}) {
    const Context<Space::host> ctx(threads);
    check_case(ctx, coo_case<int, long>(ctx, 3000, 2000, cells, val));
    check_case(ctx, compressed_case<int, int>(ctx, true, 3000, 2000, cells, val));
  }
}

TEST_BOTH("Canonical CSR that counts from 0 is borrowed as it is", "[assembly]") {
  for (const auto& [name, a] : awkward_matrices()) {
    INFO(name);
    const auto there = upload_matrix<double>(ctx, a);
    const auto as_size = upload(ctx, std::vector<std::size_t>(a.row_ptr.begin(), a.row_ptr.end()));
    const auto as_unsigned = upload(ctx, std::vector<unsigned>(a.row_ptr.begin(), a.row_ptr.end()));
    using Input = MatrixInput<double, S>;
    for (const Input& input : {Input(there.wide()), Input(there.narrow()),
                               Input::csr(a.rows, a.cols, as_size, there.matrix.col, there.matrix.val),
                               Input::csr(a.rows, a.cols, as_unsigned, there.matrix.col, there.matrix.val)}) {
      AssembledMatrix<double, S> assembled(ctx, input);
      CHECK(assembled.borrowed());
      CHECK(assembled.view().col.data == there.matrix.col.data());
      CHECK(assembled.view().val.data == there.matrix.val.data());
      CHECK(same_matrix(download_view(ctx, assembled.view()), a));
      const auto next = upload(ctx, random_vector<double>(a.nnz()));
      CHECK(assembled.values(ctx, next.cspan()).data == next.data());
    }
  }
  const auto unsorted = compressed_case<int, int>(ctx, false, 1, 2, {{0, 1}, {0, 0}}, std::vector<double>{1, 2});
  CHECK_FALSE(AssembledMatrix<double, S>(ctx, unsorted.input).borrowed());
}

TEST_BOTH("New values of another number are refused", "[assembly]") {
  const auto c = coo_case<int, int>(ctx, 2, 2, {{0, 0}, {1, 1}, {1, 1}}, std::vector<double>{1, 2, 3});
  AssembledMatrix<double, S> assembled(ctx, c.input);
  const auto two = upload(ctx, std::vector<double>{1, 2});
  CHECK(message_of<InputError>([&] { assembled.values(ctx, two.cspan()); }) == "expected 3 values, found 2");
}

TEST_BOTH("Assembly that does not fit into the memory that is left is refused before it begins",
          "[assembly][memory]") {
  for (const bool half : {false, true}) {
    const auto memory = std::make_shared<ObservedMemory<S>>();
    const Context<S> ctx(usual, memory);
    std::vector<Cell> cells;  // all different, rows from the last to the first
    for (std::int64_t i = 99; i >= 0; --i) {
      for (std::int64_t j = 0; j < (half ? i : 100); ++j) cells.push_back({i, j});
    }
    const Writing writing{0, false, half ? std::optional<Triangle>(Triangle::lower) : std::nullopt};
    const auto val = rounding_values<double>(static_cast<std::int64_t>(cells.size()), 5);
    const InputCase<double, S> c = coo_case<int, int>(ctx, 100, 100, cells, val, writing);
    CAPTURE(c.name);
    const std::uint64_t before = memory->live_bytes();
    REQUIRE(ctx.memory()->use().peak_bytes == before);
    AssembledMatrix<double, S>(ctx, c.input);
    const std::uint64_t peak = ctx.memory()->use().peak_bytes - before;

    const auto refused = [&]() -> std::uint64_t {
      try {
        AssembledMatrix<double, S>(ctx, c.input);
      } catch (const OutOfMemory& e) {
        CHECK(e.available_bytes() == memory->available);
        CHECK(memory->live_bytes() == before);
        return e.wanted_bytes();
      }
      return 0;
    };
    memory->available = 0;
    const std::uint64_t wanted = refused();
    CHECK(wanted <= peak);
    CHECK(wanted >= (half && S == Space::host ? 0.3 : 0.6) * static_cast<double>(peak));  // there, of one side alone
    memory->available = wanted - 1;
    CHECK(refused() == wanted);
    memory->available = wanted;
    CHECK(refused() == 0);
  }
}

TEST_BOTH("A matrix that is borrowed takes no memory to assemble", "[assembly][memory]") {
  const auto memory = std::make_shared<ObservedMemory<S>>();
  const Context<S> ctx(usual, memory);
  const InputCase<double, S> c =
      compressed_case<int, int>(ctx, false, 2, 2, {{0, 0}, {1, 1}}, std::vector<double>{1, 2});
  memory->available = 0;
  CHECK(AssembledMatrix<double, S>(ctx, c.input).borrowed());
}

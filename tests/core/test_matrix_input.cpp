// SPDX-License-Identifier: Apache-2.0
// What is wrong with a caller's matrix is named as the caller counts, before anything is written by it.
#include "tests/catch.hpp"
#include "tests/core/input_cases.hpp"

#include <newel/core/assembled_matrix.hpp>

namespace {

template <Space S>
using Input = MatrixInput<double, S>;

// Arrays of a form, in S, and what AssembledMatrix has to say of it.
template <Space S>
struct Refusal {
  Context<S> ctx;
  std::vector<std::shared_ptr<void>> held = {};

  template <class I>
  const Array<I, S>& put(const std::vector<I>& from) {
    auto array = std::make_shared<Array<I, S>>(upload(ctx, from));
    held.push_back(array);
    return *array;
  }
  Span<const double, S> ones(std::int64_t n) { return put(std::vector<double>(static_cast<std::size_t>(n), 1.0)); }

  std::string of(const Input<S>& input) {
    return message_of<InputError>([&] { AssembledMatrix<double, S>(ctx, input); });
  }
};

}  // namespace

TEST_BOTH("Shapes and lengths that cannot be are refused before an array is read", "[assembly]") {
  Refusal<S> refusal{make_context<S>()};
  const IndexSpan<S> three(static_cast<const int*>(nullptr), 3), four(static_cast<const int*>(nullptr), 4);
  const Span<const double, S> values(nullptr, 3);
  const auto refused = [&](const Input<S>& input) { return refusal.of(input); };
  CHECK(refused(Input<S>::coo(-1, 2, three, three, values)) == "a matrix cannot be -1 x 2");
  CHECK(contains(refused(Input<S>::coo(3000000000, 2, three, three, values)), "3000000000 x 2 is too large"));
  CHECK(contains(refused(Input<S>::bsr(1000000000, 1, 3, three, three, values)), "too large"));
  CHECK(contains(refused(Input<S>::bsr(2, 2, 0, three, three, values)), "a block must have at least 1 row, not 0"));
  CHECK(refused(Input<S>::coo(2, 2, three, three, values).index_base(2)) ==
        "indices must count from 0 or from 1, not from 2");
  CHECK(contains(refused(Input<S>::coo(2, 3, three, three, values).stored_half(Triangle::lower)), "is not square"));
  CHECK(refused(Input<S>::coo(2, 2, three, four, values)) ==
        "there are 3 row indices, 4 column indices and 3 values");
  CHECK(refused(Input<S>::csr(3, 3, three, three, values)) == "row_ptr has 3 entries, expected rows + 1 = 4");
  CHECK(refused(Input<S>::csr(3, 3, four, four, values)) == "there are 4 column indices and 3 values");
  CHECK(refused(Input<S>::csc(3, 4, four, three, values)) == "col_ptr has 4 entries, expected columns + 1 = 5");
  CHECK(refused(Input<S>::csc(4, 3, four, four, values)) == "there are 4 row indices and 3 values");
  CHECK(contains(refused(Input<S>::bsr(1, 1, 2, three, three, values)), "expected block rows + 1 = 2"));
  CHECK(refused(Input<S>::bsr(2, 2, 2, three, three, values)) ==
        "there are 3 column indices of 2 x 2 blocks and 3 values");
}

TEST_BOTH("Pointers that begin, end or descend wrongly are named", "[assembly]") {
  Refusal<S> refusal{make_context<S>()};
  const IndexSpan<S> col = refusal.put(std::vector<int>{0, 1, 2});
  const auto with = [&](const std::vector<long long>& row_ptr, int base) {
    return refusal.of(Input<S>::csr(3, 3, refusal.put(row_ptr), col, refusal.ones(3)).index_base(base));
  };
  CHECK(contains(with({1, 2, 3, 4}, 0), "row_ptr runs from 1 to 4, expected 0 to 3, since indices count from 0"));
  CHECK(contains(with({0, 1, 2, 3}, 1), "row_ptr runs from 0 to 3, expected 1 to 4, since indices count from 1"));
  CHECK(contains(with({0, 1, 2, 4}, 0), "row_ptr runs from 0 to 4"));
  CHECK(with({0, 2, 1, 3}, 0) ==
        "row 1 (counted from 0): row_ptr decreases or exceeds the number of entries, from 2 to 1");
  CHECK(with({1, 3, 2, 4}, 1) ==
        "row 2 (counted from 1): row_ptr decreases or exceeds the number of entries, from 3 to 2");
  CHECK(contains(with({0, 1000000, 1000001, 3}, 0), "row 0 (counted from 0): row_ptr decreases or exceeds"));
  CHECK(contains(with({0, -1, 2, 3}, 0), "from 0 to -1"));

  const auto huge = refusal.of(
      Input<S>::csr(3, 3, refusal.put(std::vector<std::size_t>{0, std::numeric_limits<std::size_t>::max(), 2, 3}),
                    col, refusal.ones(3)));
  CHECK(contains(huge, "row 0 (counted from 0)"));
  CHECK(contains(huge, "from 0 to 18446744073709551615"));
  CHECK(
      contains(refusal.of(Input<S>::csc(3, 3, refusal.put(std::vector<unsigned>{0, 2, 1, 3}), col, refusal.ones(3))),
               "column 1 (counted from 0): col_ptr decreases"));
  CHECK(contains(refusal.of(Input<S>::bsr(3, 3, 2, refusal.put(std::vector<int>{0, 2, 1, 3}), col, refusal.ones(12))),
                 "block row 1 (counted from 0): row_ptr decreases"));
}

TEST_BOTH("The first row or column out of range is named as the caller counts", "[assembly]") {
  Refusal<S> refusal{make_context<S>()};
  using Wide = std::vector<long long>;
  const auto coo = [&](const Wide& row, const Wide& col, int base) {
    return refusal.of(Input<S>::coo(3, 4, refusal.put(row), refusal.put(col), refusal.ones(3)).index_base(base));
  };
  CHECK(coo({0, 3, 9}, {0, 1, 9}, 0) == "entry 1 at row 3, column 1 (counted from 0): the row is outside 0 .. 2");
  CHECK(coo({0, 2, 9}, {0, 4, 9}, 0) == "entry 1 at row 2, column 4 (counted from 0): the column is outside 0 .. 3");
  CHECK(coo({1, 2, 0}, {1, 4, 1}, 1) == "entry 3 at row 0, column 1 (counted from 1): the row is outside 1 .. 3");
  CHECK(coo({1, 3, 1}, {1, 4, 5}, 1) == "entry 3 at row 1, column 5 (counted from 1): the column is outside 1 .. 4");
  CHECK(contains(coo({0, 1, 2}, {0, 4294967297, 1}, 0), "entry 1 at row 1, column 4294967297"));
  CHECK(contains(coo({1, 1, 2}, {1, std::numeric_limits<long long>::min(), 1}, 1), "column -9223372036854775808"));

  const std::size_t large = std::numeric_limits<std::size_t>::max();
  const IndexSpan<S> row_ptr = refusal.put(std::vector<int>{0, 1, 1, 3});
  const auto csr = [&](const std::vector<std::size_t>& col) {
    return refusal.of(Input<S>::csr(3, 4, row_ptr, refusal.put(col), refusal.ones(3)));
  };
  CHECK(csr({0, 3, large}) ==
        "entry 2 at row 2, column 18446744073709551615 (counted from 0): the column is outside 0 .. 3");
  CHECK(contains(refusal.of(Input<S>::csr(3, 4, row_ptr, refusal.put(std::vector<int>{0, 4, 1}), refusal.ones(3))),
                 "entry 1 at row 2, column 4"));
  CHECK(contains(refusal.of(Input<S>::csc(4, 3, row_ptr, refusal.put(std::vector<int>{0, 4, 1}), refusal.ones(3))),
                 "entry 1 at row 4, column 2 (counted from 0): the row is outside 0 .. 3"));
  CHECK(
      contains(refusal.of(Input<S>::bsr(3, 4, 2, row_ptr, refusal.put(std::vector<int>{0, 4, 1}), refusal.ones(12))),
               "block 1 at row 2, column 4 (counted from 0): the column is outside 0 .. 3"));
  CHECK(contains(refusal.of(Input<S>::coo(2, 0, refusal.put(std::vector<int>{1}), refusal.put(std::vector<int>{0}),
                                          refusal.ones(1))),
                 "entry 0 at row 1, column 0 (counted from 0): the matrix has no columns"));
}

TEST_BOTH("An entry of the half that is not stored is named", "[assembly]") {
  Refusal<S> refusal{make_context<S>()};
  const IndexSpan<S> row = refusal.put(std::vector<int>{1, 2, 3}), col = refusal.put(std::vector<int>{1, 3, 1});
  const auto half = [&](Triangle which) {
    return Input<S>::coo(3, 3, row, col, refusal.ones(3)).index_base(1).stored_half(which);
  };
  CHECK(refusal.of(half(Triangle::lower)) ==
        "entry 2 at row 2, column 3 (counted from 1) is above the diagonal, but only the lower "
        "half of this symmetric matrix may be passed");
  CHECK(contains(refusal.of(half(Triangle::upper)),
                 "entry 3 at row 3, column 1 (counted from 1) is below the diagonal"));
  // The half is that of the matrix as it is stored.
  CHECK(contains(refusal.of(half(Triangle::lower).transposed()), "entry 2 at row 2, column 3"));
  const IndexSpan<S> pointers = refusal.put(std::vector<int>{0, 2, 3});
  const IndexSpan<S> across = refusal.put(std::vector<int>{0, 1, 1});
  CHECK(contains(refusal.of(Input<S>::csc(2, 2, pointers, across, refusal.ones(3)).stored_half(Triangle::upper)),
                 "entry 1 at row 1, column 0 (counted from 0) is below"));
  CHECK(refusal.of(Input<S>::csc(2, 2, pointers, across, refusal.ones(3)).stored_half(Triangle::lower)) == "");
  CHECK(contains(refusal.of(Input<S>::bsr(2, 2, 2, pointers, across, refusal.ones(12)).stored_half(Triangle::lower)),
                 "block 1 at row 0, column 1"));
  CHECK(refusal.of(Input<S>::bsr(2, 2, 2, pointers, across, refusal.ones(12)).stored_half(Triangle::upper)) == "");
}

TEST_BOTH("One wrong number among many is found, wherever it is", "[assembly]") {
  Refusal<S> refusal{make_context<S>()};
  Random random(8);
  const Index n = 500;
  for (int round = 0; round < 12; ++round) {
    const int base = round % 2;
    const auto cells = random_cells(n, n, 5000, 40 + round);
    std::vector<long> row, col;
    for (const auto& [i, j] : cells) {
      row.push_back(i + base);
      col.push_back(j + base);
    }
    const Index first = random.index(5000), second = first + random.index(5000 - first);
    (round % 3 == 0 ? row : col)[first] = n + base;
    (round % 3 == 1 ? row : col)[second] = base - 1;
    const auto message =
        refusal.of(Input<S>::coo(n, n, refusal.put(row), refusal.put(col), refusal.ones(5000)).index_base(base));
    CHECK(contains(message, "entry " + std::to_string(first + base) + " at "));
  }
}

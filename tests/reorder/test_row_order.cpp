// SPDX-License-Identifier: Apache-2.0
// Row orders and the permuted matrix: B_ij = A_{old(i) old(j)}, its value map, and the way back.
#include "tests/catch.hpp"

#include <newel/reorder/row_order.hpp>

namespace {

template <Space S>
std::string refusal(const Context<S>& ctx, const std::vector<Index>& old_of_new) {
  return message_of<InputError>([&] { make_row_order(ctx, old_of_new); });
}

}  // namespace

TEST_BOTH("An order and its inverse undo each other", "[reorder]") {
  for (const Index n : {0, 1, 2, 33, 5000}) {
    const std::vector<Index> old_of_new = random_order(n);
    const RowOrder<S> order = make_row_order(ctx, old_of_new, {0, n});
    CHECK(order.natural() == (n == 0));
    CHECK(order.part_begin == std::vector<Index>{0, n});
    CHECK(download(ctx, order.old_of_new) == old_of_new);
    const std::vector<Index> new_of_old = download(ctx, order.new_of_old);
    REQUIRE(new_of_old.size() == old_of_new.size());
    for (Index i = 0; i < n; ++i) CHECK(new_of_old[old_of_new[i]] == i);

    const std::vector<double> x = random_vector<double>(n);
    const auto at_x = upload(ctx, x);
    auto there = poisoned<double>(ctx, n), back = poisoned<double>(ctx, n);
    gather<double>(ctx, at_x.cspan(), order.old_of_new.cspan(), there.span());
    gather<double>(ctx, there.cspan(), order.new_of_old.cspan(), back.span());
    CHECK(same_bits(download(ctx, back), x));
    std::vector<double> expected;
    for (const Index old : old_of_new) expected.push_back(x[old]);
    CHECK(same_bits(download(ctx, there), expected));
  }
}

TEST_BOTH("A list that is no permutation is refused with the entry", "[reorder]") {
  CHECK(contains(refusal(ctx, {0, 1, 3}), "old_of_new[2] is 3, outside 0 .. 2"));
  CHECK(contains(refusal(ctx, {0, -1, 2}), "old_of_new[1] is -1, outside 0 .. 2"));
  CHECK(contains(refusal(ctx, {2, 0, 1, 0}), "row 0 twice, at 1 and 3"));
  CHECK(contains(refusal(ctx, {5}), "old_of_new[0] is 5"));
  CHECK(refusal(ctx, {2, 0, 1}) == "");
}

TEST_BOTH("Bounds of parts ascend from 0 to the number of rows, or are refused with the place", "[reorder]") {
  const std::vector<Index> natural{0, 1, 2, 3, 4, 5};
  const auto complaint = [&](const std::vector<Index>& part_begin) {
    return message_of<InputError>([&] { make_row_order(ctx, natural, part_begin); });
  };
  CHECK(complaint({}) == "");
  CHECK(complaint({0, 2, 2, 6}) == "");
  CHECK(contains(complaint({1, 6}), "expected 0 at 0, found 1"));
  CHECK(contains(complaint({0, 4, 3, 6}), "expected 4 or more at 2, found 3"));
  CHECK(contains(complaint({0, 5}), "expected 6 at 1, found 5"));
  CHECK(contains(complaint({0, 3, 7}), "expected 6 at 2, found 7"));
}

TEST_BOTH("A small permuted matrix can be checked by hand", "[reorder]") {
  // 1 2 .      old rows 2 0 1      5 . 4
  // . 3 .  --------------------->  . 1 2
  // . 4 5                          . . 3
  const auto a = upload_matrix<double>(ctx, from_rows(3, {{{0, 1}, {1, 2}}, {{1, 3}}, {{1, 4}, {2, 5}}}));
  const auto b = permute(ctx, a.narrow(), make_row_order(ctx, {2, 0, 1}));
  const HostCsr found = download_matrix(ctx, b.matrix);
  CHECK(found.row_ptr == std::vector<Offset>{0, 2, 4, 5});
  CHECK(found.col == std::vector<Index>{0, 2, 1, 2, 2});
  CHECK(found.val == std::vector<double>{5, 4, 1, 2, 3});
  CHECK(download(ctx, b.value_map.narrow) == std::vector<std::uint32_t>{4, 3, 0, 1, 2});
  CHECK(b.value_map.source_size == 5);
  const CsrView<double, S> view = b.view();
  CHECK(view.value_map == &b.value_map);
  CHECK(view.rows == 3);
}

TEST_BOTH("permute is P A P^T, whatever the width of the row pointers", "[reorder]") {
  for (const auto& [name, a] : awkward_square_matrices()) {
    INFO(name);
    const std::vector<Index> old_of_new = random_order(a.rows, 3);
    const RowOrder<S> order = make_row_order(ctx, old_of_new);
    const auto there = upload_matrix<float>(ctx, a);
    const HostCsr expected = renumbered(a, inverse_of(old_of_new));
    CHECK(same_matrix(download_matrix(ctx, permute(ctx, there.wide(), order).matrix), expected));
    CHECK(same_matrix(download_matrix(ctx, permute(ctx, there.narrow(), order).matrix), expected));
  }
}

TEST_BOTH("Permuting there and back gives the same matrix and the identity as its value map", "[reorder]") {
  for (const auto& [name, a] : awkward_square_matrices()) {
    INFO(name);
    const std::vector<Index> old_of_new = random_order(a.rows, 4);
    const RowOrder<S> there = make_row_order(ctx, old_of_new);
    const RowOrder<S> back = make_row_order(ctx, download(ctx, there.new_of_old));
    const auto matrix = upload_matrix<double>(ctx, a);
    const auto permuted = permute(ctx, matrix.wide(), there);
    const auto again = permute(ctx, permuted.view(), back);
    CHECK(same_matrix(download_matrix(ctx, again.matrix), a));
    std::vector<std::uint32_t> identity;
    for (Offset k = 0; k < a.nnz(); ++k) identity.push_back(static_cast<std::uint32_t>(k));
    CHECK(download(ctx, again.value_map.narrow) == identity);
  }
}

TEST_BOTH("Value maps compose: new values of the caller reach a matrix that was permuted twice", "[reorder]") {
  for (const auto& [name, a] : awkward_square_matrices()) {
    INFO(name);
    const std::vector<Index> first = random_order(a.rows, 5), second = random_order(a.rows, 6);
    const auto matrix = upload_matrix<double>(ctx, a);
    const auto once = permute(ctx, matrix.wide(), make_row_order(ctx, first));
    const auto twice = permute(ctx, once.view(), make_row_order(ctx, second));

    HostCsr fresh = a;
    fresh.val = random_vector<double>(a.nnz(), 7);
    const auto values = upload(ctx, fresh.val);
    auto gathered = poisoned<double>(ctx, a.nnz());
    gather<double>(ctx, values.cspan(), twice.value_map, gathered.span());
    const HostCsr expected = renumbered(renumbered(fresh, inverse_of(first)), inverse_of(second));
    CHECK(same_bits(download(ctx, gathered), expected.val));
    CHECK(same_bits(download_matrix(ctx, twice.matrix).val,
                    renumbered(renumbered(a, inverse_of(first)), inverse_of(second)).val));
  }
}

TEST_BOTH("Rows of any length are sorted: none, warps, several warps, blocks, a full row", "[reorder]") {
  const Index n = 2500;
  const Index lengths[] = {0, 1, 31, 32, 33, 64, 255, 256, 257, 511, 512, 513, 1000, n};
  MapRows rows(n);
  for (std::size_t r = 0; r < std::size(lengths); ++r) {
    const Index i = static_cast<Index>(r) * 173;
    for (Index k = 0; k < lengths[r]; ++k) rows[i][lengths[r] == n ? k : (i + 7 * k) % n] = i + 0.5 * k;
  }
  const HostCsr a = from_rows(n, rows);
  const auto there = upload_matrix<double>(ctx, a);
  const std::vector<Index> old_of_new = random_order(n, 8);
  const auto b = permute(ctx, there.narrow(), make_row_order(ctx, old_of_new));
  CHECK(same_matrix(download_matrix(ctx, b.matrix), renumbered(a, inverse_of(old_of_new))));
  const std::vector<std::uint32_t> source = download(ctx, b.value_map.narrow);
  const std::vector<double> values = download(ctx, b.matrix.val);
  REQUIRE(source.size() == values.size());
  for (std::size_t k = 0; k < source.size(); ++k) REQUIRE(values[k] == a.val[source[k]]);
}

TEST_BOTH("Thousands of rows are numbered as few are", "[reorder]") {
  const HostCsr a = tridiagonal_matrix(100003);
  const std::vector<Index> old_of_new = random_order(a.rows, 9);
  const auto there = upload_matrix<double>(ctx, a);
  const auto b = permute(ctx, there.wide(), make_row_order(ctx, old_of_new));
  CHECK(same_matrix(download_matrix(ctx, b.matrix), renumbered(a, inverse_of(old_of_new))));
}

TEST_BOTH("permute refuses rectangles and orders of another length", "[reorder]") {
  const auto wide = upload_matrix<double>(ctx, ragged_matrix(40, 50));
  const auto square = upload_matrix<double>(ctx, tridiagonal_matrix(40));
  const RowOrder<S> forty = make_row_order(ctx, random_order(40)), four = make_row_order(ctx, random_order(4));
  CHECK(contains(message_of<InputError>([&] { permute(ctx, wide.wide(), forty); }), "square"));
  const std::string message = message_of<InputError>([&] { permute(ctx, square.wide(), four); });
  CHECK(contains(message, "4 rows"));
  CHECK(contains(message, "40"));
}

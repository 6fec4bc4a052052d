// SPDX-License-Identifier: Apache-2.0
// The permuted pattern, element by element: row pointers, columns and sources, for rows of every length at which the
// device takes another way.
#include "reorder/permute_pattern.hpp"

#include "tests/catch.hpp"

namespace {

struct PlainPattern {
  std::vector<Offset> row_ptr = {0};
  std::vector<Index> col;
  std::vector<Offset> source;

  bool operator==(const PlainPattern& other) const {
    return row_ptr == other.row_ptr && col == other.col && source == other.source;
  }
};

// By sorting pairs.
PlainPattern oracle(const HostCsr& a, const std::vector<Index>& old_of_new) {
  std::vector<Index> new_of_old(old_of_new.size());
  for (std::size_t i = 0; i < old_of_new.size(); ++i) new_of_old[old_of_new[i]] = static_cast<Index>(i);
  PlainPattern p;
  for (const Index old : old_of_new) {
    std::vector<std::pair<Index, Offset>> row;
    for (Offset k = a.row_ptr[old]; k < a.row_ptr[old + 1]; ++k) row.emplace_back(new_of_old[a.col[k]], k);
    std::sort(row.begin(), row.end());
    for (const auto& [column, k] : row) {
      p.col.push_back(column);
      p.source.push_back(k);
    }
    p.row_ptr.push_back(static_cast<Offset>(p.col.size()));
  }
  return p;
}

// Row r has lengths[r % lengths.size()] entries, in columns that wrap around.
HostCsr matrix_with_rows(Index n, const std::vector<Index>& lengths) {
  HostCsr a;
  a.rows = a.cols = n;
  a.row_ptr = {0};
  for (Index r = 0; r < n; ++r) {
    const Index length = std::min(n, lengths[static_cast<std::size_t>(r) % lengths.size()]);
    std::vector<Index> row;
    for (Index k = 0; k < length; ++k) row.push_back(static_cast<Index>((Offset{r} * 37 + k) % n));
    std::sort(row.begin(), row.end());
    a.col.insert(a.col.end(), row.begin(), row.end());
    a.row_ptr.push_back(static_cast<Offset>(a.col.size()));
  }
  a.val.assign(a.col.size(), 1);
  return a;
}

// Only the rows from `first` on, `apart` rows from each other, are long.
HostCsr matrix_with_long_rows(Index n, Index short_row, Index first, Index apart, const std::vector<Index>& lengths) {
  std::vector<Index> all(static_cast<std::size_t>(n), short_row);
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    all[static_cast<std::size_t>(first) + k * static_cast<std::size_t>(apart)] = lengths[k];
  }
  return matrix_with_rows(n, all);
}

template <Space S>
void check_permuted(const Context<S>& ctx, const HostCsr& a, std::uint64_t seed) {
  const std::vector<Index> old_of_new = random_order(a.rows, seed);
  std::vector<Index> new_of_old(old_of_new.size());
  for (std::size_t i = 0; i < old_of_new.size(); ++i) new_of_old[old_of_new[i]] = static_cast<Index>(i);
  const auto there = upload_matrix<float>(ctx, a);
  const auto old_there = upload(ctx, old_of_new), new_there = upload(ctx, new_of_old);
  const PlainPattern expected = oracle(a, old_of_new);
  for (const auto& view : {there.wide(), there.narrow()}) {
    const auto p = detail::permute_pattern(ctx, Pattern<S>(view), old_there.cspan(), new_there.cspan());
    const PlainPattern found = {download(ctx, p.row_ptr), download(ctx, p.col), download(ctx, p.source)};
    CHECK((found == expected));
  }
}

}  // namespace

TEST_BOTH("Permuted patterns of few rows: none, one, empty ones, a full square", "[reorder]") {
  check_permuted(ctx, matrix_with_rows(0, {1}), 1);
  check_permuted(ctx, matrix_with_rows(1, {0}), 2);
  check_permuted(ctx, matrix_with_rows(1, {1}), 3);
  check_permuted(ctx, matrix_with_rows(700, {0}), 4);
  check_permuted(ctx, matrix_with_rows(33, {33}), 5);
  check_permuted(ctx, matrix_with_rows(300, {300}), 6);
  check_permuted(ctx, matrix_with_rows(31, {0, 31, 2}), 7);
}

TEST_BOTH("Permuted patterns of short rows, of 8 and of 32 lanes and longer than these can take", "[reorder]") {
  for (const Index n : {255, 256, 257, 2047, 2048, 2049, 5000})
    check_permuted(ctx, matrix_with_rows(n, {7, 0, 3}), 8);
  check_permuted(ctx, matrix_with_long_rows(2100, 5, 40, 100, {7, 8, 9, 31, 32, 33, 63, 64, 65, 66, 255, 256, 257}),
                 9);
  check_permuted(ctx, matrix_with_long_rows(1100, 20, 3, 64, {31, 32, 33, 0, 255, 256, 257, 511, 512, 513, 1024}),
                 10);
}

TEST_BOTH("Permuted patterns of rows that a block and a bitmap take", "[reorder]") {
  // Rows of 2048 are the longest for a block; 5000 - 1, 5000 and the full row end in each kind of word of a bitmap.
  check_permuted(ctx, matrix_with_long_rows(5024, 2, 0, 300, {1023, 1024, 2047, 2048, 2049, 4999, 5000, 5023, 5024}),
                 11);
  check_permuted(ctx, matrix_with_long_rows(4097, 18, 4096, 1, {4097}), 12);
  // More long rows than bitmaps.
  check_permuted(ctx, matrix_with_long_rows(2112, 0, 7, 60, std::vector<Index>(30, 2100)), 13);
}

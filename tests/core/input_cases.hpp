// SPDX-License-Identifier: Apache-2.0
/// Matrices in every form of MatrixInput, with the places that each value belongs to and a sum by hand as the oracle.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <newel/core/matrix_input.hpp>

#include "tests/support.hpp"

namespace newel::testing {

using Cell = std::pair<std::int64_t, std::int64_t>;  ///< row, column

/// An input with what it should mean.
template <class T, Space S>
struct InputCase {
  std::string name;
  std::shared_ptr<void> arrays;  ///< what `input` views
  MatrixInput<T, S> input;
  Index rows, cols;
  std::vector<std::vector<Cell>> cells;  ///< of each value, in the caller's order: where it is added

  std::int64_t count() const { return static_cast<std::int64_t>(cells.size()); }

  /// The matrix for these values, in the caller's order: sums in T, in that order.
  HostCsr expected(const std::vector<T>& values) const {
    MapRows sums(static_cast<std::size_t>(rows));
    for (std::size_t p = 0; p < cells.size(); ++p) {
      for (const auto& [i, j] : cells[p]) {
        const auto [at, fresh] = sums[static_cast<std::size_t>(i)].emplace(static_cast<Index>(j), values[p]);
        if (!fresh) at->second = static_cast<T>(static_cast<T>(at->second) + values[p]);
      }
    }
    return from_rows(cols, sums);
  }
};

/// How an input is written down.
struct Writing {
  int base = 0;
  bool transposed = false;
  std::optional<Triangle> half = {};
};

template <class T, Space S, class I, class J>
struct HeldArrays {
  Array<I, S> first;
  Array<J, S> second;
  Array<T, S> val;
};

inline std::string text_of(const Writing& w) {
  return "from " + std::to_string(w.base) + (w.transposed ? ", transposed" : "") +
         (!w.half                      ? ""
          : *w.half == Triangle::lower ? ", lower half"
                                       : ", upper half");
}

/// Values that sums round, the same ones in both precisions.
template <class T>
std::vector<T> rounding_values(std::int64_t n, std::uint64_t seed) {
  std::vector<T> values = random_vector<T>(n, seed);
  for (T& value : values) value = static_cast<T>(static_cast<float>(value / 3));
  return values;
}

template <class T, Space S>
void write_down(InputCase<T, S>& c, const Writing& w) {
  c.name += ", " + text_of(w);
  if (w.base == 1) c.input = c.input.index_base(1);
  if (w.half) c.input = c.input.stored_half(*w.half);
  if (!w.transposed) return;
  c.input = c.input.transposed();
  std::swap(c.rows, c.cols);
  for (auto& cells : c.cells) {
    for (auto& [i, j] : cells) std::swap(i, j);
  }
}

template <class I>
std::vector<I> numbers(const std::vector<std::int64_t>& from, int base) {
  std::vector<I> result;
  for (const std::int64_t i : from) result.push_back(static_cast<I>(i + base));
  return result;
}

/// The cells and, of a half, their mirror images.
inline std::vector<std::vector<Cell>> meant(const std::vector<Cell>& cells, const Writing& w) {
  std::vector<std::vector<Cell>> all;
  for (const auto& [i, j] : cells) {
    all.push_back({{i, j}});
    if (w.half && i != j) all.back().push_back({j, i});
  }
  return all;
}

template <class I, class J, class T, Space S>
InputCase<T, S> coo_case(const Context<S>& ctx, Index rows, Index cols, const std::vector<Cell>& cells,
                         const std::vector<T>& val, const Writing& w = {}) {
  std::vector<std::int64_t> row, col;
  for (const auto& [i, j] : cells) {
    row.push_back(i);
    col.push_back(j);
  }
  auto held = std::make_shared<HeldArrays<T, S, I, J>>(HeldArrays<T, S, I, J>{
      upload(ctx, numbers<I>(row, w.base)), upload(ctx, numbers<J>(col, w.base)), upload(ctx, val)});
  InputCase<T, S> c{"COO", held, MatrixInput<T, S>::coo(rows, cols, held->first, held->second, held->val),
                    rows,  cols, meant(cells, w)};
  write_down(c, w);
  return c;
}

/// The order that brings cells together by row, or by column, and else leaves them as they come.
inline std::vector<std::size_t> order_by_line(const std::vector<Cell>& cells, bool by_columns) {
  const auto line = [&](std::size_t k) { return by_columns ? cells[k].second : cells[k].first; };
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t k, std::size_t l) { return line(k) < line(l); });
  return order;
}

/// Items of `each` numbers in another order.
template <class T>
std::vector<T> in_order(const std::vector<T>& items, const std::vector<std::size_t>& order, std::size_t each = 1) {
  std::vector<T> result;
  for (const std::size_t k : order)
    result.insert(result.end(), items.begin() + k * each, items.begin() + (k + 1) * each);
  return result;
}

/// Compressed rows, or columns; values go with their cells.
template <class I, class J, class T, Space S>
InputCase<T, S> compressed_case(const Context<S>& ctx, bool by_columns, Index rows, Index cols,
                                std::vector<Cell> cells, const std::vector<T>& val, const Writing& w = {}) {
  const auto line = [&](const Cell& cell) { return by_columns ? cell.second : cell.first; };
  const std::vector<std::size_t> order = order_by_line(cells, by_columns);
  cells = in_order(cells, order);
  std::vector<std::int64_t> pointers(static_cast<std::size_t>(by_columns ? cols : rows) + 1, 0), indices;
  for (const Cell& cell : cells) {
    ++pointers[static_cast<std::size_t>(line(cell)) + 1];
    indices.push_back(by_columns ? cell.first : cell.second);
  }
  std::partial_sum(pointers.begin(), pointers.end(), pointers.begin());
  auto held = std::make_shared<HeldArrays<T, S, I, J>>(
      HeldArrays<T, S, I, J>{upload(ctx, numbers<I>(pointers, w.base)), upload(ctx, numbers<J>(indices, w.base)),
                             upload(ctx, in_order(val, order))});
  const auto make = by_columns ? MatrixInput<T, S>::csc : MatrixInput<T, S>::csr;
  InputCase<T, S> c{by_columns ? "CSC" : "CSR",
                    held,
                    make(rows, cols, held->first, held->second, held->val),
                    rows,
                    cols,
                    meant(cells, w)};
  write_down(c, w);
  return c;
}

/// Blocks of b x b values at the cells, which count blocks.
template <class I, class J, class T, Space S>
InputCase<T, S> bsr_case(const Context<S>& ctx, Index rows, Index cols, int b, BlockOrder order,
                         const std::vector<Cell>& blocks, const std::vector<T>& val, const Writing& w = {}) {
  const std::vector<T> one_each(blocks.size());
  const InputCase<T, S> by_block = compressed_case<I, J, T>(ctx, false, rows, cols, blocks, one_each, {w.base});
  const auto held = std::static_pointer_cast<HeldArrays<T, S, I, J>>(by_block.arrays);
  held->val = upload(ctx, in_order(val, order_by_line(blocks, false), static_cast<std::size_t>(b * b)));
  InputCase<T, S> c{"BSR of " + std::to_string(b) + (order == BlockOrder::by_rows ? " by rows" : " by columns"),
                    held,
                    MatrixInput<T, S>::bsr(rows, cols, b, held->first, held->second, held->val, order),
                    static_cast<Index>(rows * b),
                    static_cast<Index>(cols * b),
                    {}};
  for (const auto& block : by_block.cells) {
    const auto [i, j] = block[0];
    for (int q = 0; q < b * b; ++q) {
      const int slow = q / b, fast = q % b;
      const Cell cell =
          order == BlockOrder::by_rows ? Cell{i * b + slow, j * b + fast} : Cell{i * b + fast, j * b + slow};
      c.cells.push_back({cell});
      if (w.half && i != j) c.cells.back().push_back({cell.second, cell.first});
    }
  }
  write_down(c, w);
  return c;
}

/// `count` random cells, some of them several times; of a half those of its side.
inline std::vector<Cell> random_cells(Index rows, Index cols, std::int64_t count, std::uint64_t seed,
                                      std::optional<Triangle> half = {}) {
  Random random(seed);
  std::vector<Cell> cells;
  for (std::int64_t k = 0; k < count && rows > 0 && cols > 0; ++k) {
    Cell cell{random.index(rows), random.index(cols)};
    if (!cells.empty() && k % 5 == 4) cell = cells[static_cast<std::size_t>(random.index(static_cast<Index>(k)))];
    if (half == Triangle::lower && cell.second > cell.first) std::swap(cell.first, cell.second);
    if (half == Triangle::upper && cell.second < cell.first) std::swap(cell.first, cell.second);
    cells.push_back(cell);
  }
  return cells;
}

/// Every form, counted from 0 and 1, transposed and not, whole and half, with index types I and J.
template <class I, class J, class T, Space S>
void add_cases(const Context<S>& ctx, Index rows, Index cols, std::int64_t count, std::uint64_t seed,
               std::vector<InputCase<T, S>>& all) {
  std::vector<Writing> writings = {{0, false, {}}, {1, false, {}}, {0, true, {}}, {1, true, {}}};
  if (rows == cols) {
    for (const Triangle half : {Triangle::lower, Triangle::upper}) {
      writings.push_back({0, false, half});
      writings.push_back({1, true, half});
    }
  }
  for (const Writing& w : writings) {
    const auto cells = random_cells(rows, cols, count, ++seed, w.half);
    const auto val = rounding_values<T>(static_cast<std::int64_t>(cells.size()), seed);
    all.push_back(coo_case<I, J, T>(ctx, rows, cols, cells, val, w));
    all.push_back(compressed_case<I, J, T>(ctx, false, rows, cols, cells, val, w));
    all.push_back(compressed_case<I, J, T>(ctx, true, rows, cols, cells, val, w));
    for (const int b : {2, 3}) {
      const auto of_blocks = rounding_values<T>(static_cast<std::int64_t>(cells.size()) * b * b, seed + 100);
      const auto order = (w.base == 0) == (b == 2) ? BlockOrder::by_rows : BlockOrder::by_columns;
      all.push_back(bsr_case<I, J, T>(ctx, rows, cols, b, order, cells, of_blocks, w));
    }
  }
}

template <class T, Space S>
HostCsr download_view(const Context<S>& ctx, const CsrView<T, S>& a) {
  HostCsr result;
  result.rows = a.rows;
  result.cols = a.cols;
  with_row_ptr(a, [&](auto row_ptr) {
    const auto pointers = to_vector(ctx, row_ptr);
    result.row_ptr.assign(pointers.begin(), pointers.end());
  });
  result.col = to_vector(ctx, a.col);
  const std::vector<T> val = to_vector(ctx, a.val);
  result.val.assign(val.begin(), val.end());
  return result;
}

}  // namespace newel::testing

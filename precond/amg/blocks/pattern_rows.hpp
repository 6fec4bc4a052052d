// SPDX-License-Identifier: Apache-2.0
/// pattern_by_rows, blocks_by_rows: a sparse pattern, or a matrix, whose rows are found one by one, in parallel.
/// Internal.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <newel/core/parallel.hpp>
#include "precond/amg/blocks/block_csr.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {

/// append(i, member, columns, values) adds the columns of row i, ascending, and the values of its blocks at the end;
/// `member` is the thread's number. Rows are found once, in chunks of `at_once`, and copied to their places.
template <class Append>
std::pair<HostBlockPattern, Array<double, Space::host>> blocks_by_rows(const HostContext& ctx, Index rows, Index cols,
                                                                       Index at_once, Append&& append) {
  struct Found {
    std::vector<Index> columns;
    std::vector<double> values;
  };
  HostBlockPattern p;
  p.rows = rows;
  p.cols = cols;
  p.row_ptr = Array<Offset, Space::host>(ctx, Offset{rows} + 1);
  p.row_ptr[rows] = 0;
  std::vector<Found> found(static_cast<std::size_t>((rows + at_once - 1) / at_once));
  const auto chunks = static_cast<Index>(found.size());
  parallel_tasks(ctx, chunks, [&](Index chunk, int member) {
    Found own;  // other threads are in the chunks beside this one
    auto& [columns, values] = own;
    const Index end = std::min(rows, (chunk + 1) * at_once);
    for (Index i = chunk * at_once; i < end; ++i) {
      const std::size_t before = columns.size();
      append(i, member, columns, values);
      p.row_ptr[i] = static_cast<Offset>(columns.size() - before);
    }
    found[static_cast<std::size_t>(chunk)] = std::move(own);
  });
  exclusive_sum(ctx, p.row_ptr);
  std::vector<std::size_t> first_value(found.size() + 1, 0);
  for (std::size_t chunk = 0; chunk < found.size(); ++chunk) {
    first_value[chunk + 1] = first_value[chunk] + found[chunk].values.size();
  }
  p.col = Array<Index, Space::host>(ctx, p.row_ptr[rows]);
  Array<double, Space::host> val(ctx, static_cast<std::int64_t>(first_value.back()));
  parallel_tasks(ctx, chunks, [&](Index chunk) {
    const auto& [columns, values] = found[static_cast<std::size_t>(chunk)];
    std::copy(columns.begin(), columns.end(), p.col.data() + p.row_ptr[chunk * at_once]);
    std::copy(values.begin(), values.end(), val.data() + first_value[static_cast<std::size_t>(chunk)]);
  });
  return {std::move(p), std::move(val)};
}

/// The pattern alone: append(i, member, columns).
template <class Append>
HostBlockPattern pattern_by_rows(const HostContext& ctx, Index rows, Index cols, Append&& append) {
  constexpr Index at_once = 256;
  return blocks_by_rows(ctx, rows, cols, at_once,
                        [&](Index i, int member, std::vector<Index>& columns, auto&) { append(i, member, columns); })
      .first;
}

}  // namespace newel::detail

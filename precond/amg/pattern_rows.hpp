// SPDX-License-Identifier: Apache-2.0
/// pattern_by_rows: a sparse pattern whose rows are found one by one, in parallel. Internal.
#pragma once

#include <algorithm>
#include <vector>

#include <purlin/core/parallel.hpp>
#include <purlin/precond/amg/block_csr.hpp>
#include <purlin/reorder/exclusive_sum.hpp>

namespace purlin::detail {

/// append(i, member, columns) adds the columns of row i, ascending, at the end; `member` is the thread's number. Rows
/// are found once, in chunks, and copied to their places.
template <class Append>
HostBlockPattern pattern_by_rows(const HostContext& ctx, Index rows, Index cols, Append&& append) {
  constexpr Index at_once = 256;
  HostBlockPattern p;
  p.rows = rows;
  p.cols = cols;
  p.row_ptr = Array<Offset, Space::host>(ctx, Offset{rows} + 1);
  p.row_ptr[rows] = 0;
  std::vector<std::vector<Index>> found(static_cast<std::size_t>(rows / at_once + 1));
  const auto chunks = static_cast<Index>(found.size());
  parallel_tasks(ctx, chunks, [&](Index chunk, int member) {
    std::vector<Index>& columns = found[static_cast<std::size_t>(chunk)];
    const Index begin = chunk * at_once, length = std::min(at_once, rows - begin);
    for (Index i = begin; i < begin + length; ++i) {
      const std::size_t before = columns.size();
      append(i, member, columns);
      p.row_ptr[i] = static_cast<Offset>(columns.size() - before);
    }
  });
  exclusive_sum(ctx, p.row_ptr);
  p.col = Array<Index, Space::host>(ctx, p.row_ptr[rows]);
  parallel_tasks(ctx, chunks, [&](Index chunk) {
    const std::vector<Index>& columns = found[static_cast<std::size_t>(chunk)];
    std::copy(columns.begin(), columns.end(), p.col.data() + p.row_ptr[chunk * at_once]);
  });
  return p;
}

}  // namespace purlin::detail

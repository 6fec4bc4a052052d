// SPDX-License-Identifier: Apache-2.0
// Splitting a saddle point into its blocks.
#include "precond/saddle/saddle_blocks.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/parallel.hpp>

namespace newel::detail {
namespace {

using HostContext = Context<Space::host>;

// Of each row of `a`: its place among the rows of one kind, or -1.
std::vector<Index> places(Index all, const std::vector<Index>& users, const std::vector<Index>& new_of_old) {
  std::vector<Index> place(static_cast<std::size_t>(all), -1);
  for (std::size_t i = 0; i < users.size(); ++i) {
    place[new_of_old.empty() ? users[i] : new_of_old[users[i]]] = static_cast<Index>(i);
  }
  return place;
}

// The entries of `rows` in the columns that have a place.
SaddlePattern block_of(const HostContext& ctx, const Pattern<Space::host>& a, const std::vector<Index>& rows,
                       const std::vector<Index>& new_of_old, const std::vector<Index>& place, std::size_t cols) {
  SaddlePattern block;
  block.rows = static_cast<Index>(rows.size());
  block.cols = static_cast<Index>(cols);
  block.row_ptr = Array<Offset, Space::host>(ctx, Offset{block.rows} + 1);
  const auto row_in_a = [&](Index i) { return new_of_old.empty() ? rows[i] : new_of_old[rows[i]]; };
  block.row_ptr[0] = 0;
  parallel_for(ctx, block.rows, [&](Index i) {
    Offset count = 0;
    for (Offset k = a.row_begin(row_in_a(i)); k < a.row_begin(row_in_a(i) + 1); ++k) count += place[a.col[k]] >= 0;
    block.row_ptr[i + 1] = count;
  });
  for (Index i = 0; i < block.rows; ++i) block.row_ptr[i + 1] += block.row_ptr[i];
  block.col = Array<Index, Space::host>(ctx, block.row_ptr[block.rows]);
  block.source = Array<Offset, Space::host>(ctx, block.row_ptr[block.rows]);
  parallel_for(ctx, block.rows, [&](Index i) {
    std::vector<std::pair<Index, Offset>> entries;
    for (Offset k = a.row_begin(row_in_a(i)); k < a.row_begin(row_in_a(i) + 1); ++k) {
      if (place[a.col[k]] >= 0) entries.emplace_back(place[a.col[k]], k);
    }
    if (!new_of_old.empty()) std::sort(entries.begin(), entries.end());
    Offset at = block.row_ptr[i];
    for (const auto& [column, source] : entries) {
      block.col[at] = column;
      block.source[at++] = source;
    }
  });
  return block;
}

}  // namespace

SaddlePatterns split(const HostContext& ctx, const Pattern<Space::host>& a, const SaddleRows& rows,
                     const std::vector<Index>& new_of_old) {
  const std::vector<Index> primal = places(a.rows, rows.primal, new_of_old),
                           constraint = places(a.rows, rows.constraints, new_of_old);
  const auto block = [&](const std::vector<Index>& of, const std::vector<Index>& place, std::size_t cols) {
    return block_of(ctx, a, of, new_of_old, place, cols);
  };
  return {block(rows.primal, primal, rows.primal.size()), block(rows.primal, constraint, rows.constraints.size()),
          block(rows.constraints, primal, rows.primal.size()),
          block(rows.constraints, constraint, rows.constraints.size())};
}

}  // namespace newel::detail

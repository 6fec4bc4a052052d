// SPDX-License-Identifier: Apache-2.0
// Entries to CSR in two steps: a stable partition into blocks of rows that fit in a cache, then a counting sort
// within each block. Blocks depend on the matrix alone, so the result does not depend on the threads.
#include "io/matrix_market/entries_to_csr.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"

namespace newel::detail {
namespace {

using Symmetry = MatrixMarketHeader::Symmetry;
template <class T>
using HostArray = Array<T, Space::host>;

// Blocks of 2^shift rows.
struct RowBlocks {
  int shift = 0;
  std::int64_t count = 1;

  std::int64_t of(Index row) const { return row >> shift; }
  Index first_row(std::int64_t block) const { return static_cast<Index>(block << shift); }
};

// Blocks of about 32k entries (half a megabyte), at most 1024 of them: a partition writes to all of them at once.
RowBlocks choose_blocks(Index rows, Offset entries) {
  const std::int64_t wanted = std::clamp<std::int64_t>(entries / 32768, 1, 1024);
  RowBlocks blocks;
  while ((std::int64_t{rows} - 1) >> blocks.shift >= wanted) ++blocks.shift;
  blocks.count = ((std::int64_t{rows} - 1) >> blocks.shift) + 1;
  return blocks;
}

// Calls f(row, col, value) for each entry of the full matrix that the piece stands for, in order.
template <class F>
void for_each_stored(const Piece& piece, Symmetry symmetry, F&& f) {
  if (symmetry == Symmetry::general) {
    for (const Entry& e : piece.entries) f(e.row, e.col, e.value);
    return;
  }
  const bool skew = symmetry == Symmetry::skew_symmetric;
  for (const Entry& e : piece.entries) {
    f(e.row, e.col, e.value);
    if (e.row != e.col) f(e.col, e.row, skew ? -e.value : e.value);
  }
}

// Entries grouped by block of rows, in file order within each block.
struct RowPartition {
  RowBlocks blocks;
  std::vector<Offset> begin;  // blocks.count + 1
  HostArray<Index> row, col;
  HostArray<double> val;
};

RowPartition partition_by_rows(const Context<Space::host>& ctx, Index rows, Symmetry symmetry,
                               std::vector<Piece>* pieces) {
  RowPartition result;
  const auto piece_count = static_cast<std::int64_t>(pieces->size());
  Offset entries = 0;
  for (const Piece& piece : *pieces) entries += piece.count();
  result.blocks = choose_blocks(rows, symmetry == Symmetry::general ? entries : 2 * entries);
  const RowBlocks blocks = result.blocks;

  // next[piece][block]: how many entries, then where the next one goes.
  std::vector<Offset> next(static_cast<std::size_t>(piece_count * blocks.count), 0);
  parallel_tasks(ctx, piece_count, [&](std::int64_t p) {
    Offset* count = next.data() + p * blocks.count;
    for_each_stored((*pieces)[p], symmetry, [&](Index row, Index, double) { ++count[blocks.of(row)]; });
  });
  result.begin.reserve(blocks.count + 1);
  Offset total = 0;
  for (std::int64_t b = 0; b < blocks.count; ++b) {
    result.begin.push_back(total);
    for (std::int64_t p = 0; p < piece_count; ++p) {
      const Offset count = next[p * blocks.count + b];
      next[p * blocks.count + b] = total;
      total += count;
    }
  }
  result.begin.push_back(total);

  result.row = HostArray<Index>(ctx, total);
  result.col = HostArray<Index>(ctx, total);
  result.val = HostArray<double>(ctx, total);
  parallel_tasks(ctx, piece_count, [&](std::int64_t p) {
    Offset* place = next.data() + p * blocks.count;
    for_each_stored((*pieces)[p], symmetry, [&](Index row, Index col, double value) {
      const Offset k = place[blocks.of(row)]++;
      result.row[k] = row;
      result.col[k] = col;
      result.val[k] = value;
    });
    (*pieces)[p] = Piece();
  });
  return result;
}

// What one thread needs to sort blocks; grows to the largest block that it meets.
struct Scratch {
  std::vector<Offset> row_begin;
  std::vector<Index> col;
  std::vector<double> val;
  std::vector<std::pair<Index, Offset>> order;
};

// Sorts one row by column, keeping the order of equal columns.
void sort_row(Index* col, double* val, Offset length, Scratch* scratch) {
  constexpr Offset short_row = 32;
  if (length <= short_row) {
    for (Offset i = 1; i < length; ++i) {
      const Index c = col[i];
      const double v = val[i];
      Offset j = i;
      for (; j > 0 && col[j - 1] > c; --j) {
        col[j] = col[j - 1];
        val[j] = val[j - 1];
      }
      col[j] = c;
      val[j] = v;
    }
    return;
  }
  scratch->order.resize(length);
  for (Offset i = 0; i < length; ++i) scratch->order[i] = {col[i], i};
  std::sort(scratch->order.begin(), scratch->order.end());
  std::vector<double> values(val, val + length);
  for (Offset i = 0; i < length; ++i) {
    col[i] = scratch->order[i].first;
    val[i] = values[scratch->order[i].second];
  }
}

// Sums neighbours of equal column; returns how many entries remain, -1 where a sum overflows (`overflow` is its
// column).
Offset sum_equal(Index* col, double* val, Offset length, Index* overflow) {
  Offset kept = 0;
  for (Offset i = 0; i < length; ++i) {
    if (kept > 0 && col[kept - 1] == col[i]) {
      val[kept - 1] += val[i];
      if (!std::isfinite(val[kept - 1])) {
        *overflow = col[i];
        return -1;
      }
    } else {
      col[kept] = col[i];
      val[kept++] = val[i];
    }
  }
  return kept;
}

// Brings one block into row order, leaving the rows' beginnings in scratch->row_begin.
void order_by_row(RowPartition* a, std::int64_t block, Index block_rows, Scratch* scratch) {
  const Offset begin = a->begin[block];
  const Offset count = a->begin[block + 1] - begin;
  const Index first = a->blocks.first_row(block);
  const Index* row = a->row.data() + begin;
  Index* col = a->col.data() + begin;
  double* val = a->val.data() + begin;
  std::vector<Offset>& next = scratch->row_begin;
  next.assign(static_cast<std::size_t>(block_rows) + 1, 0);
  bool sorted = true;
  for (Offset k = 0; k < count; ++k) {
    ++next[row[k] - first + 1];
    sorted &= k == 0 || row[k - 1] <= row[k];
  }
  for (Index r = 0; r < block_rows; ++r) next[r + 1] += next[r];
  if (sorted) return;
  scratch->col.resize(count);
  scratch->val.resize(count);
  for (Offset k = 0; k < count; ++k) {
    const Offset to = next[row[k] - first]++;
    scratch->col[to] = col[k];
    scratch->val[to] = val[k];
  }
  std::copy(scratch->col.begin(), scratch->col.end(), col);
  std::copy(scratch->val.begin(), scratch->val.end(), val);
  // Each beginning has moved to the next row's.
  std::copy_backward(next.begin(), next.end() - 1, next.end());
  next[0] = 0;
}

struct Overflow {
  Index row = -1;
  Index col = -1;
};

// Sorts a block's rows in place, closing the gaps that sums leave, and writes each row's length to row_length.
// Returns how many entries the block keeps.
Offset sort_block(RowPartition* a, std::int64_t block, Index block_rows, Offset* row_length, Scratch* scratch,
                  Overflow* overflow) {
  order_by_row(a, block, block_rows, scratch);
  Index* col = a->col.data() + a->begin[block];
  double* val = a->val.data() + a->begin[block];
  Offset kept = 0;
  for (Index r = 0; r < block_rows; ++r) {
    const Offset begin = scratch->row_begin[r];
    Offset length = scratch->row_begin[r + 1] - begin;
    const Index* end = col + begin + length;
    if (std::adjacent_find(col + begin, col + begin + length, std::greater_equal<>()) != end) {
      sort_row(col + begin, val + begin, length, scratch);
      length = sum_equal(col + begin, val + begin, length, &overflow->col);
      if (length < 0) {
        overflow->row = a->blocks.first_row(block) + r;
        return kept;
      }
    }
    if (kept != begin) {
      std::copy(col + begin, col + begin + length, col + kept);
      std::copy(val + begin, val + begin + length, val + kept);
    }
    row_length[r] = length;
    kept += length;
  }
  return kept;
}

// Moves what the blocks kept together, into arrays of the right size.
void close_gaps(const Context<Space::host>& ctx, const std::vector<Offset>& kept, RowPartition* a) {
  std::vector<Offset> to(kept.size() + 1, 0);
  for (std::size_t b = 0; b < kept.size(); ++b) to[b + 1] = to[b] + kept[b];
  if (to.back() == a->col.size()) return;
  HostArray<Index> col(ctx, to.back());
  HostArray<double> val(ctx, to.back());
  parallel_tasks(ctx, a->blocks.count, [&](std::int64_t b) {
    std::copy_n(a->col.data() + a->begin[b], kept[b], col.data() + to[b]);
    std::copy_n(a->val.data() + a->begin[b], kept[b], val.data() + to[b]);
  });
  a->col = std::move(col);
  a->val = std::move(val);
}

}  // namespace

Csr<double, Space::host> entries_to_csr(const Context<Space::host>& ctx, Index rows, Index cols, Symmetry symmetry,
                                        std::vector<Piece> pieces, const std::string& name) {
  Csr<double, Space::host> a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr = HostArray<Offset>(ctx, Offset{rows} + 1);
  a.row_ptr[0] = 0;
  if (rows == 0) return a;
  RowPartition parts = partition_by_rows(ctx, rows, symmetry, &pieces);
  std::vector<Offset> kept(parts.blocks.count, 0);
  Overflow first_overflow;
  std::atomic<bool> exhausted{false};
  std::mutex overflow_found;
  PerThread<Scratch> scratch(ctx);
  parallel_tasks(ctx, parts.blocks.count, [&](std::int64_t b, int member) {
    const Index first = parts.blocks.first_row(b);
    const Index block_rows =
        static_cast<Index>(std::min<std::int64_t>(std::int64_t{1} << parts.blocks.shift, std::int64_t{rows} - first));
    Overflow overflow;
    try {
      kept[b] = sort_block(&parts, b, block_rows, a.row_ptr.data() + first + 1, &scratch.of(member), &overflow);
    } catch (const std::bad_alloc&) {
      exhausted = true;
    }
    if (overflow.row < 0) return;
    const std::lock_guard<std::mutex> lock(overflow_found);
    if (first_overflow.row < 0 || overflow.row < first_overflow.row) first_overflow = overflow;
  });
  if (exhausted) {
    throw OutOfMemory("host", "sorting the entries", parts.val.bytes(), ctx.memory()->available_bytes());
  }
  if (first_overflow.row >= 0) {
    throw InputError(name +
                     ": expected a sum that a double can hold, found overflow in the entries repeated at row " +
                     std::to_string(first_overflow.row + 1) + ", column " + std::to_string(first_overflow.col + 1));
  }
  close_gaps(ctx, kept, &parts);
  for (Index r = 0; r < rows; ++r) a.row_ptr[r + 1] += a.row_ptr[r];
  a.col = std::move(parts.col);
  a.val = std::move(parts.val);
  return a;
}

}  // namespace newel::detail

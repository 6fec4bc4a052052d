// SPDX-License-Identifier: Apache-2.0
// BCE on the host with k vectors at once: the shares, blocks and sums of a product with one, each slot read once.
#include <algorithm>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "spmv/bce/bce_columns.hpp"
#include "spmv/plan/slot_sum_columns_host.hpp"
#include "spmv/plan/slot_sum_host.hpp"

namespace newel::detail {
namespace {

// As many rows side by side as keep their sums in registers.
template <class T, int k>
constexpr Index rows_together = ColumnLanes<T, k>::parts > 1 ? 4 : host_lanes;

// y_i from the sums of row i, and what it adds to x.y.
template <int k, class T>
void finish_row(const ColumnProductArgs<T>& args, Index i, T* sum, ColumnDots<k>& dot) {
  const Offset at = Offset{i} * k;
  for (int c = 0; c < k; ++c) sum[c] = row_result(args, sum[c], at + c);
  std::copy_n(sum, k, args.y + at);
  if (args.xy != nullptr) dot.add_products(args.x + at, sum);
}

// `count` rows of a block of `rows` rows: val and col are those of the first one's first slot.
template <int k, class T>
void sum_rows(const T* val, const Index* col, Index width, Index rows, Index count, const T* x, T (*sum)[k]) {
  constexpr Index together = rows_together<T, k>;
  ColumnLanes<T, k> sums[together];
  if (count == together) {
    for (Index w = 0; w < width; ++w, val += rows, col += rows) {
      for (Index r = 0; r < together; ++r) sums[r].add_product(val[r], x + Offset{col[r]} * k);
    }
  } else {
    for (Index w = 0; w < width; ++w, val += rows, col += rows) {
      for (Index r = 0; r < count; ++r) sums[r].add_product(val[r], x + Offset{col[r]} * k);
    }
  }
  for (Index r = 0; r < count; ++r) sums[r].store(sum[r]);
}

template <int k, class T>
void blocks_product(const BceView<T>& a, const ColumnProductArgs<T>& args, Index first, Index last,
                    ColumnDots<k>& dot) {
  constexpr Index together = rows_together<T, k>;
  T sum[together][k];
  for (Index b = first; b < last; ++b) {
    const Index begin = a.block_row[b], rows = a.block_row[b + 1] - begin;
    for (Index r = 0; r < rows; r += together) {
      const Offset slot = a.block_slot[b] + r;
      const Index count = std::min(together, rows - r);
      sum_rows<k>(a.val + slot, a.col + slot, a.block_width[b], rows, count, args.x, sum);
      for (Index i = 0; i < count; ++i) finish_row<k>(args, a.row_no[begin + r + i], sum[i], dot);
    }
  }
}

// The work holds k sums for each piece.
template <int k, class T>
void pieces_product(const BceView<T>& a, const ColumnProductArgs<T>& args, Index first, Index last,
                    ColumnDots<k>& dot) {
  T sum[k];
  for (Index piece = first; piece < last; ++piece) {
    sum_run_columns<k, false>(false, a.piece_val, a.piece_col, a.piece_slot[piece], a.piece_slot[piece + 1], args.x,
                              sum);
    const Index i = a.piece_row[piece];
    if (i < 0)
      std::copy_n(sum, k, reinterpret_cast<T*>(args.work) + Offset{piece} * k);
    else
      finish_row<k>(args, i, sum, dot);
  }
}

template <int k, class T>
void join_rows(const BceView<T>& a, const ColumnProductArgs<T>& args, ColumnDots<k>& dot) {
  const T* const sums = reinterpret_cast<const T*>(args.work);
  for (Index j = 0; j < a.join.rows; ++j) {
    T sum[k] = {};
    for (Index piece = a.join.first[j]; piece < a.join.first[j + 1]; ++piece) {
      for (int c = 0; c < k; ++c) sum[c] += sums[Offset{piece} * k + c];
    }
    finish_row<k>(args, a.join.row[j], sum, dot);
  }
}

template <int k, class T>
void columns_product(const Context<Space::host>& ctx, const BceView<T>& a, const ColumnProductArgs<T>& args) {
  const auto block_work = [&](Index b) { return a.block_slot[b] + a.block_row[b]; };
  const auto piece_work = [&](Index piece) { return a.piece_slot[piece]; };
  const Offset work = block_work(a.blocks) + piece_work(a.pieces);
  const int shares = work < least_parallel_work ? 1 : a.shares;
  double dots[most_host_shares][k];
  parallel_tasks(
      ctx, shares,
      [&](int share) {
        with_wide_vectors([&] {
          ColumnDots<k> of_pieces, of_blocks;
          pieces_product<k>(a, args, cut_at(a.pieces, share, shares, piece_work),
                            cut_at(a.pieces, share + 1, shares, piece_work), of_pieces);
          blocks_product<k>(a, args, cut_at(a.blocks, share, shares, block_work),
                            cut_at(a.blocks, share + 1, shares, block_work), of_blocks);
          double first[k];
          of_pieces.store(first);
          of_blocks.store(dots[share]);
          for (int c = 0; c < k; ++c) dots[share][c] = first[c] + dots[share][c];
        });
      },
      threads_if(shares > 1));
  ColumnDots<k> joined;
  join_rows<k>(a, args, joined);
  if (args.xy == nullptr) return;
  joined.store(args.xy);
  for (int share = 0; share < shares; ++share) {
    for (int c = 0; c < k; ++c) args.xy[c] += dots[share][c];
  }
}

}  // namespace

template <class T>
void bce_columns_product(const Context<Space::host>& ctx, const BceView<T>& a, int columns,
                         const ColumnProductArgs<T>& args) {
  switch (columns) {
    case 8:
      return columns_product<8>(ctx, a, args);
    case 4:
      return columns_product<4>(ctx, a, args);
    default:
      return columns_product<2>(ctx, a, args);
  }
}

#define X(T) \
  template void bce_columns_product(const Context<Space::host>&, const BceView<T>&, int, const ColumnProductArgs<T>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail

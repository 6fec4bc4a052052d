// SPDX-License-Identifier: Apache-2.0
// BCE on the host: a block is a group of lanes; threads take equal shares of the blocks and of the long rows' pieces.
#include <algorithm>

#include <purlin/spmv/bce/bce.hpp>

namespace purlin::detail {
namespace {

constexpr Index lanes = 8;
// Slots and rows for which waking the threads pays.
constexpr Offset least_parallel = 32768;
// What an apply keeps on its stack, one part of x.y for each share.
constexpr int most_shares = 256;

// One row a lane, the sums in registers.
template <class T>
void sum_full_block(const T* val, const Index* col, Index width, const T* x, T* sum) {
  T s[lanes] = {};
  for (Index k = 0; k < width; ++k, val += lanes, col += lanes) {
    for (Index lane = 0; lane < lanes; ++lane) s[lane] += val[lane] * x[col[lane]];
  }
  std::copy_n(s, lanes, sum);
}

template <class T>
void sum_last_block(const T* val, const Index* col, Index width, Index rows, const T* x, T* sum) {
  std::fill_n(sum, rows, T(0));
  for (Index k = 0; k < width; ++k, val += rows, col += rows) {
    for (Index r = 0; r < rows; ++r) sum[r] += val[r] * x[col[r]];
  }
}

template <class T>
double blocks_product(const BceView<T>& a, const ProductArgs<T>& args, Index first, Index last) {
  double dot = 0;
  T sum[lanes];
  for (Index b = first; b < last; ++b) {
    const Index begin = a.block_row[b], rows = a.block_row[b + 1] - begin;
    const Offset slot = a.block_slot[b];
    if (rows == lanes)
      sum_full_block(a.val + slot, a.col + slot, a.block_width[b], args.x, sum);
    else
      sum_last_block(a.val + slot, a.col + slot, a.block_width[b], rows, args.x, sum);
    for (Index r = 0; r < rows; ++r) {
      const Index i = a.row_no[begin + r];
      args.y[i] = row_result(args, sum[r], i);
      if (args.xy != nullptr) dot += double(args.x[i]) * double(args.y[i]);
    }
  }
  return dot;
}

template <class T>
double pieces_product(const BceView<T>& a, const ProductArgs<T>& args, Index first, Index last) {
  double dot = 0;
  for (Index piece = first; piece < last; ++piece) {
    T s[4] = {};
    Offset k = a.piece_slot[piece];
    const Offset end = a.piece_slot[piece + 1];
    for (; k + 4 <= end; k += 4) {
      for (int lane = 0; lane < 4; ++lane) s[lane] += a.piece_val[k + lane] * args.x[a.piece_col[k + lane]];
    }
    for (; k < end; ++k) s[0] += a.piece_val[k] * args.x[a.piece_col[k]];
    const T sum = (s[0] + s[1]) + (s[2] + s[3]);
    const Index i = a.piece_row[piece];
    if (i < 0) {
      a.join.sums[piece] = sum;
      continue;
    }
    args.y[i] = row_result(args, sum, i);
    if (args.xy != nullptr) dot += double(args.x[i]) * double(args.y[i]);
  }
  return dot;
}

// The first of 0 .. count at which `work_before`, which ascends, reaches the given share of the whole.
template <class WorkBefore>
Index cut_at(Index count, int share, int shares, WorkBefore&& work_before) {
  if (share == shares) return count;
  const Offset wanted = work_before(count) / shares * share + work_before(count) % shares * share / shares;
  Index low = 0, high = count;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (work_before(middle) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace

template <class T>
void bce_product(const Context<Space::host>& ctx, const BceView<T>& a, const ProductArgs<T>& args) {
  const auto block_work = [&](Index b) { return a.block_slot[b] + a.block_row[b]; };
  const auto piece_work = [&](Index piece) { return a.piece_slot[piece]; };
  const Offset work = block_work(a.blocks) + piece_work(a.pieces);
  const int shares = work < least_parallel ? 1 : std::min(a.shares, most_shares);
  double dots[most_shares];
#pragma omp parallel for schedule(static, 1) num_threads(ctx.threads()) if (shares > 1)
  for (int share = 0; share < shares; ++share) {
    double dot = pieces_product(a, args, cut_at(a.pieces, share, shares, piece_work),
                                cut_at(a.pieces, share + 1, shares, piece_work));
    dot += blocks_product(a, args, cut_at(a.blocks, share, shares, block_work),
                          cut_at(a.blocks, share + 1, shares, block_work));
    dots[share] = dot;
  }
  double total = join_rows(a.join, args);
  for (int share = 0; share < shares; ++share) total += dots[share];
  if (args.xy != nullptr) *args.xy = total;
}

template void bce_product(const Context<Space::host>&, const BceView<double>&, const ProductArgs<double>&);
template void bce_product(const Context<Space::host>&, const BceView<float>&, const ProductArgs<float>&);

}  // namespace purlin::detail

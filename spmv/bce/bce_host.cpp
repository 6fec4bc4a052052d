// SPDX-License-Identifier: Apache-2.0
// BCE on the host: a block is a group of lanes; threads take equal shares of the blocks and of the long rows' pieces.
#include <algorithm>

#include <newel/core/parallel.hpp>
#include "spmv/bce/bce.hpp"
#include "spmv/bce/bce_walk.hpp"
#include "spmv/residual_host.hpp"
#include "spmv/plan/slot_sum_host.hpp"

namespace newel::detail {
namespace {

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
  T sum[host_lanes];
  for (Index b = first; b < last; ++b) {
    const Index begin = a.block_row[b], rows = a.block_row[b + 1] - begin;
    const Offset slot = a.block_slot[b];
    if (rows == host_lanes)
      sum_lanes(a.val + slot, a.col + slot, a.block_width[b], args.x, sum);
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
    const T sum = sum_run(a.piece_val, a.piece_col, a.piece_slot[piece], a.piece_slot[piece + 1], args.x);
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

}  // namespace

template <class T>
void bce_product(const Context<Space::host>& ctx, const BceView<T>& a, const ProductArgs<T>& args) {
  const auto block_work = [&](Index b) { return a.block_slot[b] + a.block_row[b]; };
  const auto piece_work = [&](Index piece) { return a.piece_slot[piece]; };
  const Offset work = block_work(a.blocks) + piece_work(a.pieces);
  const int shares = work < least_parallel_work ? 1 : a.shares;
  double dots[most_host_shares];
  parallel_tasks(
      ctx, shares,
      [&](int share) {
        with_wide_vectors([&] {
          dots[share] = pieces_product(a, args, cut_at(a.pieces, share, shares, piece_work),
                                       cut_at(a.pieces, share + 1, shares, piece_work));
          dots[share] += blocks_product(a, args, cut_at(a.blocks, share, shares, block_work),
                                        cut_at(a.blocks, share + 1, shares, block_work));
        });
      },
      threads_if(shares > 1));
  double total = join_rows(a.join, args);
  for (int share = 0; share < shares; ++share) total += dots[share];
  if (args.xy != nullptr) *args.xy = total;
}

template void bce_product(const Context<Space::host>&, const BceView<double>&, const ProductArgs<double>&);
template void bce_product(const Context<Space::host>&, const BceView<float>&, const ProductArgs<float>&);

template <class T>
ResidualSums bce_residual(const Context<Space::host>& ctx, const BceView<T>& a, const ResidualArgs<T>& args) {
  return residual_by(ctx, BceWalk<T>{a, a.whole_pieces}, args);
}

template ResidualSums bce_residual(const Context<Space::host>&, const BceView<double>&, const ResidualArgs<double>&);
template ResidualSums bce_residual(const Context<Space::host>&, const BceView<float>&, const ResidualArgs<float>&);

}  // namespace newel::detail

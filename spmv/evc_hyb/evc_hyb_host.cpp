// SPDX-License-Identifier: Apache-2.0
// EVC-HYB on the host: groups of lanes of the ELL parts, then rows of the CSR part, in equal shares.
#include <algorithm>

#include <newel/core/parallel.hpp>
#include "spmv/evc_hyb/evc_hyb.hpp"
#include "spmv/evc_hyb/evc_hyb_walk.hpp"
#include "spmv/residual_host.hpp"
#include "spmv/plan/slot_sum_host.hpp"

namespace newel::detail {
namespace {

// Writes the sum of the row at a place; returns its part of x.y.
template <class T>
inline double write_place(const EvcHybView<T>& a, const ProductArgs<T>& args, Index place, T sum) {
  const Index i = a.row_list == nullptr ? place : a.row_list[place];
  args.y[i] = row_result(args, sum, i);
  return args.xy == nullptr ? 0.0 : double(args.x[i]) * double(args.y[i]);
}

// The range of the ELL part that a group of lanes belongs to.
template <class T>
const EvcHybRange* range_of(const EvcHybView<T>& a, Index group) {
  const auto ends_behind = [](Index place, const EvcHybRange& range) { return place < range.first_place; };
  return std::upper_bound(a.range, a.range + a.ell_ranges, group * host_lanes, ends_behind) - 1;
}

// Slots and rows before a group of lanes.
template <class T>
Offset ell_work(const EvcHybView<T>& a, Index group) {
  const Index place = group * host_lanes;
  if (place == a.split) return a.csr_slot[0] + place;
  const EvcHybRange* range = range_of(a, group);
  return range->first_slot + Offset{place - range->first_place} * range->length + place;
}

template <class T>
double ell_product(const EvcHybView<T>& a, const ProductArgs<T>& args, Index first, Index last) {
  if (first == last) return 0;
  double dot = 0;
  T sum[host_lanes];
  const EvcHybRange* range = range_of(a, first);
  Offset slot = ell_work(a, first) - first * host_lanes;
  for (Index group = first; group < last; ++group, slot += Offset{range->length} * host_lanes) {
    while (group * host_lanes == (range + 1)->first_place) ++range;
    sum_lanes(a.val + slot, a.col + slot, range->length, args.x, sum);
    for (Index lane = 0; lane < host_lanes; ++lane) dot += write_place(a, args, group * host_lanes + lane, sum[lane]);
  }
  return dot;
}

template <class T>
double csr_product(const EvcHybView<T>& a, const ProductArgs<T>& args, Index first, Index last) {
  double dot = 0;
  for (Index row = first; row < last; ++row) {
    const T sum = sum_run(a.val, a.col, a.csr_slot[row], a.csr_slot[row + 1], args.x);
    dot += write_place(a, args, a.split + row, sum);
  }
  return dot;
}

}  // namespace

template <class T>
void evc_hyb_product(const Context<Space::host>& ctx, const EvcHybView<T>& a, const ProductArgs<T>& args) {
  const Index groups = a.split / host_lanes;
  const auto group_work = [&](Index group) { return ell_work(a, group); };
  const auto row_work = [&](Index row) { return a.csr_slot[row] - a.csr_slot[0] + row; };
  const auto piece_work = [&](Index piece) { return a.piece_slot[piece]; };
  const bool parallel = a.shares > 1 && a.csr_slot[a.csr_rows] + a.rows + piece_work(a.pieces) >= least_parallel_work;
  double dots[most_host_shares];
  parallel_tasks(
      ctx, a.shares,
      [&](int share) {
        with_wide_vectors([&] {
          const Index last_piece = cut_at(a.pieces, share + 1, a.shares, piece_work);
          for (Index piece = cut_at(a.pieces, share, a.shares, piece_work); piece < last_piece; ++piece) {
            a.join.sums[piece] =
                sum_run(a.piece_val, a.piece_col, a.piece_slot[piece], a.piece_slot[piece + 1], args.x);
          }
          dots[share] = ell_product(a, args, cut_at(groups, share, a.shares, group_work),
                                    cut_at(groups, share + 1, a.shares, group_work)) +
                        csr_product(a, args, cut_at(a.csr_rows, share, a.shares, row_work),
                                    cut_at(a.csr_rows, share + 1, a.shares, row_work));
        });
      },
      threads_if(parallel));
  double total = join_rows(a.join, args);
  for (int share = 0; share < a.shares; ++share) total += dots[share];
  if (args.xy != nullptr) *args.xy = total;
}

template void evc_hyb_product(const Context<Space::host>&, const EvcHybView<double>&, const ProductArgs<double>&);
template void evc_hyb_product(const Context<Space::host>&, const EvcHybView<float>&, const ProductArgs<float>&);

template <class T>
ResidualSums evc_hyb_residual(const Context<Space::host>& ctx, const EvcHybView<T>& a, const ResidualArgs<T>& args) {
  return residual_by(ctx, EvcHybWalk<T>{a, host_lanes}, args);
}

template ResidualSums evc_hyb_residual(const Context<Space::host>&, const EvcHybView<double>&,
                                       const ResidualArgs<double>&);
template ResidualSums evc_hyb_residual(const Context<Space::host>&, const EvcHybView<float>&,
                                       const ResidualArgs<float>&);

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// ELL-WARP on the host: a warp is eight lanes of a loop.
#include <algorithm>

#include <newel/core/parallel.hpp>
#include "spmv/ell_warp/ell_warp_product.hpp"
#include "spmv/ell_warp/ell_warp_walk.hpp"
#include "spmv/residual_host.hpp"
#include "spmv/plan/slot_sum_host.hpp"

namespace newel::detail {
namespace {

constexpr Index warp_lanes = ell_warp_lanes<Space::host>;
static_assert(warp_lanes == host_lanes, "a warp is a group of the host's lanes");

// Adds the 2^k neighbouring lanes of each row; row q's sum is then sum[q].
template <class T>
inline void reduce_lanes(int k, T (&sum)[warp_lanes]) {
  for (Index rows = warp_lanes / 2; k > 0; --k, rows /= 2) {
    for (Index q = 0; q < rows; ++q) sum[q] = sum[2 * q] + sum[2 * q + 1];
  }
}

template <class T>
inline T sum_chunk(const EllWarpView<T>& view, Offset warp, const T* x) {
  T sum[warp_lanes];
  const Offset begin = view.slot_begin[warp];
  sum_lanes(view.val + begin, view.col + begin, (view.slot_begin[warp + 1] - begin) / warp_lanes, x, sum);
  reduce_lanes(3, sum);
  return sum[0];
}

// Writes the rows of warps [begin, end) behind the shared ones; returns x.y over them.
template <bool prefetch, class T>
double product_of_warps(const EllWarpView<T>& view, const ProductArgs<T>& args, Offset begin, Offset end) {
  double dot = 0;
  T sum[warp_lanes];
  for (Offset warp = begin; warp < end; ++warp) {
    const Offset* const slot = view.slot_begin + view.shared_warps + warp;
    sum_lanes<prefetch>(view.val + slot[0], view.col + slot[0], (slot[1] - slot[0]) / warp_lanes, args.x, sum);
    const Index first = view.row_begin == nullptr ? static_cast<Index>(warp * warp_lanes) : view.row_begin[warp];
    const Index last =
        view.row_begin == nullptr ? std::min(view.count, first + warp_lanes) : view.row_begin[warp + 1];
    if (view.reductions != nullptr) reduce_lanes(view.reductions[warp], sum);
    for (Index p = first; p < last; ++p) {
      const Index i = view.row_at(p);
      args.y[i] = row_result(args, sum[p - first], i);
      if (args.xy != nullptr) dot += double(args.x[i]) * double(args.y[i]);
    }
  }
  return dot;
}

}  // namespace

// A thread takes a run of neighbouring warps. The chunks of shared rows come first; their sums are added in order of
// the chunks.
template <class T>
void ell_warp_product(const Context<Space::host>& ctx, const EllWarpView<T>& view, const ProductArgs<T>& args) {
  double dot[ell_warp_most_shares];
  const bool parallel =
      view.shares > 1 && view.slot_begin[view.shared_warps + view.warps] + view.count >= least_parallel_work;
  const auto shared_chunk = [&](Offset warp) {
    with_wide_vectors([&] { view.shared_sum[warp] = sum_chunk(view, warp, args.x); });
  };
  parallel_for(ctx, view.shared_warps, shared_chunk, parallel ? 1 : view.shared_warps);
  const auto run_of_warps = [&](int share) {
    with_wide_vectors([&] {
      dot[share] = view.prefetch ? product_of_warps<true>(view, args, view.cuts[share], view.cuts[share + 1])
                                 : product_of_warps<false>(view, args, view.cuts[share], view.cuts[share + 1]);
    });
  };
  parallel_tasks(ctx, view.shares, run_of_warps, threads_if(parallel));
  double total = 0;
  for (int share = 0; share < view.shares; ++share) total += dot[share];
  for (Index r = 0; r < view.shared_rows; ++r) {
    T sum = 0;
    for (Offset warp = view.shared_begin[r]; warp < view.shared_begin[r + 1]; ++warp) sum += view.shared_sum[warp];
    const Index i = view.shared_row[r];
    args.y[i] = row_result(args, sum, i);
    if (args.xy != nullptr) total += double(args.x[i]) * double(args.y[i]);
  }
  if (args.xy != nullptr) *args.xy = total;
}

template void ell_warp_product(const Context<Space::host>&, const EllWarpView<double>&, const ProductArgs<double>&);
template void ell_warp_product(const Context<Space::host>&, const EllWarpView<float>&, const ProductArgs<float>&);

template <class T>
ResidualSums ell_warp_residual(const Context<Space::host>& ctx, const EllWarpView<T>& a,
                               const ResidualArgs<T>& args) {
  return residual_by(ctx, EllWarpWalk<T>{a, warp_lanes}, args);
}

template ResidualSums ell_warp_residual(const Context<Space::host>&, const EllWarpView<double>&,
                                        const ResidualArgs<double>&);
template ResidualSums ell_warp_residual(const Context<Space::host>&, const EllWarpView<float>&,
                                        const ResidualArgs<float>&);

}  // namespace newel::detail

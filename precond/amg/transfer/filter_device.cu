// SPDX-License-Identifier: Apache-2.0
// Filtered matrices on the device: some lanes have a row of blocks.
#include "precond/amg/blocks/elements_device.cuh"
#include "precond/amg/transfer/prolongator.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

struct CountKept {
  PatternView a;
  const unsigned char* kept;
  Offset* counts;

  __device__ void operator()(const RowLanes& at) const {
    int count = 0;
    for (Offset k = a.begin(at.row) + at.lane; k < a.end(at.row); k += RowLanes::count) count += kept[k];
    count = at.sum(count);
    if (at.lane == 0) counts[at.row] = count;
  }
};

struct KeepColumns {
  PatternView a;
  const unsigned char* kept;
  const Offset* begin;
  Index* col;
  Offset* source;

  __device__ void operator()(const RowLanes& at) const {
    const Offset end = a.end(at.row);
    Offset to = begin[at.row];
    for (Offset first = a.begin(at.row); first < end; first += RowLanes::count) {
      const Offset k = first + at.lane;
      const bool stays = k < end && kept[k] != 0;
      const unsigned which = at.which(stays);
      if (stays) {
        col[to + at.before(which)] = a.col[k];
        source[to + at.before(which)] = k;
      }
      to += __popc(which);
    }
  }
};

// Adds weak blocks to the diagonal one, but for rows where too little would be left of an entry.
struct LumpWeak {
  BlockView a;
  const unsigned char* kept;
  const Offset* diagonal;  // in the filtered matrix
  double* val;

  __device__ double weak(const RowLanes& at, int e) const {
    double sum = 0;
    for (Offset k = a.pattern.begin(at.row) + at.lane; k < a.pattern.end(at.row); k += RowLanes::count) {
      if (!kept[k]) sum += a.block(k)[e];
    }
    return at.sum(sum);
  }
  __device__ void operator()(const RowLanes& at) const {
    if (diagonal[at.row] < 0) return;
    double* const own = val + diagonal[at.row] * (a.m * a.m);
    for (int r = 0; r < a.m; ++r) {
      const double value = own[r * a.m + r];
      if (!(fabs(value + weak(at, r * a.m + r)) >= least_lumped_share * fabs(value))) return;
    }
    for (int e = 0; e < a.m * a.m; ++e) {
      const double sum = weak(at, e);
      if (at.lane == 0) own[e] += sum;
    }
  }
};

}  // namespace

BlockCsr<Space::device> filter(const DeviceContext& ctx, const BlockCsr<Space::device>& a,
                               const DeviceArray<unsigned char>& kept) {
  const Index rows = a.pattern.rows;
  BlockCsr<Space::device> result;
  result.row_block = result.col_block = a.row_block;
  result.pattern.rows = rows;
  result.pattern.cols = a.pattern.cols;
  result.pattern.row_ptr = zeros<Offset>(ctx, Offset{rows} + 1);
  for_rows_by_lanes(ctx, rows, CountKept{a.pattern, kept.data(), result.pattern.row_ptr.data()});
  exclusive_sum(ctx, result.pattern.row_ptr);
  const Offset blocks = value_at(ctx, result.pattern.row_ptr, rows);
  result.pattern.col = DeviceArray<Index>(ctx, blocks);
  result.val = DeviceArray<double>(ctx, blocks * a.block_size());
  DeviceArray<Offset> source(ctx, blocks);
  for_rows_by_lanes(
      ctx, rows,
      KeepColumns{a.pattern, kept.data(), result.pattern.row_ptr.data(), result.pattern.col.data(), source.data()});
  for_elements(ctx, result.val.size(), TakenBlocks{a.val.data(), source.data(), a.block_size(), result.val.data()});
  const DeviceArray<Offset> diagonal = diagonal_places(ctx, result.pattern);
  for_rows_by_lanes(ctx, rows, LumpWeak{a, kept.data(), diagonal.data(), result.val.data()});
  return result;
}

}  // namespace newel::detail

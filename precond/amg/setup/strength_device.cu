// SPDX-License-Identifier: Apache-2.0
// Strength of connection on the device: some lanes have a row of blocks.
#include "precond/amg/blocks/elements_device.cuh"
#include "precond/amg/setup/strength.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

struct DiagonalNorm {
  BlockView a;
  const Offset* place;
  double* norm;

  __device__ void operator()(std::int64_t i) const { norm[i] = place[i] < 0 ? 0.0 : sqrt(a.squared_norm(place[i])); }
};

struct StrongBlocks {
  BlockView a;
  const double* diagonal;
  double bound;
  unsigned char *strong, *dominated;

  __device__ void operator()(const RowLanes& at) const {
    const Index i = at.row;
    double others = 0;
    for (Offset k = a.pattern.begin(i) + at.lane; k < a.pattern.end(i); k += RowLanes::count) {
      const Index j = a.pattern.col[k];
      const double square = a.squared_norm(k), scale = diagonal[i] * diagonal[j];
      const bool large = scale == 0 || reaches(square / scale, bound);
      strong[k] = j != i && square > 0 && large ? 1 : 0;
      if (j != i) others += sqrt(square);
    }
    others = at.sum(others);
    if (at.lane > 0) return;
    dominated[i] = rounded_to_16_bits(others) <= rounded_to_16_bits(dominated_share * diagonal[i]) ? 1 : 0;
  }
};

// What is strong in either direction is kept, and the diagonal. Counts the graph's edges of each row. Columns behind
// the rows are of other ranks: they are judged by the row alone and have no edges.
struct EitherDirection {
  PatternView a;
  const unsigned char* strong;
  const unsigned char* dominated;
  unsigned char *kept, *left_out;
  Offset* edges;
  unsigned* weak;

  __device__ void operator()(const RowLanes& at) const {
    const Index i = at.row;
    int count = 0, of_others = 0;
    bool all = true;
    for (Offset k = a.begin(i) + at.lane; k < a.end(i); k += RowLanes::count) {
      const Index j = a.col[k];
      const bool own = j < a.rows;
      const bool connected = j != i && (strong[k] != 0 || (own && strong[a.find(j, i)] != 0));
      kept[k] = connected || j == i ? 1 : 0;
      count += connected && own ? 1 : 0;
      of_others += connected && !own ? 1 : 0;
      all = all && kept[k] != 0;
    }
    count = at.sum(count);
    of_others = at.sum(of_others);
    if (!all) *weak = 1;
    if (at.lane > 0) return;
    edges[i] = count;
    left_out[i] = count + of_others == 0 && dominated[i] != 0 ? 1 : 0;
  }
};

struct GraphRows {
  PatternView a;
  const unsigned char* kept;
  const Offset* begin;
  Index* col;

  __device__ void operator()(const RowLanes& at) const {
    const Index i = at.row;
    const Offset end = a.end(i);
    Offset to = begin[i];
    for (Offset first = a.begin(i); first < end; first += RowLanes::count) {
      const Offset k = first + at.lane;
      const bool edge = k < end && kept[k] != 0 && a.col[k] != i && a.col[k] < a.rows;
      const unsigned edges = at.which(edge);
      if (edge) col[to + at.before(edges)] = a.col[k];
      to += __popc(edges);
    }
  }
};

}  // namespace

DeviceArray<double> diagonal_norms(const DeviceContext& ctx, const BlockCsr<Space::device>& a) {
  const DeviceArray<Offset> place = diagonal_places(ctx, a.pattern);
  DeviceArray<double> norms(ctx, a.pattern.rows);
  for_elements(ctx, a.pattern.rows, DiagonalNorm{a, place.data(), norms.data()});
  return norms;
}

Strength<Space::device> find_strength(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double theta) {
  return find_strength(ctx, a, theta, diagonal_norms(ctx, a));
}

Strength<Space::device> find_strength(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double theta,
                                      const DeviceArray<double>& diagonal) {
  const Index rows = a.pattern.rows;
  Strength<Space::device> result;
  DeviceArray<unsigned char> strong(ctx, a.pattern.blocks()), dominated(ctx, rows);
  for_rows_by_lanes(
      ctx, rows,
      StrongBlocks{a, diagonal.data(), rounded_to_16_bits(theta * theta), strong.data(), dominated.data()});
  result.kept = DeviceArray<unsigned char>(ctx, a.pattern.blocks());
  result.left_out = DeviceArray<unsigned char>(ctx, rows);
  result.graph.rows = result.graph.cols = rows;
  result.graph.row_ptr = zeros<Offset>(ctx, Offset{rows} + 1);
  DeviceArray<unsigned> weak = zeros<unsigned>(ctx, 1);
  for_rows_by_lanes(ctx, rows,
                    EitherDirection{a.pattern, strong.data(), dominated.data(), result.kept.data(),
                                    result.left_out.data(), result.graph.row_ptr.data(), weak.data()});
  exclusive_sum(ctx, result.graph.row_ptr);
  result.graph.col = DeviceArray<Index>(ctx, value_at(ctx, result.graph.row_ptr, rows));
  for_rows_by_lanes(ctx, rows,
                    GraphRows{a.pattern, result.kept.data(), result.graph.row_ptr.data(), result.graph.col.data()});
  result.all_kept = value_at(ctx, weak, 0) == 0;
  return result;
}

}  // namespace newel::detail

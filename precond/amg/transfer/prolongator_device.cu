// SPDX-License-Identifier: Apache-2.0
// Smoothed prolongators on the device: a thread has a value of P or, where P is narrowed, a row.
#include <algorithm>
#include <utility>

#include "core/memory/shared_memory_device.hpp"
#include "precond/amg/blocks/pattern_rows_device.cuh"
#include "precond/amg/transfer/prolongator.hpp"
#include "precond/amg/blocks/small_dense.hpp"

namespace newel::detail {
namespace {

// The aggregates of this rank that row i of A Q reaches.
struct ReachedAggregates {
  PatternView a;
  const Index* of_node;
  Index count;

  template <class F>
  __device__ void visit(Index i, int lane, int lanes, F&& f) const {
    if (of_node[i] < 0) return;
    if (lane == 0) f(of_node[i]);
    for (Offset k = a.begin(i) + lane; k < a.end(i); k += lanes) {
      const Index to = of_node[a.col[k]];
      if (to >= 0 && to < count) f(to);
    }
  }
};

// Q and what smooths it.
struct SmoothingView {
  BlockView a;
  const Offset* diagonal;
  double omega;
  const Index* of_node;
  int k;  // vectors
  const double *q, *r;

  // -omega / d of row `row` of node i, 0 where it has no diagonal.
  __device__ double weight(Index i, int row) const {
    if (diagonal[i] < 0) return 0;
    const double d = a.block(diagonal[i])[row * a.m + row];
    return d == 0 ? 0 : -omega / d;
  }
  // Row `row` of A_at Q_j, column c.
  __device__ double product(Offset at, int row, int c) const {
    const double* const left = a.block(at) + row * a.m;
    const double* const right = q + std::int64_t{a.pattern.col[at]} * a.m * k + c;
    double sum = 0;
    for (int l = 0; l < a.m; ++l) sum += left[l] * right[l * k];
    return sum;
  }
};

// A thread has one value of P on its pattern.
struct SmoothedValue {
  SmoothingView s;
  PatternView p;
  const Index* row_of;
  double* val;

  __device__ void operator()(std::int64_t t) const {
    const int size = s.a.m * s.k;
    const Offset place = t / size;
    const auto e = static_cast<int>(t - place * size);
    const int row = e / s.k, c = e % s.k;
    const Index i = row_of[place], aggregate = p.col[place];
    double sum = 0;
    for (Offset at = s.a.pattern.begin(i); at < s.a.pattern.end(i); ++at) {
      if (s.of_node[s.a.pattern.col[at]] == aggregate) sum += s.product(at, row, c);
    }
    const double own = s.of_node[i] == aggregate ? s.q[(std::int64_t{i} * s.a.m + row) * s.k + c] : 0.0;
    val[t] = own + s.weight(i, row) * sum;
  }
};

// The lanes of a row of P make up for what its pattern lacks: see SmoothedRow of the host. What they share is in
// shared memory.
struct CompensatedRow {
  SmoothingView s;
  PatternView p;
  double* val;

  // Values that a row needs.
  static constexpr std::size_t shared_values(std::size_t m, std::size_t k) { return 3 * k * k + 2 * m * k; }

  __device__ const double* coarse(Index aggregate) const { return s.r + std::int64_t{aggregate} * s.k * s.k; }
  __device__ bool is_lost(Index i, Offset block) const {
    const Index to = s.of_node[s.a.pattern.col[block]];
    return to >= 0 && p.find(i, to) < 0;
  }
  // f(block) for those of row i that P lacks, in order, in all lanes.
  template <class F>
  __device__ void for_lost(const RowLanes& at, F&& f) const {
    const Offset end = s.a.pattern.end(at.row);
    for (Offset first = s.a.pattern.begin(at.row); first < end; first += RowLanes::count) {
      const Offset own = first + at.lane;
      for (unsigned lost = at.which(own < end && is_lost(at.row, own)); lost != 0; lost &= lost - 1) {
        f(first + __ffs(static_cast<int>(lost)) - 1);
      }
    }
  }

  __device__ void operator()(const RowLanes& at, double* shared) const {
    const Index i = at.row;
    const int k = s.k, size = s.a.m * k;
    bool any = false;
    if (p.begin(i) < p.end(i)) for_lost(at, [&](Offset) { any = true; });
    if (!any) return;
    const SmallDense gram{shared, 1}, inverse{shared + k * k, 1}, vectors{shared + 2 * k * k, 1};
    double *const lost = shared + 3 * k * k, *const part = lost + size;
    for (int e = at.lane; e < k * k; e += RowLanes::count) {
      double sum = 0;
      for (Offset place = p.begin(i); place < p.end(i); ++place) {
        const double* const r = coarse(p.col[place]);
        for (int l = 0; l < k; ++l) sum += r[l * k + e / k] * r[l * k + e % k];
      }
      gram[e] = sum;
    }
    for (int e = at.lane; e < size; e += RowLanes::count) lost[e] = 0;
    at.sync();
    for_lost(at, [&](Offset block) {
      const double* const r = coarse(s.of_node[s.a.pattern.col[block]]);
      for (int e = at.lane; e < size; e += RowLanes::count) {
        const int row = e / k, c = e % k;
        double sum = lost[e];
        for (int l = 0; l < k; ++l) sum += s.weight(i, row) * s.product(block, row, l) * r[l * k + c];
        lost[e] = sum;
      }
    });
    if (at.lane == 0 && !definite_inverse(k, gram, inverse, vectors)) semidefinite_inverse(k, gram, vectors, inverse);
    at.sync();
    for (int e = at.lane; e < size; e += RowLanes::count) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += lost[e / k * k + l] * inverse[l * k + e % k];
      part[e] = sum;
    }
    at.sync();
    for (Offset place = p.begin(i); place < p.end(i); ++place) {
      const double* const r = coarse(p.col[place]);
      for (int e = at.lane; e < size; e += RowLanes::count) {
        double sum = 0;
        for (int l = 0; l < k; ++l) sum += part[e / k * k + l] * r[e % k * k + l];
        val[place * size + e] += sum;
      }
    }
    at.sync();  // before the next row's values take the place of these
  }
};

// The same for a single vector and rows of single entries, which a thread has for itself.
struct CompensatedEntryRow {
  SmoothingView s;
  PatternView p;
  double* val;

  __device__ void operator()(std::int64_t row) const {
    const auto i = static_cast<Index>(row);
    double lost = 0;
    bool any = false;
    for (Offset k = s.a.pattern.begin(i); k < s.a.pattern.end(i); ++k) {
      const Index to = s.of_node[s.a.pattern.col[k]];
      if (to < 0 || p.find(i, to) >= 0) continue;
      lost += s.weight(i, 0) * s.product(k, 0, 0) * s.r[to];
      any = true;
    }
    if (!any) return;
    double gram = 0;
    for (Offset place = p.begin(i); place < p.end(i); ++place) gram += s.r[p.col[place]] * s.r[p.col[place]];
    const double part = gram > 0 ? lost / gram : 0;
    for (Offset place = p.begin(i); place < p.end(i); ++place) val[place] += part * s.r[p.col[place]];
  }
};

__global__ void compensate_kernel(Index rows, int values, CompensatedRow compensated) {
  extern __shared__ double shared[];
  const int own = static_cast<int>(threadIdx.x) / RowLanes::count,
            lane = static_cast<int>(threadIdx.x) % RowLanes::count;
  const auto at_once = static_cast<int>(blockDim.x) / RowLanes::count;
  const std::int64_t step = std::int64_t{gridDim.x} * at_once;
  for (std::int64_t i = std::int64_t{blockIdx.x} * at_once + own; i < rows; i += step) {
    compensated(RowLanes{static_cast<Index>(i), lane}, shared + own * values);
  }
}

// How large a block of P is, for its place in a narrowed row: that of the node's own aggregate comes first.
struct BlockKey {
  BlockView p;
  const Index *row_of, *of_node;
  float* key;

  __device__ void operator()(std::int64_t k) const {
    double square = 0;
    for (int e = 0; e < p.m * p.n; ++e) square += p.block(k)[e] * p.block(k)[e];
    key[k] = p.pattern.col[k] == of_node[row_of[k]] ? -INFINITY : -static_cast<float>(square);
  }
};

struct NarrowedLength {
  PatternView p;
  Index width;
  Offset* length;

  __device__ void operator()(std::int64_t i) const {
    const Offset own = p.end(static_cast<Index>(i)) - p.begin(static_cast<Index>(i));
    length[i] = own < width ? own : width;
  }
};

// A block stays where fewer than `width` of its row come before it.
struct NarrowedRow {
  PatternView p;
  const float* key;
  Index width;
  const Offset* row_ptr;
  Index* col;
  Offset* source;

  __device__ void operator()(std::int64_t row) const {
    const auto i = static_cast<Index>(row);
    Offset at = row_ptr[i];
    for (Offset k = p.begin(i); k < p.end(i); ++k) {
      Index before = 0;
      for (Offset l = p.begin(i); l < p.end(i) && before < width; ++l) {
        before += key[l] < key[k] || (key[l] == key[k] && l < k) ? 1 : 0;
      }
      if (before >= width) continue;
      col[at] = p.col[k];
      source[at++] = k;
    }
  }
};

// Of every (number of threads)-th row from the thread's own on: few threads, which all write to one place.
struct LongestRow {
  static constexpr Index threads = 8192;
  PatternView p;
  unsigned* length;

  __device__ void operator()(std::int64_t thread) const {
    Offset longest = 0;
    for (auto i = static_cast<Index>(thread); i < p.rows; i += threads) {
      const Offset own = p.end(i) - p.begin(i);
      longest = own > longest ? own : longest;
    }
    atomicMax(length, static_cast<unsigned>(longest));
  }
};

SmoothingView smoothing_view(const BlockCsr<Space::device>& a, const DeviceArray<Offset>& diagonal, double omega,
                             const Aggregates<Space::device>& aggregates, const Tentative<Space::device>& tentative) {
  return {a,
          diagonal.data(),
          omega,
          aggregates.of_node.data(),
          tentative.coarse.vectors,
          tentative.q.data(),
          tentative.coarse.values.data()};
}

// Blocks of the longest row.
Offset longest_row(const DeviceContext& ctx, const BlockPattern<Space::device>& p) {
  DeviceArray<unsigned> length = zeros<unsigned>(ctx, 1);
  for_elements(ctx, std::min(p.rows, LongestRow::threads), LongestRow{p, length.data()});
  return static_cast<Offset>(value_at(ctx, length, 0));
}

// The largest blocks of each row, and that of the node's own aggregate.
BlockCsr<Space::device> narrowed(const DeviceContext& ctx, const BlockCsr<Space::device>& p,
                                 const Aggregates<Space::device>& aggregates, Index width) {
  const BlockPattern<Space::device>& from = p.pattern;
  const DeviceArray<Index> row_of = rows_of_blocks(ctx, from);
  DeviceArray<float> key(ctx, from.blocks());
  for_elements(ctx, from.blocks(), BlockKey{p, row_of.data(), aggregates.of_node.data(), key.data()});
  BlockCsr<Space::device> result;
  result.row_block = p.row_block;
  result.col_block = p.col_block;
  result.pattern.rows = from.rows;
  result.pattern.cols = from.cols;
  result.pattern.row_ptr = zeros<Offset>(ctx, Offset{from.rows} + 1);
  for_elements(ctx, from.rows, NarrowedLength{from, width, result.pattern.row_ptr.data()});
  exclusive_sum(ctx, result.pattern.row_ptr);
  const Offset blocks = value_at(ctx, result.pattern.row_ptr, from.rows);
  result.pattern.col = DeviceArray<Index>(ctx, blocks);
  result.val = DeviceArray<double>(ctx, blocks * p.block_size());
  DeviceArray<Offset> source(ctx, blocks);
  for_elements(
      ctx, from.rows,
      NarrowedRow{from, key.data(), width, result.pattern.row_ptr.data(), result.pattern.col.data(), source.data()});
  for_elements(ctx, result.val.size(), TakenBlocks{p.val.data(), source.data(), p.block_size(), result.val.data()});
  return result;
}

void smooth_on_pattern(const DeviceContext& ctx, const SmoothingView& view, BlockCsr<Space::device>& p) {
  const DeviceArray<Index> row_of = rows_of_blocks(ctx, p.pattern);
  for_elements(ctx, p.val.size(), SmoothedValue{view, p.pattern, row_of.data(), p.val.data()});
}

// How many rows a block of `compensate_kernel` has at once, and the values that each needs.
struct CompensationLaunch {
  int rows, values;

  CompensationLaunch(const DeviceContext& ctx, int block, int vectors) {
    constexpr std::size_t most_rows = 16;
    const std::size_t needed =
        CompensatedRow::shared_values(static_cast<std::size_t>(block), static_cast<std::size_t>(vectors));
    const std::size_t allowed = allow_all_shared_memory(ctx, compensate_kernel) / sizeof(double);
    if (needed > allowed) {
      throw InputError("AMG on a device takes fewer near-null vectors than " + std::to_string(vectors));
    }
    rows = static_cast<int>(std::min(most_rows, allowed / needed));
    values = static_cast<int>(needed);
  }
};

void compensate(const DeviceContext& ctx, const SmoothingView& view, const CompensationLaunch& with,
                BlockCsr<Space::device>& p) {
  if (p.pattern.rows == 0) return;
  if (p.block_size() == 1)
    return for_elements(ctx, p.pattern.rows, CompensatedEntryRow{view, p.pattern, p.val.data()});
  const auto threads = static_cast<unsigned>(with.rows * RowLanes::count);
  const std::size_t bytes =
      static_cast<std::size_t>(with.rows) * static_cast<std::size_t>(with.values) * sizeof(double);
  compensate_kernel<<<blocks_for(ctx, p.pattern.rows, with.rows), threads, bytes, ctx.state().stream()>>>(
      p.pattern.rows, with.values, CompensatedRow{view, p.pattern, p.val.data()});
  NEWEL_CHECK_LAUNCH();
}

}  // namespace

void smooth_prolongator(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double omega,
                        const Aggregates<Space::device>& aggregates, const Tentative<Space::device>& tentative,
                        BlockCsr<Space::device>& p) {
  const DeviceArray<Offset> diagonal = diagonal_places(ctx, a.pattern);
  const SmoothingView view = smoothing_view(a, diagonal, omega, aggregates, tentative);
  smooth_on_pattern(ctx, view, p);
  compensate(ctx, view, CompensationLaunch(ctx, a.row_block, view.k), p);
}

void make_prolongator(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double omega,
                      const Aggregates<Space::device>& aggregates, const Tentative<Space::device>& tentative,
                      Index width, BlockCsr<Space::device>& p) {
  const DeviceArray<Offset> diagonal = diagonal_places(ctx, a.pattern);
  const SmoothingView view = smoothing_view(a, diagonal, omega, aggregates, tentative);
  const CompensationLaunch with(ctx, a.row_block, view.k);
  p.pattern = collect_rows<8>(ctx, a.pattern.rows, aggregates.count,
                              ReachedAggregates{a.pattern, aggregates.of_node.data(), aggregates.count});
  p.val = DeviceArray<double>(ctx, p.pattern.blocks() * p.block_size());
  smooth_on_pattern(ctx, view, p);
  const bool narrows = longest_row(ctx, p.pattern) > width;
  if (narrows) p = narrowed(ctx, p, aggregates, width);
  if (narrows || aggregates.others > 0) compensate(ctx, view, with, p);
}

}  // namespace newel::detail

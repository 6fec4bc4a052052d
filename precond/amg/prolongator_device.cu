// SPDX-License-Identifier: Apache-2.0
// Prolongators on the device: a warp has an aggregate, a thread a value of P or, where P is narrowed, a row.
#include <utility>

#include <purlin/core/shared_memory_device.hpp>
#include <purlin/precond/amg/pattern_rows_device.cuh>
#include <purlin/precond/amg/prolongator.hpp>
#include <purlin/precond/amg/small_dense.hpp>

namespace purlin::detail {
namespace {

__device__ double sum_of_lanes(double value) {
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
  return value;
}

// The rows of an aggregate's vectors: value i of vector c, in place.
struct LocalVectors {
  const Offset* node;
  Offset rows;
  int block, k;
  double* q;

  __device__ double& at(Offset i, int c) const { return q[(node[i / block] * block + i % block) * k + c]; }
  __device__ double dot(int lane, int a, int b) const {
    double sum = 0;
    for (Offset i = lane; i < rows; i += 32) sum += at(i, a) * at(i, b);
    return sum_of_lanes(sum);
  }
};

// A warp makes the vectors of an aggregate orthonormal; each lane has every 32nd of their values. R is k x k.
__global__ void __launch_bounds__(ElementsTuning::threads)
    orthonormalise_kernel(Index count, const Offset* begin, const Offset* node, int block, int k, double* q,
                          double* r, Index* missing) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x / 32;
  for (std::int64_t j = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; j < count; j += step) {
    const LocalVectors local{node + begin[j], (begin[j + 1] - begin[j]) * block, block, k, q};
    double* const factor = r + j * k * k;
    for (int c = 0; c < k; ++c) {
      const double before = sqrt(local.dot(lane, c, c));
      for (int other = 0; other < k; ++other) {
        double sum = 0;
        if (other < c) {
          sum = local.dot(lane, other, c);
          for (Offset i = lane; i < local.rows; i += 32) local.at(i, c) -= sum * local.at(i, other);
        }
        if (lane == 0) factor[other * k + c] = sum;
      }
      for (int other = 0; other < c; ++other) {
        const double again = local.dot(lane, other, c);
        for (Offset i = lane; i < local.rows; i += 32) local.at(i, c) -= again * local.at(i, other);
        if (lane == 0) factor[other * k + c] += again;
      }
      const double length = sqrt(local.dot(lane, c, c));
      const bool independent = length > dependent_length * before;
      for (Offset i = lane; i < local.rows; i += 32) {
        local.at(i, c) = independent ? local.at(i, c) / length : 0;
      }
      if (lane == 0) {
        factor[c * k + c] = independent ? length : 0;
        if (!independent) atomicAdd(missing, 1);
      }
    }
  }
}

struct ClearLeftOut {
  const Index* of_node;
  int node_values;
  double* q;

  __device__ void operator()(std::int64_t i) const {
    if (of_node[i / node_values] < 0) q[i] = 0;
  }
};

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

struct KeepValues {
  const double* from;
  const Offset* source;
  int size;
  double* to;

  __device__ void operator()(std::int64_t t) const { to[t] = from[source[t / size] * size + t % size]; }
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

// The aggregates that row i of A Q reaches.
struct ReachedAggregates {
  PatternView a;
  const Index* of_node;

  template <class F>
  __device__ void visit(Index i, int lane, int lanes, F&& f) const {
    if (of_node[i] < 0) return;
    if (lane == 0) f(of_node[i]);
    for (Offset k = a.begin(i) + lane; k < a.end(i); k += lanes) {
      if (of_node[a.col[k]] >= 0) f(of_node[a.col[k]]);
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
struct MakeUpRow {
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
    const SmallMatrix gram{shared, 1}, inverse{shared + k * k, 1}, vectors{shared + 2 * k * k, 1};
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
struct MakeUpEntryRow {
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

__global__ void make_up_kernel(Index rows, int values, MakeUpRow make_up) {
  extern __shared__ double shared[];
  const int own = static_cast<int>(threadIdx.x) / RowLanes::count,
            lane = static_cast<int>(threadIdx.x) % RowLanes::count;
  const auto at_once = static_cast<int>(blockDim.x) / RowLanes::count;
  const std::int64_t step = std::int64_t{gridDim.x} * at_once;
  for (std::int64_t i = std::int64_t{blockIdx.x} * at_once + own; i < rows; i += step) {
    make_up(RowLanes{static_cast<Index>(i), lane}, shared + own * values);
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
  for_elements(ctx, result.val.size(), KeepValues{p.val.data(), source.data(), p.block_size(), result.val.data()});
  return result;
}

void smooth_on_pattern(const DeviceContext& ctx, const SmoothingView& view, BlockCsr<Space::device>& p) {
  const DeviceArray<Index> row_of = rows_of_blocks(ctx, p.pattern);
  for_elements(ctx, p.val.size(), SmoothedValue{view, p.pattern, row_of.data(), p.val.data()});
}

// How many rows a block of `make_up_kernel` has at once, and the values that each needs.
struct MakeUpLaunch {
  int rows, values;

  MakeUpLaunch(const DeviceContext& ctx, int block, int vectors) {
    constexpr std::size_t most_rows = 16;
    const std::size_t needed =
        MakeUpRow::shared_values(static_cast<std::size_t>(block), static_cast<std::size_t>(vectors));
    const std::size_t allowed = allow_all_shared_memory(ctx, make_up_kernel) / sizeof(double);
    if (needed > allowed) {
      throw InputError("AMG on a device takes fewer near-null vectors than " + std::to_string(vectors));
    }
    rows = static_cast<int>(std::min(most_rows, allowed / needed));
    values = static_cast<int>(needed);
  }
};

void make_up(const DeviceContext& ctx, const SmoothingView& view, const MakeUpLaunch& with,
             BlockCsr<Space::device>& p) {
  if (p.pattern.rows == 0) return;
  if (p.block_size() == 1) return for_elements(ctx, p.pattern.rows, MakeUpEntryRow{view, p.pattern, p.val.data()});
  const auto threads = static_cast<unsigned>(with.rows * RowLanes::count);
  const std::size_t bytes =
      static_cast<std::size_t>(with.rows) * static_cast<std::size_t>(with.values) * sizeof(double);
  make_up_kernel<<<blocks_for(ctx, p.pattern.rows, with.rows), threads, bytes, ctx.state().stream()>>>(
      p.pattern.rows, with.values, MakeUpRow{view, p.pattern, p.val.data()});
  PURLIN_CHECK_LAUNCH();
}

}  // namespace

Tentative<Space::device> make_tentative(const DeviceContext& ctx, const Aggregates<Space::device>& aggregates,
                                        int block, const NearNull<Space::device>& near_null) {
  const int k = near_null.vectors;
  Tentative<Space::device> result;
  result.q = make_array(ctx, near_null.values.cspan());
  result.coarse.vectors = k;
  result.coarse.values = DeviceArray<double>(ctx, std::int64_t{aggregates.count} * k * k);
  for_elements(ctx, result.q.size(), ClearLeftOut{aggregates.of_node.data(), block * k, result.q.data()});
  const Groups members = group_by_key(ctx, aggregates.of_node, aggregates.count);
  DeviceArray<Index> missing = zeros<Index>(ctx, 1);
  if (aggregates.count > 0) {
    orthonormalise_kernel<<<blocks_for(ctx, std::int64_t{aggregates.count} * 32), ElementsTuning::threads, 0,
                            ctx.state().stream()>>>(aggregates.count, members.begin.data(), members.element.data(),
                                                    block, k, result.q.data(), result.coarse.values.data(),
                                                    missing.data());
    PURLIN_CHECK_LAUNCH();
  }
  result.missing = value_at(ctx, missing, 0);
  return result;
}

BlockCsr<Space::device> filter(const DeviceContext& ctx, const BlockCsr<Space::device>& a,
                               const DeviceArray<unsigned char>& kept) {
  const Index rows = a.pattern.rows;
  BlockCsr<Space::device> result;
  result.row_block = result.col_block = a.row_block;
  result.pattern.rows = result.pattern.cols = rows;
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
  for_elements(ctx, result.val.size(), KeepValues{a.val.data(), source.data(), a.block_size(), result.val.data()});
  const DeviceArray<Offset> diagonal = diagonal_places(ctx, result.pattern);
  for_rows_by_lanes(ctx, rows, LumpWeak{a, kept.data(), diagonal.data(), result.val.data()});
  return result;
}

void smooth_prolongator(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double omega,
                        const Aggregates<Space::device>& aggregates, const Tentative<Space::device>& tentative,
                        BlockCsr<Space::device>& p) {
  const DeviceArray<Offset> diagonal = diagonal_places(ctx, a.pattern);
  const SmoothingView view = smoothing_view(a, diagonal, omega, aggregates, tentative);
  smooth_on_pattern(ctx, view, p);
  make_up(ctx, view, MakeUpLaunch(ctx, a.row_block, view.k), p);
}

void make_prolongator(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double omega,
                      const Aggregates<Space::device>& aggregates, const Tentative<Space::device>& tentative,
                      Index width, BlockCsr<Space::device>& p) {
  const DeviceArray<Offset> diagonal = diagonal_places(ctx, a.pattern);
  const SmoothingView view = smoothing_view(a, diagonal, omega, aggregates, tentative);
  const MakeUpLaunch with(ctx, a.row_block, view.k);
  p.pattern =
      collect_rows<8>(ctx, a.pattern.rows, aggregates.count, ReachedAggregates{a.pattern, aggregates.of_node.data()});
  p.val = DeviceArray<double>(ctx, p.pattern.blocks() * p.block_size());
  smooth_on_pattern(ctx, view, p);
  if (longest_row(ctx, p.pattern) <= width) return;
  p = narrowed(ctx, p, aggregates, width);
  make_up(ctx, view, with, p);
}

}  // namespace purlin::detail

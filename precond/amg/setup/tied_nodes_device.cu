// SPDX-License-Identifier: Apache-2.0
// Groups around tied nodes on the device: a warp finds what is nearest to one of their nodes.
#include "precond/amg/blocks/elements_device.cuh"
#include "precond/amg/setup/strength.hpp"
#include "precond/amg/setup/tied_nodes.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

struct NearestTuning {
  static constexpr int threads = 64;
  static constexpr int warps = threads / 32;
};

// Marks are 1 for a node of a set and 0 for others; summed, they number the nodes of the set.
struct NumberedSet {
  const Offset* number;  // rows + 1

  __device__ bool has(Index i) const { return number[i] != number[i + 1]; }
};

struct MarkTied {
  BlockView a;
  const double* diagonal;
  double coupling;
  Offset* mark;

  __device__ void operator()(std::int64_t row) const {
    const auto i = static_cast<Index>(row);
    double sum = 0;
    for (Offset k = a.pattern.begin(i); k < a.pattern.end(i); ++k) {
      const double scale = diagonal[i] * diagonal[a.pattern.col[k]];
      if (a.pattern.col[k] != i && scale != 0) sum += a.squared_norm(k) / scale;
    }
    mark[i] = reaches(sum, coupling) ? 1 : 0;
  }
};

__device__ bool coupled(const BlockView& a, Offset k) {
  for (int e = 0; e < a.m * a.n; ++e) {
    if (a.block(k)[e] != 0) return true;
  }
  return false;
}

// The tied nodes and their neighbours.
struct MarkMembers {
  BlockView a;
  NumberedSet tied;
  Offset* mark;

  __device__ void operator()(std::int64_t row) const {
    const auto i = static_cast<Index>(row);
    if (!tied.has(i)) return;
    mark[i] = 1;
    for (Offset k = a.pattern.begin(i); k < a.pattern.end(i); ++k) {
      if (coupled(a, k)) mark[a.pattern.col[k]] = 1;
    }
  }
};

// The members, ascending, and in their rows how blocks tie them to others, 0 where they do not.
struct ListMembers {
  BlockView a;
  const double* diagonal;
  NumberedSet members;
  Index* node;
  float* tie;

  __device__ void operator()(std::int64_t row) const {
    const auto i = static_cast<Index>(row);
    if (!members.has(i)) return;
    node[members.number[i]] = i;
    for (Offset k = a.pattern.begin(i); k < a.pattern.end(i); ++k) {
      const Index j = a.pattern.col[k];
      const bool leads_to_member = members.has(j) && coupled(a, k);
      tie[k] = leads_to_member ? tie_of(a.squared_norm(k), diagonal[i] * diagonal[j]) : 0.0f;
    }
  }
};

// The nodes that a warp meets on its way from one, in shared memory. A key has the sum of a node's paths in its upper
// half, so that the largest key is the nearest node's, of equal ones that with the smallest number; 0 there once the
// node is found.
template <int Most>
struct MetNodes {
  using Key = unsigned long long;
  static constexpr int table_size = 2 * Most;  // a power of two; never more than half full
  static constexpr unsigned short free = 0xffff;

  unsigned short* table;  // where a node stands in the list
  Key* list;

  // Sums are not negative, so they are in the order of their bits. One more, for a sum may be rounded to 0.
  __device__ static Key key(float paths, Index node) {
    return Key{__float_as_uint(paths) + 1} << 32 | (0xffffffffu - static_cast<unsigned>(node));
  }
  __device__ static Key found(Key key) { return key & 0xffffffffu; }
  __device__ static bool waits(Key key) { return key >> 32 != 0; }
  __device__ static Index node(Key key) { return static_cast<Index>(0xffffffffu - static_cast<unsigned>(key)); }
  __device__ static float paths(Key key) { return __uint_as_float(static_cast<unsigned>(key >> 32) - 1); }

  __device__ void clear(int lane) const {
    for (int at = lane; at < table_size; at += 32) table[at] = free;
  }
  __device__ int find(Index wanted) const {
    for (unsigned at = first(wanted);; ++at) {
      const unsigned short met = table[at % table_size];
      if (met == free || node(list[met]) == wanted) return met;
    }
  }
  __device__ void insert(int met) const {
    for (unsigned at = first(node(list[met]));; ++at) {
      if (atomicCAS(table + at % table_size, free, static_cast<unsigned short>(met)) == free) return;
    }
  }

  // The warp's largest key of `count`, which is found from then on.
  __device__ Key take_nearest(int count, int lane) const {
    Key own = 0;
    int at = 0;
    for (int k = lane; k < count; k += 32) {
      const Key other = list[k];
      if (other > own) own = other, at = k;
    }
    Key largest = own;
    for (int step = 16; step > 0; step /= 2) {
      const Key other = __shfl_xor_sync(0xffffffffu, largest, step);
      if (other > largest) largest = other;
    }
    __syncwarp();
    if (own == largest && waits(own)) list[at] = found(own);
    __syncwarp();
    return largest;
  }

 private:
  __device__ static unsigned first(Index node) { return static_cast<unsigned>(node) * 0x9e3779b1u >> 16; }
};

// A warp has a member, and finds what is nearest to it one by one; it goes through a row 32 blocks at a time. What it
// finds, up to `most` nodes, goes to nearest[most m ..], ascending, for member m; how many they are to its node's
// count.
template <int Most>
__global__ void __launch_bounds__(NearestTuning::threads)
    nearest_kernel(PatternView a, const float* tie, Index members, const Index* node, int most, Index* nearest,
                   Offset* count) {
  using Met = MetNodes<Most>;
  __shared__ unsigned short tables[NearestTuning::warps][Met::table_size];
  __shared__ unsigned long long keys[NearestTuning::warps][Most];
  __shared__ Index lists[NearestTuning::warps][Most / 4];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const Met met{tables[warp], keys[warp]};
  Index* const found = lists[warp];
  const std::int64_t step = std::int64_t{gridDim.x} * NearestTuning::warps;
  for (std::int64_t m = std::int64_t{blockIdx.x} * NearestTuning::warps + warp; m < members; m += step) {
    met.clear(lane);
    __syncwarp();
    if (lane == 0) {
      met.list[0] = Met::key(1, node[m]);
      met.insert(0);
    }
    __syncwarp();
    int all_met = 1, size = 0;
    while (size < most) {
      const typename Met::Key best = met.take_nearest(all_met, lane);
      if (!Met::waits(best)) break;  // all of the group is found
      const Index i = Met::node(best);
      const float before = Met::paths(best);
      if (lane == 0) found[size] = i;
      ++size;
      for (Offset first = a.begin(i); first < a.end(i); first += 32) {
        const Offset k = first + lane;
        const float own = k < a.end(i) ? tie[k] : 0.0f;
        const int known = own > 0 ? met.find(a.col[k]) : Met::free;
        __syncwarp();
        const bool is_new = own > 0 && known == Met::free;
        if (own > 0 && !is_new && Met::waits(met.list[known])) {
          met.list[known] = Met::key(with_paths_over(Met::paths(met.list[known]), before, own), a.col[k]);
        }
        const unsigned all_new = __ballot_sync(0xffffffffu, is_new);
        const int at = all_met + __popc(all_new & ((1u << lane) - 1));
        const bool is_met = is_new && at < Most;
        if (is_met) met.list[at] = Met::key(with_paths_over(0, before, own), a.col[k]);
        __syncwarp();
        if (is_met) met.insert(at);
        all_met = min(Most, all_met + __popc(all_new));
        __syncwarp();
      }
    }
    __syncwarp();
    for (int k = lane; k < size; k += 32) {
      int rank = 0;
      for (int l = 0; l < size; ++l) rank += found[l] < found[k] ? 1 : 0;
      nearest[m * most + rank] = found[k];
    }
    if (lane == 0) count[node[m]] = size;
    __syncwarp();
  }
}

template <int Most>
void find_nearest(const DeviceContext& ctx, const BlockPattern<Space::device>& a, const DeviceArray<float>& tie,
                  const DeviceArray<Index>& node, Index most, DeviceArray<Index>& nearest,
                  DeviceArray<Offset>& count) {
  const auto members = static_cast<Index>(node.size());
  nearest_kernel<Most>
      <<<blocks_for(ctx, members, NearestTuning::warps), NearestTuning::threads, 0, ctx.state().stream()>>>(
          PatternView(a), tie.data(), members, node.data(), most, nearest.data(), count.data());
  NEWEL_CHECK_LAUNCH();
}

// Element m most + k is what stands in place k of member m's list.
struct TakeNearest {
  int most;
  const Index *node, *nearest;
  const Offset* row_ptr;
  Index* col;

  __device__ void operator()(std::int64_t element) const {
    const Index i = node[element / most];
    const Offset at = row_ptr[i] + element % most;
    if (at < row_ptr[i + 1]) col[at] = nearest[element];
  }
};

// Tied nodes, numbered as in NumberedSet; nothing where they are not few.
DeviceArray<Offset> number_tied(const DeviceContext& ctx, const BlockCsr<Space::device>& a,
                                const DeviceArray<double>& diagonal) {
  const Index rows = a.pattern.rows;
  for (const double coupling : tied_couplings(a.row_block)) {
    DeviceArray<Offset> tied = zeros<Offset>(ctx, Offset{rows} + 1);
    for_elements(ctx, rows, MarkTied{a, diagonal.data(), coupling, tied.data()});
    exclusive_sum(ctx, tied);
    const Offset count = value_at(ctx, tied, rows);
    if (few_are_tied(count, rows)) return tied;
    if (count == 0) break;
  }
  return {};
}

// Of each member what is nearest to it in its group.
BlockPattern<Space::device> nearest_in_groups(const DeviceContext& ctx, const BlockCsr<Space::device>& a,
                                              const DeviceArray<double>& diagonal, const DeviceArray<Offset>& number,
                                              Index members) {
  const Index rows = a.pattern.rows;
  DeviceArray<Index> node(ctx, members);
  DeviceArray<float> tie(ctx, a.pattern.blocks());
  for_elements(ctx, rows, ListMembers{a, diagonal.data(), {number.data()}, node.data(), tie.data()});
  const Index most = reached_nodes(a, members);
  DeviceArray<Index> nearest(ctx, Offset{members} * most);
  BlockPattern<Space::device> p;
  p.rows = p.cols = rows;
  p.row_ptr = zeros<Offset>(ctx, Offset{rows} + 1);
  const auto find = most_met(most) == least_met ? find_nearest<least_met> : find_nearest<4 * most_reached>;
  find(ctx, a.pattern, tie, node, most, nearest, p.row_ptr);
  exclusive_sum(ctx, p.row_ptr);
  p.col = DeviceArray<Index>(ctx, value_at(ctx, p.row_ptr, rows));
  for_elements(ctx, nearest.size(), TakeNearest{most, node.data(), nearest.data(), p.row_ptr.data(), p.col.data()});
  return p;
}

}  // namespace

std::optional<BlockPattern<Space::device>> tied_pattern(const DeviceContext& ctx, const BlockCsr<Space::device>& a) {
  const Index rows = a.pattern.rows;
  const DeviceArray<double> diagonal = diagonal_norms(ctx, a);
  const DeviceArray<Offset> tied = number_tied(ctx, a, diagonal);
  if (tied.empty()) return std::nullopt;
  DeviceArray<Offset> members = zeros<Offset>(ctx, Offset{rows} + 1);
  for_elements(ctx, rows, MarkMembers{a, {tied.data()}, members.data()});
  exclusive_sum(ctx, members);
  const auto count = static_cast<Index>(value_at(ctx, members, rows));
  const BlockPattern<Space::device> nearest = nearest_in_groups(ctx, a, diagonal, members, count);
  return united(ctx, a.pattern, united(ctx, nearest, transpose(ctx, nearest).pattern));
}

}  // namespace newel::detail

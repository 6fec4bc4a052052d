// SPDX-License-Identifier: Apache-2.0
// Groups around tied nodes on the device: a warp finds what is nearest to one of their nodes.
#include <purlin/precond/amg/elements_device.cuh>
#include <purlin/precond/amg/strength.hpp>
#include <purlin/precond/amg/tied_nodes.hpp>
#include <purlin/reorder/exclusive_sum.hpp>

namespace purlin::detail {
namespace {

struct NearestTuning {
  static constexpr int threads = 64;  // 17 KiB of shared memory a warp
  static constexpr int warps = threads / 32;
  static constexpr int table = 2 * most_met;
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

// The nodes that a warp meets on its way from one, in shared memory, and the sums of their paths; < 0 once found.
struct MetNodes {
  int* table;  // where a node stands in the two lists, -1 where a place is free; never more than half full
  Index* node;
  float* paths;

  __device__ static unsigned first(Index node) { return static_cast<unsigned>(node) * 0x9e3779b1u >> 16; }
  __device__ int find(Index wanted) const {
    for (unsigned at = first(wanted);; ++at) {
      const int met = table[at % NearestTuning::table];
      if (met == -1 || node[met] == wanted) return met;
    }
  }
  __device__ void insert(int met) const {
    for (unsigned at = first(node[met]);; ++at) {
      if (atomicCAS(table + at % NearestTuning::table, -1, met) == -1) return;
    }
  }

  // The warp's nearest one of `count`, of equal ones that with the smallest number: where it stands.
  __device__ int nearest(int count, int lane) const {
    int best = lane < count ? lane : 0;
    for (int k = lane + 32; k < count; k += 32) best = nearer(best, k);
    for (int step = 16; step > 0; step /= 2) best = nearer(best, __shfl_xor_sync(0xffffffffu, best, step));
    return best;
  }

 private:
  __device__ int nearer(int a, int b) const {
    if (paths[a] != paths[b]) return paths[a] > paths[b] ? a : b;
    return node[a] < node[b] ? a : b;
  }
};

// A warp has a member, and finds what is nearest to it one by one; it goes through a row 32 blocks at a time. What it
// finds, up to `most` nodes, goes to nearest[most m ..], ascending, for member m; how many they are to its node's
// count.
__global__ void __launch_bounds__(NearestTuning::threads)
    nearest_kernel(PatternView a, const float* tie, Index members, const Index* node, int most, Index* nearest,
                   Offset* count) {
  __shared__ int tables[NearestTuning::warps][NearestTuning::table];
  __shared__ Index nodes[NearestTuning::warps][most_met];
  __shared__ float sums[NearestTuning::warps][most_met];
  __shared__ Index lists[NearestTuning::warps][most_reached];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const MetNodes met{tables[warp], nodes[warp], sums[warp]};
  Index* const found = lists[warp];
  const std::int64_t step = std::int64_t{gridDim.x} * NearestTuning::warps;
  for (std::int64_t m = std::int64_t{blockIdx.x} * NearestTuning::warps + warp; m < members; m += step) {
    for (int at = lane; at < NearestTuning::table; at += 32) met.table[at] = -1;
    __syncwarp();
    if (lane == 0) {
      met.node[0] = node[m];
      met.paths[0] = 1;
      met.insert(0);
    }
    __syncwarp();
    int all_met = 1, size = 0;
    while (size < most) {
      const int best = met.nearest(all_met, lane);
      const float before = met.paths[best];
      if (before < 0) break;  // all of the group is found
      const Index i = met.node[best];
      __syncwarp();
      if (lane == 0) {
        met.paths[best] = -1;
        found[size] = i;
      }
      ++size;
      __syncwarp();
      for (Offset first = a.begin(i); first < a.end(i); first += 32) {
        const Offset k = first + lane;
        const float own = k < a.end(i) ? tie[k] : 0.0f;
        const int known = own > 0 ? met.find(a.col[k]) : -1;
        if (known >= 0 && met.paths[known] >= 0) met.paths[known] = with_paths_over(met.paths[known], before, own);
        const bool is_new = own > 0 && known < 0;
        const unsigned all_new = __ballot_sync(0xffffffffu, is_new);
        const int at = all_met + __popc(all_new & ((1u << lane) - 1));
        const bool is_met = is_new && at < most_met;
        if (is_met) {
          met.node[at] = a.col[k];
          met.paths[at] = with_paths_over(0, before, own);
        }
        __syncwarp();
        if (is_met) met.insert(at);
        all_met = min(most_met, all_met + __popc(all_new));
        __syncwarp();
      }
    }
    for (int k = lane; k < size; k += 32) {
      int rank = 0;
      for (int l = 0; l < size; ++l) rank += found[l] < found[k] ? 1 : 0;
      nearest[m * most + rank] = found[k];
    }
    if (lane == 0) count[node[m]] = size;
    __syncwarp();
  }
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
  nearest_kernel<<<blocks_for(ctx, members, NearestTuning::warps), NearestTuning::threads, 0, ctx.state().stream()>>>(
      PatternView(a.pattern), tie.data(), members, node.data(), most, nearest.data(), p.row_ptr.data());
  PURLIN_CHECK_LAUNCH();
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

}  // namespace purlin::detail

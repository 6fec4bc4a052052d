// SPDX-License-Identifier: Apache-2.0
// METIS: index types, the global state of the C library's generator, and return codes.
#include <metis.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <mutex>

#include "reorder/partitioners.hpp"

namespace newel::detail {
namespace {

static_assert(sizeof(idx_t) * 8 == IDXTYPEWIDTH, "metis.h does not agree with itself");
static_assert(sizeof(idx_t) >= sizeof(Index), "METIS numbers fewer vertices than Newel");

// Measured on half a million tetrahedral nodes in 270 parts. Ten sweeps, METIS's default, cut 3 % less of the full
// graph in half as much time again, and nothing less where coarse parts are refined afterwards.
constexpr idx_t refinement_sweeps = 3;
// In thousandths of a part, METIS's default. Twice as much cuts 1 % less of the full graph. Where parts must be
// almost equal, a tighter aim costs more than enforce_limits does afterwards.
constexpr idx_t most_imbalance = 30;

// METIS calls srand. The caller's sequence of rand and random is put aside meanwhile.
class BorrowedGenerator {
 public:
  BorrowedGenerator() : callers_(initstate(1, state_, sizeof state_)) {}
  ~BorrowedGenerator() { setstate(callers_); }
  BorrowedGenerator(const BorrowedGenerator&) = delete;
  BorrowedGenerator& operator=(const BorrowedGenerator&) = delete;

 private:
  char state_[128];  // the size of the C library's own
  char* callers_;
};

template <class From>
std::vector<idx_t> converted(const Array<From, Space::host>& from) {
  return std::vector<idx_t>(from.begin(), from.end());
}

// METIS sums edge weights in idx_t.
std::vector<idx_t> edge_weights(const Graph& graph) {
  constexpr Offset most = std::numeric_limits<idx_t>::max() / 2;
  Offset sum = 0;
  for (const Index weight : graph.edge_weight) sum += weight;
  const Offset divisor = sum / most + 1;
  std::vector<idx_t> weights = converted(graph.edge_weight);
  if (divisor > 1) {
    for (idx_t& weight : weights) weight = static_cast<idx_t>(std::max<Offset>(weight / divisor, 1));
  }
  return weights;
}

std::string words_for(int code) {
  switch (code) {
    case METIS_OK:
      return "";
    case METIS_ERROR_INPUT:
      return "METIS rejected its input";
    case METIS_ERROR_MEMORY:
      return "METIS ran out of memory";
    default:
      return "METIS failed";
  }
}

MetisAnswer partition_by_metis(const Graph& graph, Index parts, bool minimise_halo) {
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NITER] = refinement_sweeps;
  options[METIS_OPTION_UFACTOR] = most_imbalance;
  options[METIS_OPTION_OBJTYPE] = minimise_halo ? METIS_OBJTYPE_VOL : METIS_OBJTYPE_CUT;

  std::vector<idx_t> begin = converted(graph.begin), neighbour = converted(graph.neighbour);
  std::vector<idx_t> vertex_weight = converted(graph.vertex_weight), edge_weight = edge_weights(graph);
  idx_t vertices = graph.vertices, constraints = 1, part_count = parts, objective = 0;
  std::vector<idx_t> part(static_cast<std::size_t>(vertices), 0);

  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  const BorrowedGenerator borrowed;
  // Sizes are what a part reads of a vertex: all of its rows. METIS takes them for the halo alone.
  const int code = METIS_PartGraphKway(&vertices, &constraints, begin.data(), neighbour.data(), vertex_weight.data(),
                                       minimise_halo ? vertex_weight.data() : nullptr, edge_weight.data(),
                                       &part_count, nullptr, nullptr, options, &objective, part.data());
  return {words_for(code), std::vector<Index>(part.begin(), part.end())};
}

}  // namespace

const MetisPartitioner metis_partitioner{std::numeric_limits<idx_t>::max(), partition_by_metis};

}  // namespace newel::detail

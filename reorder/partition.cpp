// SPDX-License-Identifier: Apache-2.0
// Checks the wish, chooses the method, and runs graphs from fine to coarse and back.
#include <newel/reorder/partition.hpp>

#include <algorithm>
#include <chrono>
#include <limits>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "reorder/balance.hpp"
#include "reorder/coarsen.hpp"
#include "reorder/grouping.hpp"
#include "reorder/isolated.hpp"
#include "reorder/level_sizes.hpp"
#include "reorder/part_ties.hpp"
#include "reorder/partition_report.hpp"
#include "reorder/partitioners.hpp"
#include "reorder/pattern_graph.hpp"
#include "reorder/refine.hpp"

namespace newel {
namespace {

constexpr std::string_view names[] = {"automatic", "natural", "metis", "coordinates", "greedy"};

#if NEWEL_HAS_METIS
constexpr const detail::MetisPartitioner* metis_of_this_build = &detail::metis_partitioner;
#else
constexpr const detail::MetisPartitioner* metis_of_this_build = nullptr;
#endif

// Rows of one pattern that one vertex stands for, at most: the more, the worse the balance.
constexpr Index most_vertex_rows = 64;

// Names phases and their seconds in the report.
class Phases {
 public:
  explicit Phases(PartitionReport& report) : report_(report) {}
  void end(const char* name) {
    const auto now = std::chrono::steady_clock::now();
    report_.seconds.emplace_back(name, std::chrono::duration<double>(now - start_).count());
    start_ = now;
  }

 private:
  PartitionReport& report_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void check_positive(const char* what, Index value, Index least) {
  if (value < least) {
    throw InputError(std::string(what) + " is " + std::to_string(value) + ", expected at least " +
                     std::to_string(least));
  }
}

void check(const Pattern<Space::host>& a, const PartitionOptions& options) {
  if (a.rows != a.cols) {
    throw InputError("partitioning needs a square matrix, not " + std::to_string(a.rows) + " x " +
                     std::to_string(a.cols));
  }
  if (options.method == Partitioner::metis && NEWEL_HAS_METIS == 0) {
    throw InputError("this build of Newel has no METIS; use the default partitioner");
  }
  check_positive("the number of parts", options.parts, 1);
  check_positive("the limit of rows in a part", options.most_part_rows, 0);
  check_positive("the number of rows of a node", options.node_rows, 1);
  check_positive("the number of coarsening rounds", options.coarsen_rounds, 0);
  if (a.rows % options.node_rows != 0) {
    throw InputError(std::to_string(a.rows) + " rows cannot be divided into nodes of " +
                     std::to_string(options.node_rows) + " rows");
  }
}

// How many parts there can be of units of `unit` rows that stay together, and must be.
Index possible_parts(Index rows, Index unit, const PartitionOptions& options) {
  const Index units = rows / unit;
  const Index most_units = options.most_part_rows == 0 ? units : options.most_part_rows / unit;
  const Index least = (units + most_units - 1) / most_units;
  return std::min(std::max(options.parts, least), units);
}

void natural(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const PartitionOptions& options,
             Index unit, Partition& partition) {
  partition.parts = possible_parts(a.rows, unit, options);
  partition.part_of_row.resize(static_cast<std::size_t>(a.rows));
  parallel_for(ctx, a.rows, [&](Index i) {
    partition.part_of_row[i] = detail::part_of_position(i / unit, a.rows / unit, partition.parts);
  });
}

// `automatic` grows parts. Measured on 24 patterns of 5,000 to 2 million rows (FEM meshes and graphs, 132 parts),
// bytes that a product of EHYB moves, against METIS on the full graph: 3 % less to 1 % more, 6 % more where there are
// hubs (c-62); halos are a tenth larger as a rule, twice as large on a graph of web pages. Growth takes 1 to 30 ms
// where METIS takes 70 to 150 ms on the same coarse graph.
class Multilevel {
 public:
  Multilevel(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const PartitionOptions& options,
             Index unit, Partition& partition, Phases& phases)
      : ctx_(ctx), options_(options), partition_(partition), phases_(phases) {
    const Index limit = options.most_part_rows == 0 ? a.rows : options.most_part_rows;
    const Index wanted = possible_parts(a.rows, unit, options);
    const Index together = std::min(most_vertex_rows, limit);
    fine_ = detail::make_pattern_graph(ctx, a, std::max(unit, together - together % unit));
    if (fine_.graph.vertices < wanted) fine_ = detail::make_pattern_graph(ctx, a, unit);
    parts_ = std::min(wanted, fine_.graph.vertices);
    unit_ = unit;
    phases_.end("graph");
  }

  void run(const detail::MetisPartitioner* metis) {
    std::vector<Index> part = detail::cut_connected(ctx_, fine_.graph, parts_,
                                                    [&](const detail::Graph& graph) { return cut(metis, graph); });
    const Index limit = options_.most_part_rows == 0 ? std::numeric_limits<Index>::max() : options_.most_part_rows;
    partition_.parts = parts_;
    if (!detail::keeps_limits(detail::rows_of_parts(ctx_, fine_.graph, part, parts_), limit)) {
      partition_.parts = detail::enforce_limits(ctx_, fine_.graph, parts_, limit, part);
      const Offset mean = fine_.graph.rows() / parts_;
      detail::refine(ctx_, fine_.graph, partition_.parts, std::min(limit, fullest(mean)), detail::refinement_passes,
                     part);
    }
    partition_.part_of_row = detail::spread(ctx_, part, fine_.vertex_of_row);
    partition_.report.vertices = fine_.graph.vertices;
    phases_.end("limits");
  }

 private:
  // How far refinement may fill a part. Coarse vertices need room to move, whatever the limit. Measured on 125,000
  // nodes in 66 parts that must be equal within 0.1 %: keeping the limit from the beginning, by METIS too, cuts 45
  // % more than enforcing it at the end, which costs nothing.
  Index fullest(Offset mean) const {
    return static_cast<Index>(std::min<Offset>(mean + std::max<Offset>(mean / detail::room_above_mean, unit_),
                                               std::numeric_limits<Index>::max()));
  }

  // Parts of a graph, before limits.
  std::vector<Index> cut(const detail::MetisPartitioner* metis, const detail::Graph& graph) {
    most_rows_ = fullest(graph.rows() / parts_);
    const Index fewest = static_cast<Index>(
        std::min<Offset>(Offset{detail::vertices_per_part} * parts_, std::numeric_limits<Index>::max()));
    const auto levels = detail::coarsen(ctx_, graph, options_.coarsen_rounds, fewest,
                                        metis != nullptr ? metis->most_neighbours : graph.neighbours());
    phases_.end("coarsen");
    std::vector<Index> part = begin_with(metis, levels.empty() ? graph : levels.back().graph);
    phases_.end(partition_.report.method == "metis" ? "metis" : "greedy");
    detail::spread_and_refine(ctx_, graph, levels, parts_, most_rows_, part);
    phases_.end("refine");
    return part;
  }

  // Parts of the coarsest graph, and in the report by which method.
  std::vector<Index> begin_with(const detail::MetisPartitioner* metis, const detail::Graph& graph) {
    std::string& method = partition_.report.method;
    method = "greedy";
    std::string failure;
    if (metis != nullptr && graph.neighbours() > metis->most_neighbours) {
      failure = "the graph is too large for METIS";
    } else if (metis != nullptr && graph.vertices / detail::fewest_vertices_per_part < parts_) {
      failure = "too few vertices for METIS";
    }
    if (metis != nullptr && failure.empty()) {
      auto answer = metis->partition(graph, parts_, options_.minimise_halo);
      if (answer.failure.empty()) {
        method = "metis";
        return std::move(answer.part_of_vertex);
      }
      failure = answer.failure;
    }
    if (!failure.empty()) method += " (" + failure + ")";
    return detail::grow_and_refine(ctx_, graph, parts_, most_rows_);
  }

  const Context<Space::host>& ctx_;
  const PartitionOptions& options_;
  Partition& partition_;
  Phases& phases_;
  detail::PatternGraph fine_;
  Index parts_ = 0;
  Index unit_ = 1;
  Index most_rows_ = 0;
};

// Whether the natural ranges, which it leaves in the partition, are good enough.
bool natural_suffices(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const PartitionOptions& options,
                      Index unit, Partition& partition) {
  natural(ctx, a, options, unit, partition);
  const Offset cut = detail::count_cut(ctx, a, partition.part_of_row);
  return static_cast<double>(cut) <= detail::natural_is_good * static_cast<double>(a.nnz());
}

}  // namespace

std::string_view name_of(Partitioner method) { return names[static_cast<int>(method)]; }

Partitioner partitioner_named(std::string_view name) {
  std::string all;
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (names[i] == name) return static_cast<Partitioner>(i);
    all += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  throw InputError("unknown partitioner '" + std::string(name) + "'; expected one of: " + all);
}

Partition make_partition(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                         const PartitionOptions& options) {
  check(a, options);
  const bool by_coordinates = options.method == Partitioner::coordinates;
  if (by_coordinates && a.rows == 0 && options.coordinates != nullptr && options.coordinates->xyz.empty()) return {};
  const Index point_rows = by_coordinates ? detail::rows_of_point(options.coordinates, a.rows) : 1;
  Partition partition;
  partition.report.method = options.method == Partitioner::automatic ? "natural" : name_of(options.method);
  if (a.rows == 0) return partition;

  Phases phases(partition.report);
  Index unit = by_coordinates ? point_rows : options.node_rows;
  const bool limited = options.most_part_rows > 0;
  if (limited && options.most_part_rows < unit) {
    if (by_coordinates) {
      throw InputError("a part of " + std::to_string(options.most_part_rows) + " rows cannot hold a node of " +
                       std::to_string(unit));
    }
    unit = 1;
  }
  if (by_coordinates) {
    partition.parts = possible_parts(a.rows, unit, options);
    partition.part_of_row = detail::partition_by_curve(ctx, *options.coordinates, a.rows, partition.parts);
    phases.end("curve");
  } else if (options.method == Partitioner::natural || possible_parts(a.rows, unit, options) == 1) {
    natural(ctx, a, options, unit, partition);
    phases.end("ranges");
  } else if (options.method != Partitioner::automatic || !natural_suffices(ctx, a, options, unit, partition)) {
    if (options.method == Partitioner::automatic) phases.end("ranges");
    Multilevel(ctx, a, options, unit, partition, phases)
        .run(options.method == Partitioner::metis ? metis_of_this_build : nullptr);
  } else {
    phases.end("ranges");
  }
  detail::measure(ctx, a, partition);
  phases.end("report");
  return partition;
}

PartOrder order_by_parts(const Context<Space::host>& ctx, const Partition& partition) {
  auto rows = static_cast<std::int64_t>(partition.part_of_row.size());
  detail::Grouping sorted = detail::group(ctx, {partition.part_of_row.data(), rows}, partition.parts);
  return {std::move(sorted.items), std::move(sorted.begin)};
}

}  // namespace newel

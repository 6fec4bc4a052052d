// SPDX-License-Identifier: Apache-2.0
/// EHYB's choices before its arrays exist: how many parts, how much of x each may cache, in which order the rows
/// stand. Internal.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <newel/reorder/partition.hpp>
#include <newel/spmv/format.hpp>
#include "spmv/ehyb/ehyb_layout.hpp"

namespace newel::detail {

/// The variants of the table.
enum class EhybVariant {
  fewest_bytes,  ///< "": whichever of the others moves the fewest bytes
  paper,         ///< own entries of x only, the rest as extra rows
  halo,          ///< entries from outside are cached too
  block          ///< the same with one column per node block
};
EhybVariant ehyb_variant(std::string_view name);

/// Parts, and entries of x that each may cache.
struct EhybGeometry {
  Index parts = 1;
  Index cached_length = 0;
};

/// Equations 1 and 2 of the paper: K is the smallest integer for which rows / (K P) entries of `value_bytes` fit into
/// the cache of one of P processors, and there are K P parts of that length.
EhybGeometry paper_geometry(const Machine& machine, Index rows, std::size_t value_bytes);

/// The same with room for the halo that a tetrahedral mesh has, in nodes of `block` rows.
EhybGeometry halo_geometry(const Machine& machine, Index rows, std::size_t value_bytes, int block);

/// Threads of a part's block on a device: enough to load the fullest part's x, two entries each, and to take its
/// `most_slices` side by side; no more than `most_threads`, which are the kernel's, or a share of them where parts
/// are so many and so small that several share a multiprocessor.
int ehyb_block_threads(const Machine& machine, Index parts, Index longest_cache, Index most_slices,
                       std::size_t value_bytes, Index most_threads);

/// Which share of `bytes`, what a product reads of the matrix, a device's second-level cache should keep until the
/// next product: two fifths of a cache of matrices up to one and a half times as large, and nothing of larger ones,
/// which lose more by it than they win (H200, elasticity of 30,000 to 850,000 rows).
float ehyb_kept_share(const Machine& machine, std::uint64_t bytes);

/// Lanes of a node on a device: one where each warp of a part has a slice to itself, more where parts are so small
/// that warps would have no work while others process long rows, as long as each lane keeps some blocks to add.
int ehyb_share(const Machine& machine, Index nodes, Offset blocks, Index parts, int block);

/// 6, 3, 2 or 1: rows of a node for which there is a kernel. On the device waits for the stream.
int ehyb_block(const Context<Space::host>& ctx, const Pattern<Space::host>& a);
int ehyb_block(const Context<Space::device>& ctx, const Pattern<Space::device>& a);

/// The parts of an order, or equal ranges where it has none; ranges too long for the cache are cut. Multiples of
/// `block` rows, where the order's own bounds are.
std::vector<Index> ehyb_parts(const std::vector<Index>& part_begin, Index rows, int block,
                              const EhybGeometry& geometry);

/// Whether an order's parts keep nodes of `block` rows together.
bool bounds_divide_by(const std::vector<Index>& part_begin, int block);

/// What planning asks of a pattern, wherever it is.
class EhybPlanSource {
 public:
  virtual ~EhybPlanSource() = default;
  virtual Index rows() const = 0;
  /// As ehyb_block.
  virtual int block() const = 0;
  /// As make_partition; nothing where it cannot decide.
  virtual std::optional<Partition> partition(const PartitionOptions& options) const = 0;
  /// Of each node of `block` rows, the entries of its first row; without `halo`, of those in columns of its part.
  virtual std::vector<Index> row_lengths(const Partition& partition, int block, bool halo) const = 0;
};

struct EhybPlan {
  PartOrder order;
  OrderReport report;
};

/// Rows by part; within a part by their cached entries, descending. Nothing where the source gave no parts.
std::optional<EhybPlan> plan_ehyb(const Context<Space::host>& ctx, const EhybPlanSource& source,
                                  const FormatRequest& request);

/// The plan of a pattern on the host.
RowOrder<Space::host> plan_ehyb_order(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                      const FormatRequest& request);

/// The plan of a pattern on the device, which stays there; nothing where the host has to make it (the paper's
/// variant, a named partitioner other than greedy or coordinates, patterns that make_partition_on_device does not
/// take).
std::optional<RowOrder<Space::device>> plan_ehyb_order(const Context<Space::device>& ctx,
                                                       const Pattern<Space::device>& a, const FormatRequest& request);

/// The cost estimate of the default variant: a halo of 5.7 / (nodes of a part)^(1/3) of its own entries, as
/// tetrahedral meshes have; several times the own entries where a few rows are far longer than the rest.
CostEstimate ehyb_cost(const PatternFacts& facts, const FormatRequest& request);

}  // namespace newel::detail

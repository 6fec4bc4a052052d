// SPDX-License-Identifier: Apache-2.0
// What the table of preconditioners says of block Jacobi.
#include <algorithm>
#include <string>

#include "precond/block_jacobi/block_jacobi.hpp"
#include "precond/block_jacobi/block_layout.hpp"

namespace newel {
namespace {

void check(const PrecondOptions& options) {
  const int rows = options.of<BlockJacobiOptions>().rows;
  require_precond_option(
      rows >= 0 && rows <= detail::most_block_rows,
      "a block of block Jacobi has 1 to 32 rows, or 0 for those of the pattern, not " + std::to_string(rows));
}

// Blocks that the pattern shows count as single rows here.
std::uint64_t estimate_bytes(const PrecondOptions& options, const SpmvFormat&, Index rows, Offset,
                             std::size_t value_bytes) {
  const auto of_block = static_cast<std::uint64_t>(std::max(options.of<BlockJacobiOptions>().rows, 1));
  return static_cast<std::uint64_t>(rows) * (of_block * (value_bytes + sizeof(std::uint32_t)) + sizeof(Index));
}

PrecondCost cost_of_blocks(const PrecondQuestion& q) {
  PrecondCost cost;
  const int of_option = q.options.of<BlockJacobiOptions>().rows;
  const int block = of_option > 0 ? of_option : std::max(q.block, 1);
  cost.entries = q.made != nullptr ? static_cast<double>(q.made->nonzeros) : static_cast<double>(q.rows) * block;
  return cost;
}

}  // namespace

PrecondMethod block_jacobi_method() {
  PrecondMethod blocks;
  blocks.name = "block-jacobi";
  blocks.summary = "the inverses of dense diagonal blocks, such as those of nodes";
  blocks.options = {in_range(
      value_option("--block-rows", "N", "Rows of a block of block Jacobi, 1 to 32; default: found from the pattern",
                   "block_rows", &BlockJacobiOptions::rows),
      1, detail::most_block_rows)};
  blocks.cost = &cost_of_blocks;
  blocks.check = &check;
  blocks.estimate_bytes = &estimate_bytes;
  blocks.make = precond_columns<BlockJacobiOperator>();
  return blocks;
}

}  // namespace newel

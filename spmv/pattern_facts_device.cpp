// SPDX-License-Identifier: Apache-2.0
// Facts of a pattern on a device, which counts row lengths and looks for blocks.
#include <purlin/reorder/partition_device.hpp>
#include <purlin/spmv/cost_model.hpp>

namespace purlin {

PatternFacts pattern_facts(const Context<Space::device>& ctx, const Pattern<Space::device>& pattern) {
  PatternFacts facts = facts_of_lengths(pattern.rows, pattern.cols, pattern.nnz(), row_lengths(ctx, pattern));
  if (pattern.rows == pattern.cols && pattern.rows > 0) facts.block = detail::node_block_on_device(ctx, pattern);
  return facts;
}

}  // namespace purlin

// SPDX-License-Identifier: Apache-2.0
// Facts of a pattern on a device: the host counts row lengths, the device looks for blocks.
#include <purlin/core/vector_ops.hpp>
#include <purlin/reorder/partition_device.hpp>
#include <purlin/spmv/cost_model.hpp>

namespace purlin {

PatternFacts pattern_facts(const Context<Space::device>& ctx, const Pattern<Space::device>& pattern) {
  const std::vector<std::int32_t> narrow = to_vector(ctx, pattern.row_ptr32);
  const std::vector<Offset> wide = to_vector(ctx, pattern.row_ptr64);
  Pattern<Space::host> pointers;
  pointers.rows = pattern.rows;
  pointers.cols = pattern.cols;
  pointers.row_ptr32 = {narrow.data(), static_cast<std::int64_t>(narrow.size())};
  pointers.row_ptr64 = {wide.data(), static_cast<std::int64_t>(wide.size())};
  PatternFacts facts = facts_of_lengths(pointers, pattern.nnz());
  if (pattern.rows == pattern.cols && pattern.rows > 0) facts.block = detail::node_block_on_device(ctx, pattern);
  return facts;
}

}  // namespace purlin

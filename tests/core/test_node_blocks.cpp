// SPDX-License-Identifier: Apache-2.0
// Node blocks of patterns that one can check by hand.
#include "tests/catch.hpp"

#include <newel/core/matrix_traits.hpp>

#include "tests/reorder/patterns.hpp"

namespace {

Index block_of(const HostCsr& a, Index largest = largest_node_block) {
  return node_block_size(Context<Space::host>(3), pattern_of(a), largest);
}

// No blocks of its own: the first row has one entry, the others differ.
HostCsr ragged() { return pattern_matrix({{0}, {0, 1, 3}, {2}, {1, 3}}, 4); }

}  // namespace

TEST_CASE("The node block is the largest of aligned full blocks", "[reorder]") {
  for (Index b = 1; b <= largest_node_block; ++b) {
    INFO(b);
    CHECK(block_of(blown_up(ragged(), b)) == b);
  }
  CHECK(block_of(blown_up(ragged(), 6), 5) == 3);
  CHECK(block_of(blown_up(ragged(), 6), 2) == 2);
}

TEST_CASE("A block with a hole, or off its alignment, is no node block", "[reorder]") {
  CHECK(block_of(pattern_matrix({{0, 1}, {1}}, 2)) == 1);
  CHECK(block_of(pattern_matrix({{1, 2}, {1, 2}, {0, 1}, {0, 1}}, 4)) == 1);
  CHECK(block_of(pattern_matrix({{0, 1}, {0, 1}, {2, 3}, {0, 1}}, 4)) == 1);
  CHECK(block_of(pattern_matrix({}, 0)) == 1);
  CHECK(block_of(empty_matrix(6, 6)) == 1);
}

TEST_CASE("Rectangles may have node blocks, and elasticity has", "[reorder]") {
  CHECK(block_of(blown_up(pattern_matrix({{0, 2}, {1}}, 3), 3)) == 3);
  CHECK(block_of(pattern_matrix({{0, 1}, {0, 1}}, 3)) == 1);
  CHECK(block_of(fem_matrix("generate:elasticity:4")) == 3);
  CHECK(block_of(fem_matrix("generate:diffusion:4")) == 1);
}

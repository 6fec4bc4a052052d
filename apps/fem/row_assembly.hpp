// SPDX-License-Identifier: Apache-2.0
/// How a matrix of B x B blocks is gathered row by row from the elements around each node. A mesh here has `tets`, a
/// vector of arrays of node numbers, and `node_count()`. Included by what assembles.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include <newel/core/parallel.hpp>

#include "apps/fem/assembly.hpp"
#include "apps/fem/column_numbers.hpp"

namespace newel::fem::detail {

using Mask = std::vector<unsigned char>;

/// One block row under construction: columns in the order in which they are met, the node's own first.
template <int B>
class BlockRow {
 public:
  using Block = std::array<double, B * B>;

  void restart(Index node) {
    numbers_.restart(node);
    blocks_.assign(1, Block{});
  }
  Block& at(Index column) {
    const std::size_t number = numbers_.number(column);
    return number < blocks_.size() ? blocks_[number] : blocks_.emplace_back();
  }
  Block& own() { return blocks_[0]; }

  /// Writes B rows of B entries for each column, columns ascending.
  void write(Index* col, double* val) {
    const std::vector<Index>& columns = numbers_.columns();
    order_.resize(columns.size());
    for (std::size_t k = 0; k < order_.size(); ++k) order_[k] = {columns[k], static_cast<Index>(k)};
    std::sort(order_.begin(), order_.end());
    for (int row = 0; row < B; ++row) {
      for (const auto& [column, slot] : order_) {
        for (int c = 0; c < B; ++c) {
          *col++ = B * column + c;
          *val++ = blocks_[slot][B * row + c];
        }
      }
    }
  }

 private:
  ColumnNumbers numbers_;
  std::vector<Block> blocks_;
  std::vector<std::pair<Index, Index>> order_;
};

/// How many block columns the row of `node` has. `seen` is scratch.
template <class Mesh>
Index count_columns(const Mesh& mesh, const NodeTets& around, const Mask& clamped, Index node, ColumnNumbers& seen) {
  if (clamped[node]) return 1;
  seen.restart(node);
  for (Offset k = around.begin[node]; k < around.begin[node + 1]; ++k) {
    for (const Index other : mesh.tets[around.tets[k]]) {
      if (!clamped[other]) (void)seen.number(other);
    }
  }
  return static_cast<Index>(seen.columns().size());
}

/// Which corner of the tetrahedron its node is; without a branch.
inline int corner_of(const Tet& tet, Index node) {
  return (tet[1] == node ? 1 : 0) + (tet[2] == node ? 2 : 0) + (tet[3] == node ? 3 : 0);
}

/// The same for elements of more nodes.
template <std::size_t N>
int corner_of(const std::array<Index, N>& element, Index node) {
  return static_cast<int>(std::find(element.begin(), element.end(), node) - element.begin());
}

/// `element_row(tet, a, blocks)` fills blocks[b] with the B x B block of the element matrix that couples corner a
/// with corner b. Two passes over the tetrahedra around each node: one counts, one fills.
template <int B, class Mesh, class ElementRow>
HostCsr assemble_rows(const Context<Space::host>& ctx, const Mesh& mesh, const NodeTets& around, const Mask& clamped,
                      const ElementRow& element_row) {
  using Block = typename BlockRow<B>::Block;
  using Element = typename decltype(mesh.tets)::value_type;
  constexpr int corners = std::tuple_size_v<Element>;
  const Index nodes = mesh.node_count();
  HostCsr a;
  a.rows = a.cols = B * nodes;
  a.row_ptr = Array<Offset, Space::host>(ctx, Offset{B} * nodes + 1);
  parallel_ranges(ctx, nodes, [&](Index range_begin, Index range_end) {
    ColumnNumbers seen;
    for (Index i = range_begin; i < range_end; ++i) {
      const Index columns = count_columns(mesh, around, clamped, i, seen);
      for (int row = 0; row < B; ++row) a.row_ptr[Offset{B} * i + row + 1] = Offset{B} * columns;
    }
  });
  a.row_ptr[0] = 0;
  for (Index i = 0; i < a.rows; ++i) a.row_ptr[i + 1] += a.row_ptr[i];
  a.col = Array<Index, Space::host>(ctx, a.row_ptr[a.rows]);
  a.val = Array<double, Space::host>(ctx, a.row_ptr[a.rows]);

  parallel_ranges(ctx, nodes, [&](Index range_begin, Index range_end) {
    BlockRow<B> block_row;
    std::array<Block, corners> blocks;
    for (Index i = range_begin; i < range_end; ++i) {
      block_row.restart(i);
      for (Offset k = around.begin[i]; k < around.begin[i + 1]; ++k) {
        const Index t = around.tets[k];
        const Element& tet = mesh.tets[t];
        const int corner = corner_of(tet, i);
        element_row(t, corner, blocks);
        for (int b = 0; b < corners; ++b) {
          if (b != corner && (clamped[i] || clamped[tet[b]])) continue;
          Block& sum = block_row.at(tet[b]);
          for (int e = 0; e < B * B; ++e) sum[e] += blocks[b][e];
        }
      }
      const bool alone = around.begin[i] == around.begin[i + 1];
      for (int row = 0; row < B; ++row) {
        for (int c = 0; c < B; ++c) {
          double& entry = block_row.own()[B * row + c];
          if (alone && row == c) entry = 1;
          if (clamped[i] && row != c) entry = 0;
        }
      }
      const Offset begin = a.row_ptr[Offset{B} * i];
      block_row.write(a.col.data() + begin, a.val.data() + begin);
    }
  });
  return a;
}

}  // namespace newel::fem::detail

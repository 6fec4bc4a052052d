// SPDX-License-Identifier: Apache-2.0
// Lists of elements per entry, in two passes over the elements around each node: count, then fill.
#include "apps/heart/element_lists.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <string>

#include <purlin/core/error.hpp>
#include <purlin/core/parallel.hpp>

namespace purlin::heart {
namespace {

// f(entry, element) for the entries (a, b), b >= a, of a row, elements ascending in every entry.
template <class F>
void for_upper_entries(const fem::TetMesh& mesh, const fem::NodeTets& around, const Pattern<Space::host>& pattern,
                       const std::vector<Index>& new_element, Index a, std::vector<Index>& elements, F&& f) {
  elements.clear();
  for (Offset k = around.begin[a]; k < around.begin[a + 1]; ++k) elements.push_back(around.tets[k]);
  const auto before = [&](Index s, Index t) { return new_element[s] < new_element[t]; };
  if (!std::is_sorted(elements.begin(), elements.end(), before)) std::sort(elements.begin(), elements.end(), before);
  for (const Index t : elements) {
    for (const Index b : mesh.tets[t]) {
      if (b >= a) f(find_entry(pattern, a, b), new_element[t]);
    }
  }
}

std::vector<Index> inverse_of(const std::vector<Index>& order) {
  std::vector<Index> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<Index>(i);
  return inverse;
}

}  // namespace

Offset find_entry(const Pattern<Space::host>& pattern, Index row, Index col) {
  const Index* const begin = pattern.col.data + pattern.row_begin(row);
  const Index* const end = pattern.col.data + pattern.row_begin(row + 1);
  const Index* at = begin;
  // Rows of a mesh are short: to count the columns before it takes no branch, and the compiler vectorises it.
  constexpr std::ptrdiff_t longest_counted = 48;
  if (end - begin <= longest_counted) {
    Index before = 0;
    for (const Index* c = begin; c < end; ++c) before += *c < col ? 1 : 0;
    at += before;
  } else {
    at = std::lower_bound(begin, end, col);
  }
  return at == end || *at != col ? -1 : at - pattern.col.data;
}

std::vector<Index> order_elements(const fem::TetMesh& mesh, const std::vector<Index>& new_of_old) {
  const Index tets = mesh.tet_count();
  const auto lowest = [&](Index t) {
    Index low = std::numeric_limits<Index>::max();
    for (const Index node : mesh.tets[t]) low = std::min(low, new_of_old.empty() ? node : new_of_old[node]);
    return low;
  };
  std::vector<Index> first(static_cast<std::size_t>(mesh.node_count()) + 1, 0), order(static_cast<std::size_t>(tets));
  for (Index t = 0; t < tets; ++t) ++first[static_cast<std::size_t>(lowest(t)) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  for (Index t = 0; t < tets; ++t) order[first[lowest(t)]++] = t;
  return order;
}

EntryElements entry_elements(const Context<Space::host>& ctx, const fem::TetMesh& mesh,
                             const Pattern<Space::host>& pattern, const std::vector<Index>& element_order,
                             const std::vector<Index>& old_of_new) {
  const Index nodes = mesh.node_count();
  const fem::NodeTets around = fem::node_tets(ctx, mesh);
  const std::vector<Index> new_element = inverse_of(element_order);
  const auto entries = static_cast<std::size_t>(pattern.nnz());
  EntryElements lists;
  lists.begin.assign(entries, 0);
  lists.count.assign(entries, 0);
  lists.list.assign(entries, 0);

  std::atomic<bool> missing{false}, crowded{false};
  purlin::detail::parallel_ranges(ctx, nodes, [&](Index range_begin, Index range_end) {
    std::vector<Index> elements;
    for (Index a = range_begin; a < range_end; ++a) {
      for_upper_entries(mesh, around, pattern, new_element, a, elements, [&](Offset entry, Index) {
        if (entry < 0) {
          missing = true;
        } else if (++lists.count[entry] == 0) {
          crowded = true;
        }
      });
    }
  });
  if (missing) throw InputError("the matrix has no entry for two nodes of a tetrahedron");
  if (crowded) throw InputError("more than 65,535 tetrahedra meet in a node");

  // Rows in solver order, so that lists that are read together lie together.
  std::uint64_t total = 0;
  for (Index i = 0; i < nodes; ++i) {
    const Index a = old_of_new.empty() ? i : old_of_new[i];
    for (Offset k = pattern.row_begin(a); k < pattern.row_begin(a + 1); ++k) {
      lists.begin[k] = static_cast<std::uint32_t>(total);
      lists.list[k] = lists.lists;
      lists.lists += lists.count[k] > 0 ? 1 : 0;
      total += lists.count[k];
    }
  }
  if (total > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError("a mesh of " + std::to_string(mesh.tet_count()) + " tetrahedra, too many for 32-bit lists");
  }
  lists.element.resize(total);

  purlin::detail::parallel_ranges(ctx, nodes, [&](Index range_begin, Index range_end) {
    std::vector<Index> elements, filled;
    for (Index a = range_begin; a < range_end; ++a) {
      const Offset row = pattern.row_begin(a);
      filled.assign(static_cast<std::size_t>(pattern.row_begin(a + 1) - row), 0);
      for_upper_entries(mesh, around, pattern, new_element, a, elements, [&](Offset entry, Index element) {
        lists.element[lists.begin[entry] + filled[entry - row]++] = element;
      });
    }
  });
  // The mirror of (b, a), a < b, is (a, b), whose list is there by now.
  purlin::detail::parallel_for(ctx, nodes, [&](Index b) {
    for (Offset k = pattern.row_begin(b); k < pattern.row_begin(b + 1) && pattern.col[k] < b; ++k) {
      const Offset mirror = find_entry(pattern, pattern.col[k], b);
      if (mirror < 0) continue;
      lists.begin[k] = lists.begin[mirror];
      lists.count[k] = lists.count[mirror];
      lists.list[k] = lists.list[mirror];
    }
  });
  return lists;
}

}  // namespace purlin::heart

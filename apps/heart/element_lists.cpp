// SPDX-License-Identifier: Apache-2.0
// Lists of elements per entry, in two passes over the elements around each node: count, then fill.
#include "apps/heart/element_lists.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

namespace newel::heart {
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

std::vector<Index> inverse_of(const Context<Space::host>& ctx, const std::vector<Index>& order) {
  std::vector<Index> inverse(order.size());
  parallel_for(ctx, order.size(), [&](std::size_t i) { inverse[order[i]] = static_cast<Index>(i); });
  return inverse;
}

// Where the lists of each row begin, rows in solver order: how many lists lie before, and how many of their elements.
struct RowLists {
  std::uint64_t lists = 0, elements = 0;
};

std::vector<RowLists> place_rows(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern,
                                 const std::vector<Index>& old_of_new, const EntryElements& lists) {
  std::vector<RowLists> rows(static_cast<std::size_t>(pattern.rows) + 1);
  parallel_for(ctx, pattern.rows, [&](Index i) {
    const Index a = old_of_new.empty() ? i : old_of_new[i];
    RowLists& row = rows[static_cast<std::size_t>(i) + 1];
    for (Offset k = pattern.row_begin(a); k < pattern.row_begin(a + 1); ++k) {
      row.lists += lists.count[k] > 0 ? 1 : 0;
      row.elements += lists.count[k];
    }
  });
  for (std::size_t i = 1; i < rows.size(); ++i) {
    rows[i].lists += rows[i - 1].lists;
    rows[i].elements += rows[i - 1].elements;
  }
  return rows;
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

std::vector<Index> order_elements(const Context<Space::host>& ctx, const fem::TetMesh& mesh,
                                  const std::vector<Index>& new_of_old) {
  const Index tets = mesh.tet_count(), nodes = mesh.node_count();
  std::vector<Index> lowest(static_cast<std::size_t>(tets));
  parallel_for(ctx, tets, [&](Index t) {
    Index low = std::numeric_limits<Index>::max();
    for (const Index node : mesh.tets[t]) low = std::min(low, new_of_old.empty() ? node : new_of_old[node]);
    lowest[t] = low;
  });
  // A sort by counting: each thread walks all elements, and counts and places those of its own range of nodes.
  std::vector<Index> first(static_cast<std::size_t>(nodes) + 1, 0), order(static_cast<std::size_t>(tets));
  const auto for_own = [&](Index begin, Index end, auto&& f) {
    for (Index t = 0; t < tets; ++t) {
      if (lowest[t] >= begin && lowest[t] < end) f(t);
    }
  };
  parallel_ranges(ctx, nodes, [&](Index begin, Index end) {
    for_own(begin, end, [&](Index t) { ++first[static_cast<std::size_t>(lowest[t]) + 1]; });
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  parallel_ranges(ctx, nodes, [&](Index begin, Index end) {
    std::vector<Index> next(first.begin() + begin, first.begin() + end);
    for_own(begin, end, [&](Index t) { order[next[lowest[t] - begin]++] = t; });
  });
  return order;
}

EntryElements entry_elements(const Context<Space::host>& ctx, const fem::TetMesh& mesh, const fem::NodeTets& around,
                             const Pattern<Space::host>& pattern, const std::vector<Index>& element_order,
                             const std::vector<Index>& old_of_new) {
  const Index nodes = mesh.node_count();
  const std::vector<Index> new_element = inverse_of(ctx, element_order);
  const auto entries = static_cast<std::size_t>(pattern.nnz());
  EntryElements lists;
  lists.begin.resize(entries);
  lists.count.resize(entries);
  lists.list.resize(entries);

  std::atomic<bool> missing{false}, crowded{false};
  parallel_ranges(ctx, nodes, [&](Index range_begin, Index range_end) {
    std::vector<Index> elements;
    for (Index a = range_begin; a < range_end; ++a) {
      std::fill(lists.count.begin() + pattern.row_begin(a), lists.count.begin() + pattern.row_begin(a + 1), 0);
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
  if (crowded) throw InputError("more than 65,535 tetrahedra share a node");

  // Rows in solver order, so that lists that are read together lie together.
  const std::vector<RowLists> rows = place_rows(ctx, pattern, old_of_new, lists);
  const RowLists total = rows.back();
  if (total.elements > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError("a mesh of " + std::to_string(mesh.tet_count()) + " tetrahedra, too many for 32-bit lists");
  }
  parallel_for(ctx, nodes, [&](Index i) {
    const Index a = old_of_new.empty() ? i : old_of_new[i];
    RowLists at = rows[static_cast<std::size_t>(i)];
    for (Offset k = pattern.row_begin(a); k < pattern.row_begin(a + 1); ++k) {
      lists.begin[k] = static_cast<std::uint32_t>(at.elements);
      lists.list[k] = static_cast<std::uint32_t>(at.lists);
      at.lists += lists.count[k] > 0 ? 1 : 0;
      at.elements += lists.count[k];
    }
  });
  lists.lists = static_cast<std::uint32_t>(total.lists);
  lists.element.resize(total.elements);

  parallel_ranges(ctx, nodes, [&](Index range_begin, Index range_end) {
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
  parallel_for(ctx, nodes, [&](Index b) {
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

}  // namespace newel::heart

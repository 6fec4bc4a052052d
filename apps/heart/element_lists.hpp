// SPDX-License-Identifier: Apache-2.0
/// Which elements meet in which entry of the matrix: what an assembly by entries gathers from. Host, once per mesh.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/fem/assembly.hpp"

namespace newel::heart {

/// std::allocator, but for values that are made from nothing: those stay undefined.
template <class T>
struct PlainAllocator : std::allocator<T> {
  static_assert(std::is_trivially_copyable_v<T>);
  template <class U>
  struct rebind {
    using other = PlainAllocator<U>;
  };

  PlainAllocator() = default;
  template <class U>
  PlainAllocator(const PlainAllocator<U>&) {}

  template <class U, class... From>
  void construct(U* at, From&&... from) {
    if constexpr (sizeof...(From) == 0) {
      ::new (static_cast<void*>(at)) U;
    } else {
      ::new (static_cast<void*>(at)) U(std::forward<From>(from)...);
    }
  }
};

template <class T>
using PlainVector = std::vector<T, PlainAllocator<T>>;

/// The elements around every entry (a, b) of a P1 matrix, in ascending order. An entry and its mirror share one list.
struct EntryElements {
  PlainVector<std::uint32_t> begin;  ///< per CSR entry, into `element`
  PlainVector<std::uint16_t> count;
  PlainVector<std::uint32_t> list;  ///< per CSR entry, the number of its list: lists are stored in ascending order
  std::uint32_t lists = 0;
  PlainVector<Index> element;
};

/// The elements of `mesh` in an order that lies together in memory where the nodes do: by their lowest node in the
/// new numbering, which may be empty for the mesh's own. Element i of the new order is the mesh's result[i].
std::vector<Index> order_elements(const Context<Space::host>& ctx, const fem::TetMesh& mesh,
                                  const std::vector<Index>& new_of_old);

/// For the pattern of fem::assemble_diffusion (no clamped nodes), in the mesh's numbering of nodes, and elements
/// numbered by `element_order`. Lists are stored in the order of the rows `old_of_new`. O(16 tetrahedra). Throws
/// InputError for an entry that is missing in the pattern, for a node with more than 65,535 elements, and where 32
/// bits do not number the lists.
EntryElements entry_elements(const Context<Space::host>& ctx, const fem::TetMesh& mesh, const fem::NodeTets& around,
                             const Pattern<Space::host>& pattern, const std::vector<Index>& element_order,
                             const std::vector<Index>& old_of_new);

/// The place of entry (row, col) in a canonical pattern, -1 where there is none. O(log row).
Offset find_entry(const Pattern<Space::host>& pattern, Index row, Index col);

}  // namespace newel::heart

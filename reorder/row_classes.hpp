// SPDX-License-Identifier: Apache-2.0
/// Rows of identical pattern, found by hashing: the unknowns of one FEM node. Internal.
#pragma once

#include <cstdint>

#include <newel/core/csr.hpp>

namespace newel::detail {

/// The hash of a row's columns. Another one is given by tests only.
using RowHash = std::uint64_t (*)(const Index* columns, Offset count);
std::uint64_t hash_of_columns(const Index* columns, Offset count);

/// Classes are numbered by their first row.
struct RowClasses {
  Index count = 0;
  Array<Index, Space::host> class_of_row;
  Array<Index, Space::host> first_row;  ///< of each class
  Array<Index, Space::host> rows;       ///< how many, of each class
};

/// Rows are in one class where their patterns are equal, entry by entry: hashes only find candidates. A class holds
/// at most `most_rows`; more rows of one pattern are cut into several classes in their order. Empty rows, which
/// nothing holds together, stay alone. O(nnz), parallel, the same for any number of threads.
RowClasses find_row_classes(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Index most_rows,
                            RowHash hash = hash_of_columns);

}  // namespace newel::detail

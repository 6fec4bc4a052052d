// SPDX-License-Identifier: Apache-2.0
/// The four blocks of a saddle point as patterns of their own. Internal.
#pragma once

#include <vector>

#include <newel/core/csr.hpp>
#include "precond/saddle/saddle_rows.hpp"

namespace newel::detail {

/// A block on the host, with the entry of the whole matrix that each of its entries is. Columns ascend in a row.
struct SaddlePattern {
  Index rows = 0, cols = 0;
  Array<Offset, Space::host> row_ptr;
  Array<Index, Space::host> col;
  Array<Offset, Space::host> source;

  Offset nnz() const { return col.size(); }
};

/// [primal coupling; transposed constraint], in the caller's order of the rows of each kind.
struct SaddlePatterns {
  SaddlePattern primal, coupling, transposed, constraint;
};

/// `new_of_old[i]` is the row of `a` that is the caller's row i; empty: i.
SaddlePatterns split(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const SaddleRows& rows,
                     const std::vector<Index>& new_of_old);

}  // namespace newel::detail

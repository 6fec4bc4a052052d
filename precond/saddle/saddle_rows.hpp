// SPDX-License-Identifier: Apache-2.0
/// Which rows of a saddle point are its constraints. Internal.
#pragma once

#include <vector>

#include <newel/core/csr.hpp>
#include <newel/precond/saddle/saddle_options.hpp>

namespace newel::detail {

/// The rows of both blocks in the caller's numbering, ascending.
struct SaddleRows {
  std::vector<Index> primal;       ///< those that are no constraints
  std::vector<Index> constraints;  ///< at least one, and at most as many as there are others
};

/// By the options, or by the diagonal of `a`. `old_of_new[i]` is the caller's row of row i; empty: i. Throws
/// InputError where there are no constraints, more than other rows, or rows of the options that `a` does not have.
template <class T>
SaddleRows find_saddle_rows(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                            const std::vector<Index>& old_of_new, const SaddleOptions& options);

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
/// What an entry of G is worth where a row of it becomes too long. Internal.
#pragma once

#include <algorithm>
#include <cmath>

#include <newel/core/csr.hpp>
#include "precond/longest_rows.hpp"

namespace newel::detail {

/// |a_ij| / sqrt(|a_jj|): the size of an entry beside the diagonal. Refers to the arrays of `a`.
template <class T>
EntryWorth fsai_entry_worth(const CsrView<T, Space::host>& a) {
  const auto size = [a](Index i, Index j) {
    const Index* const end = a.col.data + a.row_begin(i + 1);
    const Index* const at = std::lower_bound(a.col.data + a.row_begin(i), end, j);
    return at == end || *at != j ? 0.0 : std::fabs(static_cast<double>(a.val[at - a.col.data]));
  };
  return [size](Index i, Index j) { return size(i, j) / std::sqrt(size(j, j)); };
}

}  // namespace newel::detail

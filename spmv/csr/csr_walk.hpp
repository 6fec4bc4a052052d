// SPDX-License-Identifier: Apache-2.0
/// Where the rows of a CSR matrix lie, for residuals. Internal.
#pragma once

#include <newel/core/csr.hpp>
#include "spmv/residual.hpp"

namespace newel::detail {

/// P: the type of the row pointers.
template <class T, class P>
struct CsrWalk {
  static constexpr Offset long_row = 256;
  Index rows;
  const P* row_ptr;
  const Index* col;
  const T* val;

  NEWEL_HD std::int64_t places() const { return rows; }
  NEWEL_HD Offset entries(std::int64_t place) const { return Offset{row_ptr[place + 1]} - Offset{row_ptr[place]}; }
  NEWEL_HD bool is_long(std::int64_t place) const { return entries(place) > long_row; }
  template <class F>
  NEWEL_HD Index row(std::int64_t place, int member, int members, F& f) const {
    const Offset begin = row_ptr[place];
    walk_run(val + begin, col + begin, 1, entries(place), member, members, f);
    return static_cast<Index>(place);
  }
};

/// r = b - A x in twice the precision; see LinearOperator::residual.
template <class T>
ResidualSums csr_residual(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                          const ResidualArgs<T>& args);
template <class T>
ResidualSums csr_residual(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a,
                          const ResidualArgs<T>& args);

/// Calls f with the walk of a view.
template <class T, Space S, class F>
decltype(auto) with_walk(const CsrView<T, S>& a, F&& f) {
  return with_row_ptr(a, [&](auto row_ptr) {
    using P = std::remove_cv_t<std::remove_pointer_t<decltype(row_ptr.data)>>;
    return f(CsrWalk<T, P>{a.rows, row_ptr.data, a.col.data, a.val.data});
  });
}

}  // namespace newel::detail

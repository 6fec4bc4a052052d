// SPDX-License-Identifier: Apache-2.0
// Refusing matrices that are not symmetric.
#include "precond/require_symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include <newel/core/error.hpp>
#include <newel/core/matrix_traits.hpp>
#include "core/csr/asymmetry.hpp"
#include "core/vectors/instantiate.hpp"
#include "precond/matrix_on_host.hpp"

namespace newel::detail {
namespace {

// a_ij, 0 where it is not stored.
template <class T>
double value_at(const CsrView<T, Space::host>& a, Index i, Index j) {
  const Index* end = a.col.data + a.row_begin(i + 1);
  const Index* at = std::lower_bound(a.col.data + a.row_begin(i), end, j);
  return at == end || *at != j ? 0.0 : static_cast<double>(a.val[at - a.col.data]);
}

// Names the first pair, in the caller's numbering, that differs by more than `tolerance` of its rows.
template <class T>
[[noreturn]] void refuse_asymmetry(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                                   const std::vector<Index>& user_row, double tolerance) {
  const auto user = [&](Index i) { return user_row.empty() ? i : user_row[i]; };
  const Array<double, Space::host> scales = row_scales(ctx, a);
  std::tuple<Index, Index, double, double> first{std::numeric_limits<Index>::max(), 0, 0, 0};
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      const Index j = a.col[k];
      const double here = static_cast<double>(a.val[k]), there = value_at(a, j, i);
      if (here == there) continue;
      if (!(relative_asymmetry(std::fabs(here - there), scales[i], scales[j]) > tolerance)) continue;
      const bool swap = user(j) < user(i);
      const auto found =
          swap ? std::make_tuple(user(j), user(i), there, here) : std::make_tuple(user(i), user(j), here, there);
      first = std::min(first, found);
    }
  }
  const auto [i, j, here, there] = first;
  throw NotSymmetric(i, j, here, there);
}

}  // namespace

template <class T, Space S>
void require_symmetry(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order) {
  const MatrixTraits traits = matrix_traits(ctx, a);
  // Two doubles that agree to 1e-12 may round to neighbouring floats.
  const double eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  const double tolerance = std::max(MatrixTraits::rounding, 2 * eps);
  if (!(traits.relative_asymmetry > tolerance)) return;
  Csr<T, Space::host> kept;
  refuse_asymmetry(host_context(ctx), matrix_on_host(ctx, a, kept), to_vector(ctx, order.old_of_new.cspan()),
                   tolerance);
}

#define X(T, S) template void require_symmetry(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// Guessing the rows of a node from the values of a matrix.
#include "precond/saddle/node_guess.hpp"

#include <array>
#include <cmath>

#include <newel/core/matrix_traits.hpp>
#include <newel/core/parallel.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

// Of a row, if nodes have `size` rows.
struct NodeRow {
  bool coupled = false;     // to other components
  bool translates = false;  // a translation in each direction makes no force
};

template <class T>
NodeRow look_at(const CsrView<T, Space::host>& a, Index row, Index size) {
  std::array<double, 3> sums{};
  double diagonal = 0;
  NodeRow found;
  for (Offset k = a.row_begin(row); k < a.row_begin(row + 1); ++k) {
    const double value = static_cast<double>(a.val[k]);
    sums[static_cast<std::size_t>(a.col[k] % size)] += value;
    if (a.col[k] == row) diagonal = std::fabs(value);
    if (a.col[k] % size != row % size && value != 0) found.coupled = true;
  }
  found.translates = true;
  for (const double sum : sums)
    found.translates = found.translates && std::fabs(sum) <= MatrixTraits::undamped * diagonal;
  return found;
}

}  // namespace

template <class T>
int guessed_node_rows(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a) {
  for (const Index size : {3, 2}) {
    if (a.rows % size != 0) continue;
    const auto count = [&](auto&& holds) {
      return parallel_count<Offset>(ctx, a.rows, [&](Index row) { return holds(look_at(a, row, size)); });
    };
    const Offset coupled = count([](const NodeRow& row) { return row.coupled; });
    const Offset translating = count([](const NodeRow& row) { return row.translates; });
    if (2 * coupled > a.rows && 4 * translating >= a.rows) return static_cast<int>(size);
  }
  return 0;
}

#define X(T, S) template int guessed_node_rows(const Context<S>&, const CsrView<T, S>&);
NEWEL_FOR_TYPES(X, Space::host)
#undef X

}  // namespace newel::detail

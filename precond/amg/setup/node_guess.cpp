// SPDX-License-Identifier: Apache-2.0
// Guessing the rows of a node from the values of a matrix.
#include "precond/amg/setup/node_guess.hpp"

#include <array>
#include <cmath>

#include <newel/core/matrix_traits.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/amg/setup/spread_sample.hpp"

namespace newel::detail {
namespace {

// Of a row, if nodes have `size` rows.
struct NodeRow {
  bool coupled = false;     // to other components
  bool translates = false;  // a translation in each direction makes no force
};

template <class T>
NodeRow look_at(const CsrView<T, Space::host>& a, const RowOrder<Space::host>& order, Index callers, Index size) {
  const bool natural = order.natural();
  const Index row = natural ? callers : order.new_of_old[callers];
  std::array<double, 3> sums{};
  double diagonal = 0;
  NodeRow found;
  for (Offset k = a.row_begin(row); k < a.row_begin(row + 1); ++k) {
    const double value = static_cast<double>(a.val[k]);
    const Index component = (natural ? a.col[k] : order.old_of_new[a.col[k]]) % size;
    sums[static_cast<std::size_t>(component)] += value;
    if (a.col[k] == row) diagonal = std::fabs(value);
    if (component != callers % size && value != 0) found.coupled = true;
  }
  found.translates = true;
  for (const double sum : sums)
    found.translates = found.translates && std::fabs(sum) <= MatrixTraits::undamped * diagonal;
  return found;
}

constexpr Index most_nodes = 1024;

}  // namespace

template <class T>
int guessed_node_rows(const CsrView<T, Space::host>& a, const RowOrder<Space::host>& order) {
  for (const Index size : {3, 2}) {
    if (a.rows == 0 || a.rows % size != 0) continue;
    const SpreadSample sample(a.rows / size, most_nodes);
    Offset coupled = 0, translating = 0;
    for (Index i = 0; i < sample.count(); ++i) {
      for (Index component = 0; component < size; ++component) {
        const NodeRow row = look_at(a, order, sample[i] * size + component, size);
        coupled += row.coupled ? 1 : 0;
        translating += row.coupled && row.translates ? 1 : 0;  // others say nothing of components
      }
    }
    const Offset rows = Offset{sample.count()} * size;
    if (2 * coupled > rows && 4 * translating >= rows) return static_cast<int>(size);
  }
  return 0;
}

#define X(T, S) template int guessed_node_rows(const CsrView<T, S>&, const RowOrder<S>&);
NEWEL_FOR_TYPES(X, Space::host)
#undef X

}  // namespace newel::detail

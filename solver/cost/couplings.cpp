// SPDX-License-Identifier: Apache-2.0
// Signs of entries off the diagonal.
#include "solver/cost/couplings.hpp"

#include <algorithm>
#include <cmath>

#include "precond/amg/setup/node_guess.hpp"
#include "precond/amg/setup/spread_sample.hpp"
#include "solver/cost/profiles/decision_constants.hpp"

namespace newel::detail {

bool CouplingTraits::scalar() const { return node_rows == 1 && positive <= CouplingConstants::most_positive; }

template <class T>
CouplingTraits coupling_traits(const CsrView<T, Space::host>& a) {
  constexpr Index most_rows = 4096;
  const SpreadSample sample(a.rows, most_rows);
  double positive = 0, all = 0;
  for (Index i = 0; i < sample.count(); ++i) {
    const Index row = sample[i];
    for (Offset k = a.row_begin(row); k < a.row_begin(row + 1); ++k) {
      if (a.col[k] == row) continue;
      const auto value = static_cast<double>(a.val[k]);
      positive += std::max(value, 0.0);
      all += std::abs(value);
    }
  }
  CouplingTraits traits;
  if (all > 0) traits.positive = positive / all;
  traits.node_rows = std::max(1, guessed_node_rows(a));
  return traits;
}

template CouplingTraits coupling_traits(const CsrView<double, Space::host>&);
template CouplingTraits coupling_traits(const CsrView<float, Space::host>&);

}  // namespace newel::detail

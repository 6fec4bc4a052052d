// SPDX-License-Identifier: Apache-2.0
// Closed ways along a flow, found by removing rows in the order of the flow.
#include "solver/cost/convection.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "precond/amg/smooth/amg_smoother.hpp"
#include "solver/cost/profiles/decision_constants.hpp"

namespace newel::detail {
namespace {

enum class Way : unsigned char { neither, from_row, to_row };  // to the row of a column, and from it

constexpr Way opposite(Way way) {
  return way == Way::neither ? way : way == Way::from_row ? Way::to_row : Way::from_row;
}

struct Flow {
  std::vector<Way> way;  // of each entry
  double all = 0, skew = 0;
};

// Rows come in order, so the opposites in a row do too.
template <class T>
Flow flow_of(const CsrView<T, Space::host>& a) {
  constexpr double least_share = 0.25;
  Flow flow;
  // Of an entry without an opposite.
  const auto skew_of = [&](Offset k) {
    const auto alone = static_cast<double>(a.val[k]);
    return 2 * alone * alone;
  };
  flow.way.assign(static_cast<std::size_t>(a.nnz()), Way::neither);
  std::vector<Offset> next(static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) next[i] = a.row_begin(i);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      const Index j = a.col[k];
      if (j == i) continue;
      const auto here = static_cast<double>(a.val[k]);
      flow.all += here * here;
      if (j > i) continue;
      Offset& at = next[j];
      while (at < a.row_begin(j + 1) && a.col[at] < i) {
        if (a.col[at] > j) flow.skew += skew_of(at);
        ++at;
      }
      if (at >= a.row_begin(j + 1) || a.col[at] != i) {
        flow.skew += skew_of(k);
        continue;
      }
      const auto there = static_cast<double>(a.val[at]);
      const double difference = here - there;
      flow.skew += 2 * difference * difference;
      if (std::abs(difference) > least_share * (std::abs(here) + std::abs(there))) {
        flow.way[k] = difference < 0 ? Way::to_row : Way::from_row;
        flow.way[at] = opposite(flow.way[k]);
      }
      ++at;
    }
  }
  for (Index j = 0; j < a.rows; ++j) {
    for (Offset k = next[j]; k < a.row_begin(j + 1); ++k) {
      if (a.col[k] > j) flow.skew += skew_of(k);
    }
  }
  return flow;
}

// Removes rows that have no entry with `needed` to a row that is left, until all have one.
template <class T>
void remove(const CsrView<T, Space::host>& a, const std::vector<Way>& ways, Way needed, std::vector<char>& left) {
  std::vector<Index> count(static_cast<std::size_t>(a.rows), 0), bare;
  for (Index i = 0; i < a.rows; ++i) {
    if (left[i] == 0) continue;
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      count[i] += ways[k] == needed && left[a.col[k]] != 0 ? 1 : 0;
    }
    if (count[i] == 0) bare.push_back(i);
  }
  while (!bare.empty()) {
    const Index i = bare.back();
    bare.pop_back();
    left[i] = 0;
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      const Index j = a.col[k];
      if (ways[k] == opposite(needed) && left[j] != 0 && --count[j] == 0) bare.push_back(j);
    }
  }
}

}  // namespace

static_assert(ConvectionConstants::most_antisymmetric == most_antisymmetric, "from where on AMG smooths by SPAI");

bool ConvectionTraits::prevails() const { return antisymmetric > ConvectionConstants::most_antisymmetric; }

bool ConvectionTraits::circulates() const {
  return prevails() && circulating >= ConvectionConstants::least_circulating;
}

template <class T>
ConvectionTraits convection_traits(const CsrView<T, Space::host>& a) {
  const Flow flow = flow_of(a);
  ConvectionTraits traits;
  if (flow.all > 0) traits.antisymmetric = std::sqrt(flow.skew / flow.all) / 2;
  if (!traits.prevails()) return traits;
  std::vector<char> left(static_cast<std::size_t>(a.rows), 1);
  remove(a, flow.way, Way::to_row, left);
  remove(a, flow.way, Way::from_row, left);
  traits.circulating = static_cast<double>(std::count(left.begin(), left.end(), 1)) / std::max<Index>(a.rows, 1);
  return traits;
}

template ConvectionTraits convection_traits(const CsrView<double, Space::host>&);
template ConvectionTraits convection_traits(const CsrView<float, Space::host>&);

}  // namespace newel::detail

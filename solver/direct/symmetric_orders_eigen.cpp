// SPDX-License-Identifier: Apache-2.0
// Minimum degree by Eigen or nested dissection by METIS.
#include "solver/direct/symmetric_orders.hpp"

#include <newel/config.hpp>
#include "reorder/dissection.hpp"
#include "solver/cost/profiles/factor_constants.hpp"
#include "solver/direct/factor_rows.hpp"

namespace newel::detail {

const SymmetricOrder& SymmetricOrders::minimum_degree() {
  if (minimum_degree_.new_number.empty()) {
    minimum_degree_.new_number = minimum_degree_order(whole_);
    minimum_degree_.fill = fill_of_ldlt(whole_, minimum_degree_.new_number, most_entries_);
  }
  return minimum_degree_;
}

// Factors that take too long to be counted are left to others.
bool SymmetricOrders::is_dissection_worth([[maybe_unused]] double seconds) const {
#if NEWEL_HAS_METIS
  const double own = order_constants.seconds_to_dissect(whole_.size, whole_.entries());
  return seconds >= order_constants.dissections_of_factors * own &&
         seconds * order_constants.least_share_by_dissection <= most_seconds_;
#else
  return false;
#endif
}

const SymmetricOrder& SymmetricOrders::dissection() {
#if NEWEL_HAS_METIS
  if (dissection_.new_number.empty()) {
    const ColumnPattern graph = symmetric_graph(whole_);
    dissection_.new_number = dissection_order(graph.begin, graph.row);
    dissection_.fill = fill_of_ldlt(whole_, dissection_.new_number, most_entries_);
  }
#endif
  return dissection_;
}

}  // namespace newel::detail

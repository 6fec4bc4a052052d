// SPDX-License-Identifier: Apache-2.0
/// SymmetricOrders: orders of elimination for factors of a symmetric matrix. Internal; in builds with Eigen.
#pragma once

#include <vector>

#include "solver/direct/fill.hpp"

namespace newel::detail {

/// The new number of each row and column, and the fill of L.
struct SymmetricOrder {
  std::vector<Index> new_number;
  Fill fill;
};

/// The orders of one pattern, each found once, for all factorisations that are compared.
class SymmetricOrders {
 public:
  /// `whole` outlives this. It is symmetric, to rounding at least: then the orders are those of A + A^T. The fill is
  /// counted up to `most_entries`; `most_seconds` are what factors may take.
  SymmetricOrders(const ColumnPattern& whole, double most_entries, double most_seconds)
      : whole_(whole), most_entries_(most_entries), most_seconds_(most_seconds) {}

  /// The one of these in which factors take less time: minimum degree, and nested dissection if factors are expected
  /// to save the time that it takes, and if they may come within the seconds that are allowed.
  template <class SecondsOf>
  const SymmetricOrder& best(const SecondsOf& seconds_of) {
    const SymmetricOrder& first = minimum_degree();
    const double seconds = seconds_of(first.fill);
    if (!is_dissection_worth(seconds)) return first;
    const SymmetricOrder& second = dissection();
    return seconds_of(second.fill) < seconds ? second : first;
  }

 private:
  const SymmetricOrder& minimum_degree();
  bool is_dissection_worth(double seconds) const;
  const SymmetricOrder& dissection();

  const ColumnPattern& whole_;
  double most_entries_, most_seconds_;
  SymmetricOrder minimum_degree_, dissection_;
};

}  // namespace newel::detail

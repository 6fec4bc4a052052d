// SPDX-License-Identifier: Apache-2.0
/// ScalarProlongatorRow: a row of a smoothed prolongator whose blocks are single entries. Internal.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/vectors/wide_host.hpp"
#include "precond/amg/blocks/column_table.hpp"
#include "precond/amg/transfer/prolongator.hpp"

namespace newel::detail {

/// Row by row of P = (I - omega D^-1 A) Q, as `make_prolongator` and `smooth_prolongator` of a host describe it: a
/// refresh calls what the setup did, and so rounds as it did.
class ScalarProlongatorRow {
 public:
  ScalarProlongatorRow(const HostBlockCsr& a, const std::vector<unsigned char>& kept, double omega,
                       const Aggregates<Space::host>& aggregates, const Tentative<Space::host>& tentative)
      : a_(a),
        kept_(kept.empty() ? nullptr : kept.data()),
        omega_(omega),
        of_node_(aggregates.of_node.data()),
        q_(tentative.q.data()),
        r_(tentative.coarse.values.data()),
        own_(aggregates.count),
        has_others_(aggregates.others > 0),
        table_(aggregates.count + aggregates.others) {}

  /// Finds the parts of row i, which belongs to an aggregate, and their sum in each aggregate.
  void find(Index i) {
    with_wide_vectors([&] { find_here(i); });
  }

  /// The aggregates of `width` entries at most, ascending, the node's own among them.
  void append_largest(Index width, std::vector<Index>& columns) {
    const auto first = static_cast<std::ptrdiff_t>(columns.size());
    if (count_ <= static_cast<std::size_t>(width) && all_own()) {
      columns.insert(columns.end(), met_.begin(), met_.begin() + static_cast<std::ptrdiff_t>(count_));
    } else {
      taken_.assign(count_, 0);
      taken_[0] = 1;
      columns.push_back(met_[0]);
      for (Index k = 1; k < width; ++k) {
        const std::size_t largest = largest_left();
        if (largest == 0) break;  // those of other ranks are left
        taken_[largest] = 1;
        columns.push_back(met_[largest]);
      }
    }
    std::sort(columns.begin() + first, columns.end());
  }

  /// The values in `columns`. What belongs to other aggregates goes to these by the smallest change that gives P R
  /// what was lost.
  void place(Span<const Index, Space::host> columns, double* values) {
    with_wide_vectors([&] { place_here(columns, values); });
  }

 private:
  void find_here(Index i) {
    const Offset begin = a_.pattern.row_ptr[i], end = a_.pattern.row_ptr[i + 1];
    const auto most = static_cast<std::size_t>(end - begin) + 1;
    if (aggregate_.size() < most) {
      aggregate_.resize(most);
      value_.resize(most);
      place_.resize(most);
      sum_.resize(most);
      met_.resize(most);
    }
    aggregate_[0] = of_node_[i];
    value_[0] = q_[i];
    parts_ = 1;
    const Offset diagonal = find_diagonal(i, begin, end);
    if (diagonal >= 0) add_entries(begin, end, diagonal);

    ColumnTable::Row row = table_.begin(static_cast<Offset>(parts_));
    std::fill_n(sum_.begin(), parts_, 0.0);
    for (std::size_t part = 0; part < parts_; ++part) {
      const auto at = static_cast<std::size_t>(row.add(aggregate_[part]));
      place_[part] = at;
      sum_[at] += value_[part];
    }
    count_ = static_cast<std::size_t>(row.count);
    std::copy_n(row.columns, count_, met_.begin());
  }

  // Where the diagonal entry stands, -1 where it lacks. `pivot_` becomes what it is in the filtered matrix: with all
  // weak entries of the row, so that its sum stays, but not where that would leave less than a fifth of it.
  Offset find_diagonal(Index i, Offset begin, Offset end) {
    Offset diagonal = -1;
    double weak = 0;
    for (Offset at = begin; at < end; ++at) {
      diagonal = a_.pattern.col[at] == i ? at : diagonal;
      weak += kept_ == nullptr || kept_[at] != 0 ? 0 : a_.val[at];
    }
    if (diagonal < 0) return diagonal;
    const double own = a_.val[diagonal], lumped = own + weak;
    pivot_ = std::fabs(lumped) >= least_lumped_share * std::fabs(own) ? lumped : own;
    return diagonal;
  }

  // Which entries are kept is not guessable: all are computed, and nothing branches on it.
  void add_entries(Offset begin, Offset end, Offset diagonal) {
    const double factor = pivot_ == 0 ? 0 : -omega_ / pivot_;
    std::size_t parts = parts_;
    for (Offset at = begin; at < end; ++at) {
      const Index j = a_.pattern.col[at], aggregate = of_node_[j];
      const bool is_part = (kept_ == nullptr || kept_[at] != 0) & (aggregate >= 0);
      aggregate_[parts] = aggregate;
      value_[parts] = factor * (at == diagonal ? pivot_ : a_.val[at]) * q_[j];
      parts += is_part ? 1 : 0;
    }
    parts_ = parts;
  }

  bool all_own() const {
    return !has_others_ || std::all_of(met_.begin(), met_.begin() + static_cast<std::ptrdiff_t>(count_),
                                       [&](Index aggregate) { return aggregate < own_; });
  }

  // Of the own aggregates that are not taken, by the size of their entry in single precision, then the first one; 0:
  // all are.
  std::size_t largest_left() const {
    std::size_t best = 0;
    float size = -1;
    for (std::size_t k = 1; k < count_; ++k) {
      if (taken_[k] != 0 || met_[k] >= own_) continue;
      const auto square = static_cast<float>(sum_[k] * sum_[k]);
      if (!(square > size || (square == size && met_[k] < met_[best]))) continue;
      best = k;
      size = square;
    }
    return best;
  }

  void place_here(Span<const Index, Space::host> columns, double* values) {
    taken_.assign(count_, 0);
    std::size_t placed = 0;
    for (std::int64_t k = 0; k < columns.size; ++k) {
      const auto met = met_.begin() + static_cast<std::ptrdiff_t>(count_);
      const auto at = static_cast<std::size_t>(std::find(met_.begin(), met, columns[k]) - met_.begin());
      values[k] = at < count_ ? sum_[at] : 0;
      if (at == count_) continue;
      taken_[at] = 1;
      ++placed;
    }
    if (placed == count_) return;
    double lost = 0, squares = 0;
    for (std::size_t part = 0; part < parts_; ++part) {
      if (taken_[place_[part]] == 0) lost += value_[part] * r_[aggregate_[part]];
    }
    for (std::int64_t k = 0; k < columns.size; ++k) squares += r_[columns[k]] * r_[columns[k]];
    const double weight = squares > 0 ? lost / squares : 0;
    for (std::int64_t k = 0; k < columns.size; ++k) values[k] += weight * r_[columns[k]];
  }

  const HostBlockCsr& a_;
  const unsigned char* kept_;
  double omega_;
  const Index* of_node_;
  const double *q_, *r_;
  double pivot_ = 0;
  Index own_;  // aggregates from here on are of other ranks
  bool has_others_;
  ColumnTable table_;
  std::size_t parts_ = 0, count_ = 0;  // of the row, and its distinct aggregates
  std::vector<Index> aggregate_;       // of each part
  std::vector<double> value_;
  std::vector<std::size_t> place_;
  std::vector<Index> met_;  // the distinct aggregates, in the order in which they are met
  std::vector<double> sum_;
  std::vector<unsigned char> taken_;
};

}  // namespace newel::detail

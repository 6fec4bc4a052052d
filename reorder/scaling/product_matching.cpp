// SPDX-License-Identifier: Apache-2.0
// Shortest augmenting paths on the logarithms of the entries.
#include "reorder/scaling/product_matching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

#include "core/memory/work_limit.hpp"
#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::size_t at(Index i) { return static_cast<std::size_t>(i); }
std::size_t at(Offset k) { return static_cast<std::size_t>(k); }

Index first_without(const std::vector<Index>& partner) {
  const auto found = std::find(partner.begin(), partner.end(), Index{-1});
  return found == partner.end() ? -1 : static_cast<Index>(found - partner.begin());
}

// Costs c_ij >= 0 and duals u, v with c_ij - u_i - v_j >= 0, and = 0 where row i has column j.
class Matcher {
 public:
  explicit Matcher(const EntrySizes& a)
      : a_(a),
        n_(a.rows()),
        row_max_(at(n_), -infinite),
        u_(at(n_), 0),
        v_(at(n_), infinite),
        column_of_row_(at(n_), -1),
        row_of_column_(at(n_), -1) {
    for (Index i = 0; i < n_; ++i) each_entry(i, [&](Index, double log2) { take_max(row_max_[at(i)], log2); });
    begin_duals();
  }

  // Most rows find a column here.
  void match_without_cost() {
    for (Index i = 0; i < n_; ++i) {
      each_reduced(i, [&](Index j, double reduced) {
        if (reduced <= 0 && column_of_row_[at(i)] < 0 && row_of_column_[at(j)] < 0) pair(i, j);
      });
    }
    for (Index i = 0; i < n_; ++i) {
      if (column_of_row_[at(i)] < 0) change_one_row(i);
    }
  }

  // Gives row i a column along the shortest path to one that is free. False: no path leads there, and no later
  // matching changes that.
  bool augment(Index i) {
    start_search();
    const Index free = shortest_path(i);
    if (free >= 0) {
      move_duals(i);
      give_columns_along_the_path(free);
    }
    for (const Index j : reached_) {
      state_[at(j)] = State::far;
      distance_[at(j)] = infinite;
    }
    return free >= 0;
  }

  bool is_matched(Index i) const { return column_of_row_[at(i)] >= 0; }
  bool has_entries(Index i) const { return row_max_[at(i)] > -infinite; }

  ProductMatching result() {
    ProductMatching m;
    m.row_log2.resize(at(n_));
    m.column_log2.resize(at(n_));
    for (Index i = 0; i < n_; ++i) {
      m.row_log2[at(i)] = has_entries(i) ? u_[at(i)] - row_max_[at(i)] : 0;
      m.column_log2[at(i)] = v_[at(i)];
      m.matched += is_matched(i) ? 1 : 0;
    }
    m.column_of_row = std::move(column_of_row_);
    return m;
  }

 private:
  enum class State : char { far, settled };  // of a column

  static void take_max(double& most, double value) { most = std::max(most, value); }

  template <class Visit>
  void each_entry(Index i, const Visit& visit) const {
    for (Offset k = a_.begin[at(i)]; k < a_.begin[at(i) + 1]; ++k) {
      if (a_.log2[at(k)] > -infinite) visit(a_.col[k], a_.log2[at(k)]);
    }
  }
  // With c_ij - u_i - v_j, which rounding may leave below 0.
  template <class Visit>
  void each_reduced(Index i, const Visit& visit) const {
    const double of_row = row_max_[at(i)] - u_[at(i)];
    each_entry(i, [&](Index j, double log2) { visit(j, std::max(0.0, of_row - log2 - v_[at(j)])); });
  }

  // v_j the least cost of the column, then u_i the least of the row that is left.
  void begin_duals() {
    for (Index i = 0; i < n_; ++i) {
      each_entry(i, [&](Index j, double log2) { v_[at(j)] = std::min(v_[at(j)], row_max_[at(i)] - log2); });
    }
    for (double& v : v_) v = std::isfinite(v) ? v : 0;
    for (Index i = 0; i < n_; ++i) {
      double least = infinite;
      each_reduced(i, [&](Index, double reduced) { least = std::min(least, reduced); });
      if (std::isfinite(least)) u_[at(i)] = least;
    }
  }

  void pair(Index i, Index j) {
    column_of_row_[at(i)] = j;
    row_of_column_[at(j)] = i;
  }

  // Takes the column of another row that has a free one without cost.
  void change_one_row(Index i) {
    each_reduced(i, [&](Index j, double reduced) {
      if (reduced > 0 || column_of_row_[at(i)] >= 0) return;
      const Index other = row_of_column_[at(j)];
      if (other < 0) return pair(i, j);
      Index free = -1;
      each_reduced(other, [&](Index k, double left) {
        if (left <= 0 && free < 0 && row_of_column_[at(k)] < 0) free = k;
      });
      if (free < 0) return;
      pair(other, free);
      pair(i, j);
    });
  }

  void start_search() {
    if (distance_.empty()) {
      distance_.assign(at(n_), infinite);
      state_.assign(at(n_), State::far);
      row_before_.assign(at(n_), -1);
    }
    reached_.clear();
    settled_.clear();
    queue_ = {};
    length_ = infinite;
  }

  // Dijkstra over the columns. The free column at its end, or -1; its length is left in `length_`.
  Index shortest_path(Index from) {
    Index free = -1, i = from;
    for (double base = 0;;) {
      each_reduced(i, [&](Index j, double reduced) {
        const double length = base + reduced;
        if (state_[at(j)] != State::far || !(length < length_) || !(length < distance_[at(j)])) return;
        if (distance_[at(j)] == infinite) reached_.push_back(j);
        distance_[at(j)] = length;
        row_before_[at(j)] = i;
        if (row_of_column_[at(j)] >= 0) return queue_.push({length, j});
        length_ = length;
        free = j;
      });
      const Index next = nearest();
      if (next < 0) return free;
      base = distance_[at(next)];
      i = row_of_column_[at(next)];
    }
  }

  // Settles the nearest column; -1: there is none nearer than the free one.
  Index nearest() {
    while (!queue_.empty()) {
      const auto [length, j] = queue_.top();
      if (!(length < length_)) return -1;
      queue_.pop();
      if (state_[at(j)] != State::far || length > distance_[at(j)]) continue;
      state_[at(j)] = State::settled;
      settled_.push_back(j);
      return j;
    }
    return -1;
  }

  // By what each settled column is nearer than the end of the path.
  void move_duals(Index from) {
    u_[at(from)] += length_;
    for (const Index j : settled_) {
      const double nearer = length_ - distance_[at(j)];
      v_[at(j)] -= nearer;
      u_[at(row_of_column_[at(j)])] += nearer;
    }
  }

  void give_columns_along_the_path(Index free) {
    for (Index j = free; j >= 0;) {
      const Index i = row_before_[at(j)], before = column_of_row_[at(i)];
      pair(i, j);
      j = before;
    }
  }

  const EntrySizes& a_;
  Index n_;
  std::vector<double> row_max_, u_, v_;
  std::vector<Index> column_of_row_, row_of_column_;
  // Of a search.
  std::vector<double> distance_;
  std::vector<State> state_;
  std::vector<Index> row_before_, reached_, settled_;
  using Near = std::pair<double, Index>;
  std::priority_queue<Near, std::vector<Near>, std::greater<Near>> queue_;
  double length_ = infinite;
};

}  // namespace

double entry_size(double value) {
  return value != 0 && std::isfinite(value) ? std::log2(std::fabs(value)) : -infinite;
}

template <class T>
EntrySizes entry_sizes(const CsrView<T, Space::host>& a) {
  EntrySizes sizes{std::vector<Offset>(at(a.rows) + 1), a.col, std::vector<double>(at(a.nnz()))};
  for (Index i = 0; i <= a.rows; ++i) sizes.begin[at(i)] = a.row_begin(i);
  for (Offset k = 0; k < a.nnz(); ++k) sizes.log2[at(k)] = entry_size(static_cast<double>(a.val[k]));
  return sizes;
}

Index ProductMatching::unmatched_row() const { return first_without(column_of_row); }

Index ProductMatching::unmatched_column() const {
  std::vector<Index> row_of_column(column_of_row.size(), -1);
  for (std::size_t i = 0; i < column_of_row.size(); ++i) {
    if (column_of_row[i] >= 0) row_of_column[at(column_of_row[i])] = static_cast<Index>(i);
  }
  return first_without(row_of_column);
}

ProductMatching product_matching(const Context<Space::host>& ctx, const EntrySizes& a) {
  const WorkLimit& limit = work_limit(ctx);
  Matcher matcher(a);
  matcher.match_without_cost();
  for (Index i = 0; i < a.rows(); ++i) {
    if (matcher.is_matched(i) || !matcher.has_entries(i)) continue;
    limit.check();
    matcher.augment(i);
  }
  return matcher.result();
}

#define X(T, S) template EntrySizes entry_sizes(const CsrView<T, S>&);
NEWEL_FOR_TYPES(X, Space::host)
#undef X

}  // namespace newel::detail

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

// Costs c_ij = max_j log2 |a_ij| - log2 |a_ij| >= 0, and duals u, v with c_ij - u_i - v_j >= 0.
struct ReducedCosts {
  explicit ReducedCosts(const EntrySizes& of);

  bool has_entries(Index i) const { return row_max[at(i)] > -infinite; }

  template <class Visit>
  void each_entry(Index i, const Visit& visit) const {
    for (Offset k = a.begin[at(i)]; k < a.begin[at(i) + 1]; ++k) {
      if (a.log2[at(k)] > -infinite) visit(a.col[k], a.log2[at(k)]);
    }
  }
  // With c_ij - u_i - v_j, which rounding may leave below 0.
  template <class Visit>
  void each_reduced(Index i, const Visit& visit) const {
    const double of_row = row_max[at(i)] - u[at(i)];
    each_entry(i, [&](Index j, double log2) { visit(j, std::max(0.0, of_row - log2 - v[at(j)])); });
  }

  const EntrySizes& a;
  std::vector<double> row_max, u, v;
};

// v_j the least cost of the column, then u_i the least of the row that is left.
ReducedCosts::ReducedCosts(const EntrySizes& of)
    : a(of), row_max(at(a.rows()), -infinite), u(at(a.rows()), 0), v(at(a.rows()), infinite) {
  const Index n = a.rows();
  for (Index i = 0; i < n; ++i) {
    each_entry(i, [&](Index, double log2) { row_max[at(i)] = std::max(row_max[at(i)], log2); });
  }
  for (Index i = 0; i < n; ++i) {
    each_entry(i, [&](Index j, double log2) { v[at(j)] = std::min(v[at(j)], row_max[at(i)] - log2); });
  }
  for (double& least : v) least = std::isfinite(least) ? least : 0;
  for (Index i = 0; i < n; ++i) {
    double least = infinite;
    each_reduced(i, [&](Index, double reduced) { least = std::min(least, reduced); });
    if (std::isfinite(least)) u[at(i)] = least;
  }
}

// Rows and the columns that they have: -1, none.
struct Pairs {
  explicit Pairs(Index n) : column_of_row(at(n), -1), row_of_column(at(n), -1) {}

  void pair(Index i, Index j) {
    column_of_row[at(i)] = j;
    row_of_column[at(j)] = i;
  }

  std::vector<Index> column_of_row, row_of_column;
};

// Dijkstra over the columns, from a row without one to a column that is free.
class PathSearch {
 public:
  // The free column at the end of the shortest path, or -1. From the columns that a search without a path has reached
  // no path leads anywhere: they are closed to all later searches, which would take as long each.
  Index run(const ReducedCosts& costs, const Pairs& pairs, Index from);
  // Of the last search, if there was no path: the columns that are closed now.
  const std::vector<Index>& closed() const { return settled_; }
  // By what each settled column is nearer than the end of the path.
  void move_duals(ReducedCosts& costs, const Pairs& pairs, Index from) const;
  void give_columns_along_the_path(Pairs& pairs, Index free) const;

 private:
  enum class State : char { far, settled, closed };  // of a column
  using Near = std::pair<double, Index>;

  void start(Index n);
  Index nearest();
  Index close();

  std::vector<double> distance_;
  std::vector<State> state_;
  std::vector<Index> row_before_, reached_, settled_;
  std::priority_queue<Near, std::vector<Near>, std::greater<Near>> queue_;
  double length_ = infinite;  // of the path
};

// Forgets the search before.
void PathSearch::start(Index n) {
  if (distance_.empty()) {
    distance_.assign(at(n), infinite);
    state_.assign(at(n), State::far);
    row_before_.assign(at(n), -1);
  }
  for (const Index j : reached_) {
    state_[at(j)] = State::far;
    distance_[at(j)] = infinite;
  }
  reached_.clear();
  settled_.clear();
  queue_ = {};
  length_ = infinite;
}

Index PathSearch::run(const ReducedCosts& costs, const Pairs& pairs, Index from) {
  start(costs.a.rows());
  Index free = -1, i = from;
  for (double base = 0;;) {
    costs.each_reduced(i, [&](Index j, double reduced) {
      const double length = base + reduced;
      if (state_[at(j)] != State::far || !(length < length_) || !(length < distance_[at(j)])) return;
      if (distance_[at(j)] == infinite) reached_.push_back(j);
      distance_[at(j)] = length;
      row_before_[at(j)] = i;
      if (pairs.row_of_column[at(j)] >= 0) return queue_.push({length, j});
      length_ = length;
      free = j;
    });
    const Index next = nearest();
    if (next < 0) return free < 0 ? close() : free;
    base = distance_[at(next)];
    i = pairs.row_of_column[at(next)];
  }
}

// Settles the nearest column; -1: there is none nearer than the free one.
Index PathSearch::nearest() {
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

// All that were reached are settled.
Index PathSearch::close() {
  for (const Index j : reached_) state_[at(j)] = State::closed;
  reached_.clear();
  return -1;
}

void PathSearch::move_duals(ReducedCosts& costs, const Pairs& pairs, Index from) const {
  costs.u[at(from)] += length_;
  for (const Index j : settled_) {
    const double nearer = length_ - distance_[at(j)];
    costs.v[at(j)] -= nearer;
    costs.u[at(pairs.row_of_column[at(j)])] += nearer;
  }
}

void PathSearch::give_columns_along_the_path(Pairs& pairs, Index free) const {
  for (Index j = free; j >= 0;) {
    const Index i = row_before_[at(j)], before = pairs.column_of_row[at(i)];
    pairs.pair(i, j);
    j = before;
  }
}

// The rows and columns of the searches that found no path. Rows of one have entries in its columns, and in those of
// earlier ones, alone. Later searches do not see its columns, so v_j may be too large for rows that do not belong to
// it. All of its v_j may be lowered if its u_i are raised by as much.
class ClosedGroups {
 public:
  void add(const Pairs& pairs, Index from, const std::vector<Index>& columns) {
    std::vector<Index> rows{from};
    for (const Index j : columns) rows.push_back(pairs.row_of_column[at(j)]);
    rows_.push_back(std::move(rows));
    columns_.push_back(columns);
  }

  // So that c_ij - u_i - v_j >= 0 for all entries again: the last group first, on which those before it depend.
  void settle_duals(ReducedCosts& costs) const;

 private:
  std::vector<std::vector<Index>> rows_, columns_;
};

void ClosedGroups::settle_duals(ReducedCosts& costs) const {
  if (rows_.empty()) return;
  const std::size_t n = at(costs.a.rows()), none = rows_.size();
  std::vector<std::size_t> group_of_column(n, none), group_of_row(n, none);
  for (std::size_t g = 0; g < none; ++g) {
    for (const Index j : columns_[g]) group_of_column[at(j)] = g;
    for (const Index i : rows_[g]) group_of_row[at(i)] = g;
  }
  std::vector<double> by(none, 0);
  const auto look_at_row = [&](Index i) {
    costs.each_entry(i, [&](Index j, double log2) {
      const std::size_t g = group_of_column[at(j)];
      if (g == none || g == group_of_row[at(i)]) return;
      by[g] = std::max(by[g], costs.u[at(i)] + costs.v[at(j)] - (costs.row_max[at(i)] - log2));
    });
  };
  for (Index i = 0; i < costs.a.rows(); ++i) {
    if (group_of_row[at(i)] == none) look_at_row(i);
  }
  for (std::size_t g = none; g-- > 0;) {
    for (const Index j : columns_[g]) costs.v[at(j)] -= by[g];
    for (const Index i : rows_[g]) costs.u[at(i)] += by[g];
    for (const Index i : rows_[g]) look_at_row(i);
  }
}

// Where row i has column j, c_ij - u_i - v_j = 0.
class Matcher {
 public:
  explicit Matcher(const EntrySizes& a) : n_(a.rows()), costs_(a), pairs_(n_) {}

  // Most rows find a column here.
  void match_without_cost() {
    for (Index i = 0; i < n_; ++i) {
      costs_.each_reduced(i, [&](Index j, double reduced) {
        if (reduced <= 0 && !is_matched(i) && pairs_.row_of_column[at(j)] < 0) pairs_.pair(i, j);
      });
    }
    for (Index i = 0; i < n_; ++i) {
      if (!is_matched(i)) change_one_row(i);
    }
  }

  // Gives row i a column along the shortest path to one that is free. If no path leads there, no later matching
  // changes that.
  void augment(Index i) {
    const Index free = search_.run(costs_, pairs_, i);
    if (free < 0) return closed_.add(pairs_, i, search_.closed());
    search_.move_duals(costs_, pairs_, i);
    search_.give_columns_along_the_path(pairs_, free);
  }

  bool is_matched(Index i) const { return pairs_.column_of_row[at(i)] >= 0; }
  bool has_entries(Index i) const { return costs_.has_entries(i); }

  ProductMatching result() {
    closed_.settle_duals(costs_);
    ProductMatching m;
    m.row_log2.resize(at(n_));
    m.column_log2.resize(at(n_));
    for (Index i = 0; i < n_; ++i) {
      m.row_log2[at(i)] = has_entries(i) ? costs_.u[at(i)] - costs_.row_max[at(i)] : 0;
      m.column_log2[at(i)] = costs_.v[at(i)];
      m.matched += is_matched(i) ? 1 : 0;
    }
    m.column_of_row = std::move(pairs_.column_of_row);
    return m;
  }

 private:
  // Takes the column of another row that has a free one without cost.
  void change_one_row(Index i) {
    costs_.each_reduced(i, [&](Index j, double reduced) {
      if (reduced > 0 || is_matched(i)) return;
      const Index other = pairs_.row_of_column[at(j)];
      if (other < 0) return pairs_.pair(i, j);
      Index free = -1;
      costs_.each_reduced(other, [&](Index k, double left) {
        if (left <= 0 && free < 0 && pairs_.row_of_column[at(k)] < 0) free = k;
      });
      if (free < 0) return;
      pairs_.pair(other, free);
      pairs_.pair(i, j);
    });
  }

  Index n_;
  ReducedCosts costs_;
  Pairs pairs_;
  PathSearch search_;
  ClosedGroups closed_;
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

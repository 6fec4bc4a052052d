// SPDX-License-Identifier: Apache-2.0
// ILUT, of which only the pattern is kept: values follow from the factorisation on it, as after a refresh.
#include "precond/incomplete/threshold_fill.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/memory/work_limit.hpp"
#include "precond/incomplete/counted_rows.hpp"
#include "precond/incomplete/pivot.hpp"

namespace newel::detail {
namespace {

// Rows that grow one after the other.
struct GrowingRows {
  std::vector<Offset> begin = {0};
  std::vector<Index> col;
  std::vector<double> val;

  void end_row() { begin.push_back(static_cast<Offset>(col.size())); }
  Sparsity pattern(const Context<Space::host>& ctx) const {
    return counted_rows(
        ctx, static_cast<Index>(begin.size()) - 1, [&](Index i) { return begin[i + 1] - begin[i]; },
        [&](Index i, Index* to) { std::copy(col.begin() + begin[i], col.begin() + begin[i + 1], to); });
  }
};

class Threshold {
 public:
  Threshold(Index n, double drop, std::size_t most)
      : drop_(drop), most_(most), w_(static_cast<std::size_t>(n), 0.0), row_of_(static_cast<std::size_t>(n), -1) {}

  /// Adds an entry of A's row i.
  void put(Index i, Index j, double value) {
    reach(i, j);
    w_[j] = value;
    squares_ += value * value;
    largest_ = std::max(largest_, std::fabs(value));
  }

  /// Eliminates row i, whose entries have been put, and keeps what is large.
  void eliminate(Index i) {
    reach(i, i);
    const double least = drop_ * std::sqrt(squares_);
    std::make_heap(open_.begin(), open_.end(), std::greater<>());
    while (!open_.empty()) {
      std::pop_heap(open_.begin(), open_.end(), std::greater<>());
      const Index k = open_.back();
      open_.pop_back();
      if (!(std::fabs(w_[k]) >= least) || w_[k] == 0) continue;
      lower_.push_back(k);
      for (Offset e = u_.begin[k]; e < u_.begin[k + 1]; ++e) {
        const Index j = u_.col[e];
        const bool open = reach(i, j) && j < i;
        w_[j] -= w_[k] * u_.val[e];
        if (open) std::push_heap(open_.begin(), open_.end(), std::greater<>());
      }
    }
    const double inverse = 1 / bounded_pivot(w_[i], largest_);
    upper_.erase(std::remove_if(upper_.begin(), upper_.end(),
                                [&](Index j) { return !(std::fabs(w_[j]) >= least) || w_[j] == 0; }),
                 upper_.end());
    keep(lower_, l_, 1.0);
    keep(upper_, u_, inverse);
    squares_ = largest_ = 0;
  }

  Triangles patterns(const Context<Space::host>& ctx) const { return {l_.pattern(ctx), u_.pattern(ctx)}; }

 private:
  // Whether column j is new in row i; then it counts as 0.
  bool reach(Index i, Index j) {
    if (row_of_[j] == i) return false;
    row_of_[j] = i;
    w_[j] = 0;
    if (j < i) open_.push_back(j);
    if (j > i) upper_.push_back(j);
    return true;
  }

  // The largest of `columns`, ascending, times `scale`, as a row of `to`.
  void keep(std::vector<Index>& columns, GrowingRows& to, double scale) {
    if (columns.size() > most_) {
      const auto larger = [&](Index x, Index y) {
        const double own = std::fabs(w_[x]), other = std::fabs(w_[y]);
        return own > other || (own == other && x < y);
      };
      std::nth_element(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(most_), columns.end(), larger);
      columns.resize(most_);
    }
    std::sort(columns.begin(), columns.end());
    for (const Index j : columns) {
      to.col.push_back(j);
      to.val.push_back(w_[j] * scale);
    }
    to.end_row();
    columns.clear();
  }

  double drop_;
  std::size_t most_;
  std::vector<double> w_;
  std::vector<Index> row_of_;  ///< the row in which w_ of a column counts
  std::vector<Index> open_;    ///< a heap of columns below the diagonal that remain to be eliminated
  std::vector<Index> lower_, upper_;
  double squares_ = 0, largest_ = 0;
  GrowingRows l_, u_;
};

}  // namespace

template <class T>
Triangles threshold_fill(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                         const std::vector<Index>& old_of_new, const IlutOptions& options) {
  std::vector<Index> new_of_old(old_of_new.size());
  parallel_for(ctx, a.rows, [&](Index i) { new_of_old[old_of_new[i]] = i; });
  const double mean = static_cast<double>(a.nnz()) / std::max<Index>(a.rows, 1);
  const double most = std::clamp(std::ceil(options.fill / 2 * mean), 1.0, static_cast<double>(std::max(a.rows, 1)));
  Threshold rows(a.rows, options.drop, static_cast<std::size_t>(most));
  const WorkLimit& limit = work_limit(ctx);
  for (Index i = 0; i < a.rows; ++i) {
    limit.check();
    for (Offset k = a.row_begin(old_of_new[i]); k < a.row_begin(old_of_new[i] + 1); ++k) {
      rows.put(i, new_of_old[a.col[k]], static_cast<double>(a.val[k]));
    }
    rows.eliminate(i);
  }
  return rows.patterns(ctx);
}

template Triangles threshold_fill(const Context<Space::host>&, const CsrView<double, Space::host>&,
                                  const std::vector<Index>&, const IlutOptions&);
template Triangles threshold_fill(const Context<Space::host>&, const CsrView<float, Space::host>&,
                                  const std::vector<Index>&, const IlutOptions&);

}  // namespace newel::detail

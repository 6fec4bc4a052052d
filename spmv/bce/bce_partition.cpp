// SPDX-License-Identifier: Apache-2.0
// The distribution function and its optimal partition by dynamic programming.
#include "spmv/bce/bce_partition.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <newel/core/parallel.hpp>

namespace newel {
namespace {

constexpr Offset infinite = std::numeric_limits<Offset>::max();

// T(first+1 .. last): the widths number first .. last-1 in one block.
class BlockCost {
 public:
  BlockCost(const WidthDistribution& f, Offset least_rows) : f_(f), least_rows_(least_rows), rows_before_{0} {
    for (const Offset rows : f.rows) rows_before_.push_back(rows_before_.back() + rows);
  }
  Offset operator()(std::size_t first, std::size_t last) const {
    return f_.width[last - 1] * std::max(rows_before_[last] - rows_before_[first], least_rows_);
  }

 private:
  const WidthDistribution& f_;
  Offset least_rows_;
  std::vector<Offset> rows_before_;
};

// At most `most` widths: the ones that are cheapest to store at the width of the next.
WidthDistribution merged(const WidthDistribution& f, std::size_t most) {
  std::vector<std::size_t> candidates(f.size() - 1);
  std::iota(candidates.begin(), candidates.end(), std::size_t{0});
  const auto padding = [&](std::size_t k) { return f.rows[k] * (f.width[k + 1] - f.width[k]); };
  const auto merges = static_cast<std::ptrdiff_t>(f.size() - most);
  std::nth_element(
      candidates.begin(), candidates.begin() + merges - 1, candidates.end(),
      [&](std::size_t a, std::size_t b) { return padding(a) != padding(b) ? padding(a) < padding(b) : a < b; });
  std::vector<char> goes_up(f.size(), 0);
  for (std::ptrdiff_t k = 0; k < merges; ++k) goes_up[candidates[static_cast<std::size_t>(k)]] = 1;
  WidthDistribution result;
  Offset rows = 0;
  for (std::size_t k = 0; k < f.size(); ++k) {
    rows += f.rows[k];
    if (goes_up[k]) continue;
    result.width.push_back(f.width[k]);
    result.rows.push_back(rows);
    rows = 0;
  }
  return result;
}

}  // namespace

WidthDistribution width_distribution(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Index widest) {
  const auto counters = static_cast<std::size_t>(widest) + 1;
  const int shares = std::max(1, std::min(ctx.threads(), a.rows / 4096 + 1));
  std::vector<std::vector<Offset>> counted(static_cast<std::size_t>(shares), std::vector<Offset>(counters, 0));
  parallel_tasks(ctx, shares, [&](int share) {
    std::vector<Offset>& mine = counted[static_cast<std::size_t>(share)];
    const auto end = static_cast<Index>(Offset{a.rows} * (share + 1) / shares);
    for (auto i = static_cast<Index>(Offset{a.rows} * share / shares); i < end; ++i) {
      const Offset width = a.row_begin(i + 1) - a.row_begin(i);
      if (width <= widest) ++mine[static_cast<std::size_t>(width)];
    }
  });
  WidthDistribution f;
  for (std::size_t width = 1; width < counters; ++width) {
    Offset rows = 0;
    for (const auto& of_share : counted) rows += of_share[width];
    if (rows == 0) continue;
    f.width.push_back(static_cast<Index>(width));
    f.rows.push_back(rows);
  }
  return f;
}

Offset partition_cost(const WidthDistribution& f, const std::vector<Index>& bounds, Offset least_rows) {
  const BlockCost cost(f, least_rows);
  Offset total = 0;
  std::size_t first = 0;
  for (const Index bound : bounds) {
    const auto above = std::upper_bound(f.width.begin(), f.width.end(), bound);
    const auto last = static_cast<std::size_t>(above - f.width.begin());
    if (last > first) total += cost(first, last);
    first = last;
  }
  return total;
}

std::vector<Index> optimal_bounds(const WidthDistribution& f, Offset least_rows, std::size_t most_widths) {
  if (f.size() > most_widths) return optimal_bounds(merged(f, most_widths), least_rows, most_widths);
  const BlockCost cost(f, least_rows);
  std::vector<Offset> cheapest(f.size() + 1, 0);
  std::vector<std::size_t> division(f.size() + 1, 0);
  for (std::size_t m = 1; m <= f.size(); ++m) {
    cheapest[m] = infinite;
    for (std::size_t j = 0; j < m; ++j) {
      const Offset q = cheapest[j] + cost(j, m);
      if (q < cheapest[m]) {
        cheapest[m] = q;
        division[m] = j;
      }
    }
  }
  std::vector<Index> bounds;
  for (std::size_t m = f.size(); m > 0; m = division[m]) bounds.push_back(f.width[m - 1]);
  std::reverse(bounds.begin(), bounds.end());
  return bounds;
}

std::vector<Index> optimal_bounds_by_tables(const WidthDistribution& f, Offset least_rows) {
  const std::size_t M = f.size();
  if (M == 0) return {};
  const BlockCost T(f, least_rows);
  std::vector<std::vector<Offset>> C(M + 1, std::vector<Offset>(M + 1, infinite));
  std::vector<std::vector<std::size_t>> D(M + 1, std::vector<std::size_t>(M + 1, 0));
  // Algorithm 1
  for (std::size_t m = 1; m <= M; ++m) C[m][1] = T(0, m);
  for (std::size_t k = 2; k <= M; ++k) {
    for (std::size_t m = k; m <= M; ++m) {
      for (std::size_t j = k - 1; j <= m - 1; ++j) {
        const Offset q = C[j][k - 1] + T(j, m);
        if (q < C[m][k]) {
          C[m][k] = q;
          D[m][k] = j;
        }
      }
    }
  }
  // Algorithm 2
  std::size_t k = 1;
  for (std::size_t candidate = 2; candidate <= M; ++candidate) {
    if (C[M][candidate] < C[M][k]) k = candidate;
  }
  std::vector<Index> bounds(k);
  std::size_t i = M;
  for (std::size_t j = k; j >= 1; --j) {
    bounds[j - 1] = f.width[i - 1];
    i = D[i][j];
  }
  return bounds;
}

}  // namespace newel

// SPDX-License-Identifier: Apache-2.0
// Grote and Huckle's patterns, column by column on the host.
#include "precond/spai/adaptive.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <newel/core/parallel.hpp>
#include "core/memory/work_limit.hpp"
#include "precond/spai/local_problem.hpp"

namespace newel::detail {
namespace {

// What one thread grows patterns with, one problem after the other.
template <class T>
class Grower {
 public:
  Grower(const Context<Space::host>& ctx, const SpaiRows<T>& b, const Sparsity& transposed, double epsilon,
         const AdaptiveLimits& limits)
      : b_(b),
        transposed_(transposed),
        epsilon_(epsilon),
        limits_(limits),
        problem_(ctx, transposed.rows),
        residual_(static_cast<std::size_t>(transposed.rows), 0.0),
        seen_(static_cast<std::size_t>(transposed.rows), false) {}

  // The columns of problem j, ascending.
  const std::vector<Index>& grow(Index j) {
    columns_.assign(1, j);
    while (true) {
      const double norm = solve(j);
      if (norm < 0) {
        columns_ = before_;
        break;
      }
      const bool full = static_cast<Index>(columns_.size()) >= limits_.most_columns;
      const bool grew = norm > epsilon_ && !full && add_best(norm);
      clear_residual();
      if (!grew) break;
    }
    std::sort(columns_.begin(), columns_.end());
    return columns_;
  }

 private:
  // Leaves the residual and returns its norm; -1 for a deficient problem. One that is deficient from the start, by a
  // zero on the diagonal say, has the residual e_j.
  double solve(Index j) {
    const auto count = static_cast<Index>(columns_.size());
    Offset most = 0;
    for (const Index k : columns_) most += b_.end(k) - b_.begin(k);
    const auto rows = static_cast<Index>(std::min<Offset>(most, transposed_.rows));
    problem_.reserve(rows, count, Offset{rows} * (count + 1));
    solution_.assign(columns_.size(), T(0));
    problem_.enter(b_, columns_.data(), count);
    double norm = 1;
    const bool solved = problem_.solve(b_, columns_.data(), count, j, solution_.data(), &norm);
    problem_.leave();
    if (!solved && count > 1) return -1;
    if (!solved) solution_[0] = T(0);
    add_to_residual(j, -1);
    for (Index c = 0; c < count; ++c) {
      const Index k = columns_[c];
      for (Offset e = b_.begin(k); e < b_.end(k); ++e) {
        add_to_residual(b_.col[e], static_cast<double>(solution_[c]) * b_.val[e]);
      }
    }
    return solved ? norm : 1;
  }

  void add_to_residual(Index row, double value) {
    if (residual_[row] == 0) touched_.push_back(row);
    residual_[row] += value;
  }
  void clear_residual() {
    for (const Index row : touched_) residual_[row] = 0;
    touched_.clear();
  }

  // rho_k^2 of every column that meets the residual and is not there yet.
  void judge(double norm) {
    candidates_.clear();
    for (const Index k : columns_) seen_[k] = true;
    for (const Index row : touched_) {
      if (residual_[row] == 0) continue;
      for (Offset e = transposed_.row_ptr[row]; e < transposed_.row_ptr[row + 1]; ++e) {
        const Index k = transposed_.col[e];
        if (seen_[k] || b_.end(k) - b_.begin(k) > SpaiLimits{}.longest_row) continue;
        seen_[k] = true;
        double dot = 0, square = 0;
        for (Offset f = b_.begin(k); f < b_.end(k); ++f) {
          dot += residual_[b_.col[f]] * b_.val[f];
          square += static_cast<double>(b_.val[f]) * b_.val[f];
        }
        candidates_.emplace_back(norm * norm - dot / square * dot, k);
      }
    }
    for (const Index k : columns_) seen_[k] = false;
    for (const auto& candidate : candidates_) seen_[candidate.second] = false;
    const auto useless = [&](const auto& candidate) { return !(candidate.first < norm * norm); };  // NaN too
    candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), useless), candidates_.end());
  }

  bool add_best(double norm) {
    judge(norm);
    if (candidates_.empty()) return false;
    double mean = 0;
    for (const auto& candidate : candidates_) mean += candidate.first / static_cast<double>(candidates_.size());
    std::sort(candidates_.begin(), candidates_.end());
    before_ = columns_;
    const Index room = limits_.most_columns - static_cast<Index>(columns_.size());
    const auto most = static_cast<std::size_t>(std::min(limits_.most_a_step, room));
    for (std::size_t c = 0; c < std::min(most, candidates_.size()); ++c) {
      if (c == 0 || candidates_[c].first <= mean) columns_.push_back(candidates_[c].second);
    }
    return true;
  }

  SpaiRows<T> b_;
  const Sparsity& transposed_;
  double epsilon_;
  AdaptiveLimits limits_;
  LocalProblem<T> problem_;
  std::vector<Index> columns_, before_;
  std::vector<T> solution_;
  std::vector<double> residual_;  ///< of the problem at hand, 0 elsewhere
  std::vector<Index> touched_;    ///< where it may not be 0
  std::vector<bool> seen_;
  std::vector<std::pair<double, Index>> candidates_;
};

// What a piece of the problems found.
struct GrownRows {
  std::vector<Index> lengths, col;
};

}  // namespace

template <class T>
Sparsity adaptive_sparsity(const Context<Space::host>& ctx, const Sparsity& b, Span<const T, Space::host> val,
                           double epsilon, const AdaptiveLimits& limits) {
  const Index n = b.rows;
  const SourcedSparsity transposed = transpose_of(ctx, b.view());
  const SpaiRows<T> rows{b.row_ptr.data(), b.col.data(), val.data};
  std::vector<GrownRows> pieces(static_cast<std::size_t>(std::min<std::int64_t>(n, 8 * ctx.threads())));
  const auto count = static_cast<std::int64_t>(pieces.size());
  const WorkLimit& limit = work_limit(ctx);
  parallel_tasks(ctx, count, [&](std::int64_t p) {
    Grower<T> grower(ctx, rows, transposed.pattern, epsilon, limits);
    const auto last = static_cast<Index>(n * (p + 1) / count);
    for (auto j = static_cast<Index>(n * p / count); j < last; ++j) {
      limit.check();
      const std::vector<Index>& columns = grower.grow(j);
      pieces[p].lengths.push_back(static_cast<Index>(columns.size()));
      pieces[p].col.insert(pieces[p].col.end(), columns.begin(), columns.end());
    }
  });
  Sparsity pattern;
  pattern.rows = pattern.cols = n;
  pattern.row_ptr = Array<Offset, Space::host>(ctx, Offset{n} + 1);
  Index j = 0;
  Offset end = 0;
  pattern.row_ptr[0] = 0;
  for (const GrownRows& piece : pieces) {
    for (const Index length : piece.lengths) pattern.row_ptr[++j] = end += length;
  }
  pattern.col = Array<Index, Space::host>(ctx, end);
  Index* at = pattern.col.begin();
  for (const GrownRows& piece : pieces) at = std::copy(piece.col.begin(), piece.col.end(), at);
  return pattern;
}

template Sparsity adaptive_sparsity(const Context<Space::host>&, const Sparsity&, Span<const double, Space::host>,
                                    double, const AdaptiveLimits&);
template Sparsity adaptive_sparsity(const Context<Space::host>&, const Sparsity&, Span<const float, Space::host>,
                                    double, const AdaptiveLimits&);

}  // namespace newel::detail

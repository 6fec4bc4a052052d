// SPDX-License-Identifier: Apache-2.0
// SPAI's numeric phase on the host: a thread takes problem after problem.
#include "precond/spai/local_problem.hpp"

#include <atomic>

#include <newel/core/parallel.hpp>
#include "core/memory/work_limit.hpp"

namespace newel::detail {

template <class T>
class SpaiScratch<T, Space::host> {
 public:
  SpaiScratch(const Context<Space::host>& ctx, const SpaiLayout& layout) {
    const Index n = layout.most_columns > 1 ? layout.pattern.rows : 0;
    // A problem's size is known; the room for the threads that may come is made here, not in a refresh.
    for (int thread = 0; thread < ctx.threads(); ++thread) {
      threads.emplace_back(ctx, n);
      threads.back().reserve(layout.most_rows, layout.most_columns, layout.most_values);
    }
  }
  std::vector<LocalProblem<T>> threads;
};

template <class T>
SpaiScratchPtr<T, Space::host> make_spai_scratch(const Context<Space::host>& ctx, const SpaiLayout& layout) {
  return std::make_shared<SpaiScratch<T, Space::host>>(ctx, layout);
}

template <class T>
std::size_t bytes_of(const SpaiScratch<T, Space::host>& scratch) {
  std::size_t total = 0;
  for (const auto& problem : scratch.threads) total += problem.bytes();
  return total;
}

namespace {

template <class T>
LocalResult solve_one(const SpaiView<T>& a, const SpaiRows<T>& b, Index j, LocalProblem<T>& problem) {
  const Offset begin = a.row_ptr[j];
  const auto columns = static_cast<Index>(a.row_ptr[j + 1] - begin);
  const Index* const k = a.col + begin;
  T* const solution = a.val + begin;
  if (a.touched[j] == 0 && columns == 1) return solve_diagonal(b, j, solution);
  LocalResult result;
  problem.enter(b, k, columns);
  const bool solved = problem.solve(b, k, columns, j, solution, &result.residual);
  problem.leave();
  if (solved) return result;
  T value;
  result = solve_diagonal(b, j, &value);
  result.fell_back = true;
  for (Index c = 0; c < columns; ++c) solution[c] = k[c] == j ? value : T(0);
  return result;
}

}  // namespace

template <class T>
void solve_spai_rows(const Context<Space::host>& ctx, const SpaiView<T>& a, Index first, Index count,
                     SpaiScratch<T, Space::host>& scratch) {
  const SpaiRows<T> b{a.b_row_ptr, a.b_col, a.b_val};
  const int threads = std::min(ctx.threads(), static_cast<int>(scratch.threads.size()));
  std::atomic<unsigned long long> fallbacks{0};
  const WorkLimit& limit = work_limit(ctx);
  parallel_blocks(
      ctx, count, 32,
      [&](Index k, int member) {
        limit.check();
        const Index j = first + k;
        const LocalResult result = solve_one(a, b, j, scratch.threads[static_cast<std::size_t>(member)]);
        a.residual[j] = result.residual;
        if (result.fell_back) fallbacks.fetch_add(1, std::memory_order_relaxed);
      },
      threads);
  const double worst = parallel_max(ctx, count, 0.0, [&](Index k) { return a.residual[first + k]; });
  *a.verdict = {fallbacks, worst};
}

template <class T>
void solve_spai(const Context<Space::host>& ctx, const SpaiView<T>& a, SpaiScratch<T, Space::host>& scratch) {
  solve_spai_rows(ctx, a, 0, a.problems, scratch);
}

#define X(T)                                                                                                    \
  template SpaiScratchPtr<T, Space::host> make_spai_scratch<T>(const Context<Space::host>&, const SpaiLayout&); \
  template std::size_t bytes_of(const SpaiScratch<T, Space::host>&);                                            \
  template void solve_spai_rows(const Context<Space::host>&, const SpaiView<T>&, Index, Index,                  \
                                SpaiScratch<T, Space::host>&);                                                  \
  template void solve_spai(const Context<Space::host>&, const SpaiView<T>&, SpaiScratch<T, Space::host>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail

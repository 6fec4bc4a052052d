// SPDX-License-Identifier: Apache-2.0
// Batches on the threads of the host: each takes groups of eight systems.
#include <algorithm>
#include <limits>

#include <newel/core/parallel.hpp>
#include "core/vectors/wide_host.hpp"
#include "solver/batched/batched_bicgstab.hpp"
#include "solver/batched/batched_cg.hpp"
#include "solver/batched/batched_methods.hpp"
#include "solver/batched/lane_team.hpp"

namespace newel::detail {
namespace {

constexpr std::int64_t most_group_bytes = 16 << 20;  // beyond, an ordinary solve with all threads is as fast

template <class T>
std::int64_t group_bytes(const Pattern<Space::host>& pattern, const BatchedLimits& limits,
                         const BatchedFsaiPattern& fsai, const BatchedNeeds& needs) {
  const LaneMemory memory(pattern.rows, pattern.nnz(), needs.own_vectors, limits, fsai, needs.has_basis);
  return static_cast<std::int64_t>(memory.bytes<T>());
}

std::int64_t groups_of(Index systems) { return (std::int64_t{systems} + batched_lanes - 1) / batched_lanes; }

}  // namespace

MirrorPositions mirror_positions(const Pattern<Space::host>& a) {
  MirrorPositions result;
  result.transposed.assign(static_cast<std::size_t>(a.nnz()), -1);
  result.diagonal.assign(static_cast<std::size_t>(a.rows), -1);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_begin(i); e < a.row_begin(i + 1); ++e) {
      const Index j = a.col[e];
      if (i == j) result.diagonal[static_cast<std::size_t>(i)] = static_cast<Index>(e);
      const Index* const first = a.col.data + a.row_begin(j);
      const Index* const last = a.col.data + a.row_begin(j + 1);
      const Index* const found = std::lower_bound(first, last, i);
      if (found != last && *found == i)
        result.transposed[static_cast<std::size_t>(e)] = static_cast<Index>(found - a.col.data);
    }
  }
  return result;
}

template <class T>
BatchedWork<T, Space::host>::BatchedWork(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern,
                                         const BatchedLimits& limits, const BatchedNeeds& needs)
    : ctx_(ctx),
      pattern_(pattern),
      fsai_(limits.inverse == BatchedInverse::fsai ? BatchedFsaiPattern(pattern) : BatchedFsaiPattern()),
      bytes_(group_bytes<T>(pattern, limits, fsai_, needs)) {
  if (fits()) mirror_ = mirror_positions(pattern);
}

template <class T>
bool BatchedWork<T, Space::host>::fits() const {
  return bytes_ <= most_group_bytes;
}

template <class T>
void BatchedWork<T, Space::host>::reserve(Index systems) {
  const auto members = static_cast<int>(std::min<std::int64_t>(ctx_.threads(), groups_of(systems)));
  if (members <= members_) return;
  memory_ = Array<char, Space::host>(ctx_, members * bytes_);
  members_ = members;
}

template <class T>
void BatchedWork<T, Space::host>::mark_definite(const BatchedProblem<T>& problem, unsigned char* is_definite) {
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  parallel_blocks(ctx_, problem.systems, 8, [&](Index s) {
    const T* const a = problem.values + s * problem.nonzeros;
    bool holds =
        std::all_of(mirror_.diagonal.begin(), mirror_.diagonal.end(), [&](Index at) { return at >= 0 && a[at] > 0; });
    for (std::size_t e = 0; e < mirror_.transposed.size() && holds; ++e) {
      const Index other = mirror_.transposed[e];
      holds = other >= 0 ? same_up_to_rounding(a[e], a[other], epsilon) : a[e] == 0;
    }
    is_definite[s] = holds ? 1 : 0;
    problem.outcome[s] = {};
  });
}

template <class Method, class T>
void attempt_on_lanes(BatchedWork<T, Space::host>& work, const BatchedProblem<T>& problem) {
  std::vector<Index> taken;
  for (Index s = 0; s < problem.systems; ++s) {
    if (problem.takes(s)) taken.push_back(s);
  }
  const LaneMemory need(problem.rows, problem.nonzeros, Method::own_vectors, problem.limits, work.fsai(),
                        Method::has_basis);
  const auto count = static_cast<std::int64_t>(taken.size());
  const auto solve = [&](std::int64_t group, int member) {
    const std::int64_t first = group * batched_lanes;
    const Span<const Index, Space::host> systems(taken.data() + first,
                                                 std::min<std::int64_t>(batched_lanes, count - first));
    with_wide_vectors([&] {
      LaneTeam<T> team(problem, work.pattern(), work.fsai(), need, work.memory(member), systems);
      solve_group<Method>(team);
    });
  };
  parallel_tasks(work.context(), groups_of(static_cast<Index>(count)), solve, work.members());
}

#define X(T)                                                                                               \
  template class BatchedWork<T, Space::host>;                                                              \
  template void attempt_on_lanes<BatchedCg>(BatchedWork<T, Space::host>&, const BatchedProblem<T>&);       \
  template void attempt_on_lanes<BatchedBicgstab>(BatchedWork<T, Space::host>&, const BatchedProblem<T>&); \
  template void attempt_on_lanes<BatchedGmres>(BatchedWork<T, Space::host>&, const BatchedProblem<T>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail

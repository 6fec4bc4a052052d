// SPDX-License-Identifier: Apache-2.0
// From A's pattern to that of G, and its rows sorted by the size of their local problems.
#include "precond/fsai/fsai_pattern.hpp"

#include <algorithm>
#include <utility>

namespace newel::detail {

namespace {

FsaiPattern with_lower(const Context<Space::host>& ctx, const Pattern<Space::host>& a) {
  FsaiPattern result;
  result.lower = lower_of(ctx, a);
  return result;
}

}  // namespace

FsaiPattern make_fsai_pattern(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                              const Sparsity* thresholded, int power) {
  FsaiPattern result = with_lower(ctx, a);
  result.g_is_lower = thresholded == nullptr && power == 1;
  if (!result.g_is_lower) {
    result.wider = power_of(ctx, thresholded == nullptr ? a : thresholded->view(), power, Triangle::lower);
  }
  result.transpose = transpose_of(ctx, result.g().view());
  return result;
}

FsaiPattern make_fsai_pattern(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Sparsity given) {
  FsaiPattern result = with_lower(ctx, a);
  result.g_is_lower = false;
  result.wider = std::move(given);
  result.transpose = transpose_of(ctx, result.g().view());
  return result;
}

std::vector<Index> fsai_limits(const Machine& machine) {
  if (!machine.device()) return {};
  const auto doubles = static_cast<std::int64_t>(machine.cache_bytes / sizeof(double));
  std::vector<Index> limits;
  for (const Index limit : {24, 32, 48, 64, 96, 128}) {
    if (fsai_scratch_length(limit) <= doubles) limits.push_back(limit);
  }
  Index largest = limits.empty() ? 1 : limits.back();
  while (fsai_scratch_length(largest + 1) <= doubles) ++largest;
  if (limits.empty() || largest > limits.back()) limits.push_back(largest);
  return limits;
}

std::vector<FsaiClass> make_fsai_classes(const std::vector<Index>& limits, Offset longest,
                                         const std::vector<Index>& counts) {
  std::vector<FsaiClass> classes;
  Index begin = 0;
  for (std::size_t k = 0; k <= limits.size(); ++k) {
    classes.push_back({k < limits.size() ? limits[k] : static_cast<Index>(longest), begin, begin + counts[k]});
    begin += counts[k];
  }
  return classes;
}

FsaiScratch fsai_scratch(const Machine& machine, const std::vector<FsaiClass>& classes, Offset longest) {
  constexpr std::int64_t most_doubles = std::int64_t{32} << 20;  // 256 MiB, or one local problem
  constexpr std::int64_t apart = 16;                             // doubles of two lines, which are fetched together
  const FsaiClass& last = classes.back();
  const std::int64_t pieces = last.end - last.begin;
  if (pieces == 0) return {};
  FsaiScratch scratch;
  scratch.length = fsai_scratch_length(longest);
  if (machine.device()) {
    scratch.groups = std::clamp<std::int64_t>(most_doubles / scratch.length, 1, 2 * machine.processors);
  } else {
    scratch.groups = machine.processors;
    scratch.length =
        ((scratch.length + longest) / apart + 2) * apart;  // small problems of two threads share no cache line
  }
  scratch.groups = std::min(scratch.groups, pieces);
  return scratch;
}

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// Groups around tied nodes, and what is nearest to each of their nodes.
#include "precond/amg/setup/tied_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"
#include "core/vectors/wide_host.hpp"
#include "precond/amg/blocks/pattern_rows.hpp"
#include "precond/amg/setup/strength.hpp"

namespace newel::detail {
namespace {

bool coupled(const HostBlockCsr& a, Offset k) {
  return std::any_of(a.block(k), a.block(k + 1), [](double value) { return value != 0; });
}

// The tied nodes and their neighbours.
std::vector<unsigned char> with_neighbours(const HostBlockCsr& a, const std::vector<unsigned char>& tied) {
  std::vector<unsigned char> result = tied;
  for (Index i = 0; i < a.pattern.rows; ++i) {
    for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1] && tied[i]; ++k) {
      if (coupled(a, k)) result[a.pattern.col[k]] = 1;
    }
  }
  return result;
}

// Which nodes are in groups; nothing where there is no pattern of groups.
std::vector<unsigned char> members_of_groups(const HostContext& ctx, const HostBlockCsr& a,
                                             const std::vector<double>& diagonal) {
  for (const double coupling : tied_couplings(a.row_block)) {
    const std::vector<unsigned char> tied = tied_nodes(ctx, a, diagonal, coupling);
    const Offset count = std::count(tied.begin(), tied.end(), 1);
    if (count == 0) break;
    if (few_are_tied(count, a.pattern.rows)) return with_neighbours(a, tied);
  }
  return {};
}

// How each block of a member's row ties it to another member, 0 where it does not; without values elsewhere.
Array<float, Space::host> ties_between(const HostContext& ctx, const HostBlockCsr& a,
                                       const std::vector<double>& diagonal,
                                       const std::vector<unsigned char>& member) {
  Array<float, Space::host> ties(ctx, a.pattern.blocks());
  parallel_blocks(ctx, a.pattern.rows, 512, [&](Index i) {
    for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1] && member[i]; ++k) {
      const Index j = a.pattern.col[k];
      ties[k] = member[j] && coupled(a, k) ? tie_of(squared_norm(a, k), diagonal[i] * diagonal[j]) : 0;
    }
  });
  return ties;
}

// Nodes of a group, each time the one with the largest sum of paths that lead to it over those before.
class Nearest {
 public:
  Nearest(const HostBlockPattern& a, const Array<float, Space::host>& ties, Index most)
      : a_(a), ties_(ties), place_(static_cast<std::size_t>(a.rows), not_met), most_(most) {}

  // No more than `most`; valid until the next call.
  const std::vector<Index>& to(Index node) {
    for (const Index old : met_) place_[old] = not_met;
    met_.clear();
    waiting_.clear();
    paths_.clear();
    found_.clear();
    add_paths(node, 1, 1);
    while (!waiting_.empty() && static_cast<Index>(found_.size()) < most_) {
      const Index i = nearest();
      const float before = from_bits(paths_[place_[i]]);
      stop_waiting(i);
      found_.push_back(i);
      for (Offset k = a_.row_ptr[i]; k < a_.row_ptr[i + 1]; ++k) {
        if (ties_[k] > 0) add_paths(a_.col[k], before, ties_[k]);
      }
    }
    return found_;
  }

 private:
  static constexpr int not_met = -1, found = -2;

  // Sums are not negative, so they are in the order of their bits, in which many are compared at once.
  static float from_bits(std::int32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  static std::int32_t bits_of(float value) {
    std::int32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }

  // Of equal ones the first.
  Index nearest() const {
    constexpr Index none = std::numeric_limits<Index>::max();
    Index first = none;
    with_wide_vectors([&] {
      std::int32_t largest = 0;
      for (const std::int32_t paths : paths_) largest = std::max(largest, paths);
      Index least = none;
      for (std::size_t k = 0; k < paths_.size(); ++k) {
        least = std::min(least, paths_[k] == largest ? waiting_[k] : none);
      }
      first = least;
    });
    return first;
  }

  void stop_waiting(Index i) {
    const int at = std::exchange(place_[i], found);
    if (waiting_.back() != i) place_[waiting_.back()] = at;
    waiting_[at] = waiting_.back();
    paths_[at] = paths_.back();
    waiting_.pop_back();
    paths_.pop_back();
  }

  void add_paths(Index node, float before, float tie) {
    int& at = place_[node];
    if (at == found || (at == not_met && static_cast<int>(met_.size()) == most_met(most_))) return;
    if (at == not_met) {
      at = static_cast<int>(waiting_.size());
      met_.push_back(node);
      waiting_.push_back(node);
      paths_.push_back(0);
    }
    paths_[at] = bits_of(with_paths_over(from_bits(paths_[at]), before, tie));
  }

  const HostBlockPattern& a_;
  const Array<float, Space::host>& ties_;
  std::vector<int> place_;  // of each node among those that wait
  std::vector<Index> met_, waiting_, found_;
  std::vector<std::int32_t> paths_;  // to those that wait
  Index most_;
};

}  // namespace

std::vector<unsigned char> tied_nodes(const HostContext& ctx, const HostBlockCsr& a,
                                      const std::vector<double>& diagonal, double coupling) {
  const HostBlockPattern& pattern = a.pattern;
  std::vector<unsigned char> tied(diagonal.size());
  parallel_blocks(ctx, pattern.rows, 512, [&](Index i) {
    double sum = 0;
    for (Offset k = pattern.row_ptr[i]; k < pattern.row_ptr[i + 1]; ++k) {
      const double scale = diagonal[i] * diagonal[pattern.col[k]];
      if (pattern.col[k] != i && scale != 0) sum += squared_norm(a, k) / scale;
    }
    tied[i] = reaches(sum, coupling) ? 1 : 0;
  });
  return tied;
}

Index reached_rows(Index rows, Index members) {
  constexpr double operations = 5000, least = 48;
  return static_cast<Index>(
      std::clamp(std::cbrt(3 * operations * rows / std::max<Index>(1, members)), least, double{most_reached}));
}

std::optional<HostBlockPattern> tied_pattern(const HostContext& ctx, const HostBlockCsr& a) {
  const std::vector<double> diagonal = diagonal_norms(ctx, a);
  const std::vector<unsigned char> member = members_of_groups(ctx, a, diagonal);
  if (member.empty()) return std::nullopt;
  const Index most = reached_nodes(a, static_cast<Index>(std::count(member.begin(), member.end(), 1)));
  const Array<float, Space::host> ties = ties_between(ctx, a, diagonal, member);
  PerThread<Nearest> nearest(ctx);
  const HostBlockPattern groups = pattern_by_rows(
      ctx, a.pattern.rows, a.pattern.cols, [&](Index i, int team_member, std::vector<Index>& columns) {
        if (!member[i]) return columns.push_back(i);
        const std::vector<Index>& group = nearest.of(team_member, a.pattern, ties, most).to(i);
        const auto first = static_cast<std::ptrdiff_t>(columns.size());
        columns.insert(columns.end(), group.begin(), group.end());
        std::sort(columns.begin() + first, columns.end());
      });
  return united(ctx, groups, transpose(ctx, groups).pattern);
}

}  // namespace newel::detail

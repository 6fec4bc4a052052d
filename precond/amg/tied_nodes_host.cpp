// SPDX-License-Identifier: Apache-2.0
// Groups around tied nodes, and what is nearest to each of their nodes.
#include <purlin/precond/amg/tied_nodes.hpp>

#include <algorithm>
#include <cmath>

#include <purlin/core/parallel.hpp>
#include <purlin/core/per_thread.hpp>
#include <purlin/precond/amg/pattern_rows.hpp>
#include <purlin/precond/amg/strength.hpp>

namespace purlin::detail {
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
      : a_(a), ties_(ties), met_at_(static_cast<std::size_t>(a.rows), -1), most_(most) {}

  // No more than `most`; valid until the next call.
  const std::vector<Index>& to(Index node) {
    for (const Met& old : met_) met_at_[old.node] = -1;
    met_.clear();
    heap_.clear();
    found_.clear();
    add_paths(node, 1, 1);
    while (!heap_.empty() && static_cast<Index>(found_.size()) < most_) {
      std::pop_heap(heap_.begin(), heap_.end(), is_farther);
      const Met nearest = heap_.back();
      heap_.pop_back();
      if (met_[met_at_[nearest.node]].paths < 0) continue;  // found before, when more paths were known
      met_[met_at_[nearest.node]].paths = -1;
      found_.push_back(nearest.node);
      for (Offset k = a_.row_ptr[nearest.node]; k < a_.row_ptr[nearest.node + 1]; ++k) {
        if (ties_[k] > 0) add_paths(a_.col[k], nearest.paths, ties_[k]);
      }
    }
    return found_;
  }

 private:
  struct Met {
    Index node;
    float paths;  // < 0 once it is found
  };
  static bool is_farther(const Met& a, const Met& b) {
    return a.paths < b.paths || (a.paths == b.paths && a.node > b.node);
  }

  void add_paths(Index node, float before, float tie) {
    int& at = met_at_[node];
    if (at < 0) {
      if (met_.size() == most_met) return;
      at = static_cast<int>(met_.size());
      met_.push_back({node, 0});
    }
    Met& met = met_[at];
    if (met.paths < 0) return;
    met.paths = with_paths_over(met.paths, before, tie);
    heap_.push_back(met);
    std::push_heap(heap_.begin(), heap_.end(), is_farther);
  }

  const HostBlockPattern& a_;
  const Array<float, Space::host>& ties_;
  std::vector<int> met_at_;  // of each node, -1 for those that are not met
  std::vector<Met> met_, heap_;
  std::vector<Index> found_;
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

}  // namespace purlin::detail

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

// How each block of a member's row ties it to another member; without values elsewhere.
std::vector<Tie> ties_between(const HostContext& ctx, const HostBlockCsr& a, const std::vector<double>& diagonal,
                              const std::vector<unsigned char>& member) {
  std::vector<Tie> ties(static_cast<std::size_t>(a.pattern.blocks()), Tie::none);
  parallel_blocks(ctx, a.pattern.rows, 512, [&](Index i) {
    for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1] && member[i]; ++k) {
      const Index j = a.pattern.col[k];
      if (member[j] && coupled(a, k)) ties[k] = tie_of(squared_norm(a, k), diagonal[i] * diagonal[j]);
    }
  });
  return ties;
}

// Nodes of a group by their distance from one of them along strong ties, then along any, nearest first, of equal ones
// those that were met first.
class Nearest {
 public:
  Nearest(const HostBlockPattern& a, const std::vector<Tie>& ties, Index most)
      : a_(a), ties_(ties), seen_(static_cast<std::size_t>(a.rows), 0), most_(most) {}

  // No more than `most`; valid until the next call.
  const std::vector<Index>& to(Index node) {
    for (const Index old : found_) seen_[old] = 0;
    found_.assign(1, node);
    seen_[node] = 1;
    for (const Tie weakest : {Tie::strong, Tie::weak}) {
      for (std::size_t next = 0; next < found_.size() && !full(); ++next) add_neighbours(found_[next], weakest);
    }
    return found_;
  }

 private:
  bool full() const { return found_.size() >= static_cast<std::size_t>(most_); }
  void add_neighbours(Index i, Tie weakest) {
    for (Offset k = a_.row_ptr[i]; k < a_.row_ptr[i + 1] && !full(); ++k) {
      const Index j = a_.col[k];
      if (ties_[k] < weakest || seen_[j]) continue;
      seen_[j] = 1;
      found_.push_back(j);
    }
  }

  const HostBlockPattern& a_;
  const std::vector<Tie>& ties_;
  std::vector<unsigned char> seen_;
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
  const std::vector<Tie> ties = ties_between(ctx, a, diagonal, member);
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

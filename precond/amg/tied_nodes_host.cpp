// SPDX-License-Identifier: Apache-2.0
// Groups around tied nodes, and what is nearest to each of their nodes.
#include <purlin/precond/amg/tied_nodes.hpp>

#include <algorithm>
#include <cmath>

#include <purlin/config.hpp>
#include <purlin/core/parallel.hpp>
#include <purlin/precond/amg/pattern_rows.hpp>
#include <purlin/precond/amg/strength.hpp>

namespace purlin::detail {
namespace {

double norm(const HostBlockCsr& a, Offset k) {
  double sum = 0;
  for (int e = 0; e < a.block_size(); ++e) sum += a.block(k)[e] * a.block(k)[e];
  return std::sqrt(sum);
}

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

// Nodes of a group by their distance from one of them, nearest first, of equal ones those that were met first.
class Nearest {
 public:
  Nearest(const HostBlockCsr& a, const std::vector<unsigned char>& member, Index most)
      : a_(a), member_(member), seen_(member.size(), 0), most_(most) {}

  // No more than `most`; valid until the next call.
  const std::vector<Index>& to(Index node) {
    for (const Index old : found_) seen_[old] = 0;
    found_.assign(1, node);
    seen_[node] = 1;
    for (std::size_t next = 0; next < found_.size() && !full(); ++next) add_neighbours(found_[next]);
    return found_;
  }

 private:
  bool full() const { return found_.size() >= static_cast<std::size_t>(most_); }
  void add_neighbours(Index i) {
    for (Offset k = a_.pattern.row_ptr[i]; k < a_.pattern.row_ptr[i + 1] && !full(); ++k) {
      const Index j = a_.pattern.col[k];
      if (!member_[j] || seen_[j] || !coupled(a_, k)) continue;
      seen_[j] = 1;
      found_.push_back(j);
    }
  }

  const HostBlockCsr& a_;
  const std::vector<unsigned char>& member_;
  std::vector<unsigned char> seen_;
  std::vector<Index> found_;
  Index most_;
};

}  // namespace

std::vector<unsigned char> tied_nodes(const HostContext& ctx, const HostBlockCsr& a) {
  const HostBlockPattern& pattern = a.pattern;
  std::vector<double> diagonal(static_cast<std::size_t>(pattern.rows));
  parallel_for(ctx, pattern.rows, [&](Index i) {
    const Offset at = diagonal_at(pattern, i);
    diagonal[i] = at < 0 ? 0 : norm(a, at);
  });
  std::vector<unsigned char> tied(diagonal.size());
  parallel_blocks(ctx, pattern.rows, 512, [&](Index i) {
    double sum = 0;
    for (Offset k = pattern.row_ptr[i]; k < pattern.row_ptr[i + 1]; ++k) {
      const double scale = diagonal[i] * diagonal[pattern.col[k]];
      const double size = pattern.col[k] == i || scale == 0 ? 0 : norm(a, k);
      sum += size == 0 ? 0 : size * size / scale;
    }
    tied[i] = reaches(sum, tied_coupling) ? 1 : 0;
  });
  return tied;
}

Index reached_rows(Index rows, Index members) {
  constexpr double operations = 5000, least = 64, most = 256;
  return static_cast<Index>(std::clamp(std::cbrt(3 * operations * rows / std::max<Index>(1, members)), least, most));
}

std::shared_ptr<const GivenPattern> tied_pattern(const HostContext& ctx, const HostBlockCsr& a) {
  const std::vector<unsigned char> tied = tied_nodes(ctx, a);
  const auto count = std::count(tied.begin(), tied.end(), 1);
  if (count == 0 || static_cast<double>(count) > most_tied * a.pattern.rows) return nullptr;
  const std::vector<unsigned char> member = with_neighbours(a, tied);
  const auto members = static_cast<Index>(std::count(member.begin(), member.end(), 1));
  const Index most = std::max<Index>(2, reached_rows(a.pattern.rows, members) / a.row_block);
  std::vector<Nearest> nearest(static_cast<std::size_t>(ctx.threads()), Nearest(a, member, most));
  const HostBlockPattern wider = pattern_by_rows(
      ctx, a.pattern.rows, a.pattern.cols, [&](Index i, int team_member, std::vector<Index>& columns) {
        const auto first = static_cast<std::ptrdiff_t>(columns.size());
        columns.insert(columns.end(), a.pattern.col.data() + a.pattern.row_ptr[i],
                       a.pattern.col.data() + a.pattern.row_ptr[i + 1]);
        if (!member[i]) return;
        const std::vector<Index>& group = nearest[static_cast<std::size_t>(team_member)].to(i);
        columns.insert(columns.end(), group.begin(), group.end());
        std::sort(columns.begin() + first, columns.end());
        columns.erase(std::unique(columns.begin() + first, columns.end()), columns.end());
      });
  auto result = std::make_shared<GivenPattern>();
  const int b = a.row_block;
  result->rows = a.scalar_rows();
  result->row_ptr.assign(1, 0);
  result->row_ptr.reserve(static_cast<std::size_t>(result->rows) + 1);
  result->col.reserve(static_cast<std::size_t>(wider.blocks()) * a.block_size());
  for (Index row = 0; row < result->rows; ++row) {
    for (Offset k = wider.row_ptr[row / b]; k < wider.row_ptr[row / b + 1]; ++k) {
      for (int c = 0; c < b; ++c) result->col.push_back(wider.col[k] * b + c);
    }
    result->row_ptr.push_back(static_cast<Offset>(result->col.size()));
  }
  return result;
}

#if PURLIN_HAS_CUDA
std::shared_ptr<const GivenPattern> tied_pattern(const DeviceContext& ctx, const BlockCsr<Space::device>& a) {
  const HostContext& host = host_context(ctx);
  HostBlockCsr copied;
  copied.row_block = a.row_block;
  copied.col_block = a.col_block;
  copied.pattern.rows = a.pattern.rows;
  copied.pattern.cols = a.pattern.cols;
  copied.pattern.row_ptr = Array<Offset, Space::host>(host, a.pattern.row_ptr.size());
  copied.pattern.col = Array<Index, Space::host>(host, a.pattern.col.size());
  copied.val = Array<double, Space::host>(host, a.val.size());
  copy<Offset>(ctx, a.pattern.row_ptr.cspan(), copied.pattern.row_ptr.span());
  copy<Index>(ctx, a.pattern.col.cspan(), copied.pattern.col.span());
  copy<double>(ctx, a.val.cspan(), copied.val.span());
  return tied_pattern(host, copied);
}
#endif

}  // namespace purlin::detail

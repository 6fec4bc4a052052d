// SPDX-License-Identifier: Apache-2.0
// ELL-WARP's arrays: warps are counted group by group, then filled group by group.
#include "spmv/ell_warp/ell_warp_layout.hpp"

#include <utility>
#include <vector>

#include <newel/core/parallel.hpp>
#include "core/threads/row_scratch.hpp"

namespace newel::detail {
namespace {

constexpr Offset no_entry = -1;

int log2_of(Index power) {
  int log = 0;
  while ((Index{1} << log) < power) ++log;
  return log;
}

// Entries of a row, where they go.
struct RowPart {
  Offset begin, end;  // positions in the matrix
  Offset first_slot;  // of the row's first thread
  int k;              // log2 of the row's threads
  Offset steps;
};

class Builder {
 public:
  Builder(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const RowSequence& sequence,
          const EllWarpRules& rules, Span<const Index, Space::host> old_of_new)
      : ctx_(ctx),
        a_(a),
        sequence_(sequence),
        old_of_new_(old_of_new),
        entries_(ctx, old_of_new.empty() ? Pattern<Space::host>() : a) {
    layout_.rules = rules;
    layout_.rows = a.rows;
    layout_.cols = a.cols;
    groups_ = (Offset{sequence.count} + rules.width - 1) / rules.width;
  }

  EllWarpLayout build() {
    count_shared();
    count_warps();
    fill_shared();
    fill_warps();
    return std::move(layout_);
  }

 private:
  Offset length_at(Index position) const {
    const Index row = sequence_.row_at(position);
    return a_.row_begin(row + 1) - a_.row_begin(row);
  }

  // f(first position, rows, k, steps) for each warp of group g.
  template <class F>
  void for_each_warp(Offset g, F&& f) const {
    const EllWarpRules& rules = layout_.rules;
    const auto begin = static_cast<Index>(g * rules.width);
    const auto end = static_cast<Index>(std::min<Offset>(sequence_.count, (g + 1) * rules.width));
    for_each_warp_of_group(
        begin, end, rules.width, rules.threshold, 0, [&](Index p) { return length_at(p); }, f);
  }

  Offset chunk_entries() const { return Offset{layout_.rules.chunk_share} * layout_.rules.width; }

  void count_shared() {
    const Index count = static_cast<Index>(sequence_.shared_row.size());
    layout_.shared_begin = Array<Offset, Space::host>(ctx_, Offset{count} + 1);
    layout_.shared_begin[0] = 0;
    for (Index r = 0; r < count; ++r) {
      const Index row = sequence_.shared_row[r];
      const Offset length = a_.row_begin(row + 1) - a_.row_begin(row);
      layout_.longest = std::max(layout_.longest, length);
      layout_.shared_begin[r + 1] = layout_.shared_begin[r] + (length + chunk_entries() - 1) / chunk_entries();
    }
    layout_.shared_warps = layout_.shared_begin[count];
  }

  void count_warps() {
    warps_before_.assign(static_cast<std::size_t>(groups_) + 1, 0);
    std::vector<Offset> steps(static_cast<std::size_t>(groups_) + 1, 0);
    struct Seen {
      Offset longest;
      bool halved;
    };
    const auto [longest, halved] = parallel_reduce(
        ctx_, groups_, Seen{layout_.longest, false},
        [&](Offset g, Seen& seen) {
          for_each_warp(g, [&](Index first, Index rows, int k, Offset warp_steps) {
            ++warps_before_[g + 1];
            steps[g + 1] += warp_steps;
            seen.halved = seen.halved || k > 0;
            for (Index p = first; p < first + rows; ++p) seen.longest = std::max(seen.longest, length_at(p));
          });
        },
        [](Seen& all, const Seen& seen) {
          all = {std::max(all.longest, seen.longest), all.halved || seen.halved};
        },
        least_groups);
    for (Offset g = 0; g < groups_; ++g) {
      warps_before_[g + 1] += warps_before_[g];
      steps[g + 1] += steps[g];
    }
    layout_.longest = longest;
    layout_.warps = warps_before_[groups_];
    layout_.slot_begin = Array<Offset, Space::host>(ctx_, layout_.shared_warps + layout_.warps + 1);
    layout_.slot_begin[0] = 0;
    place_shared();
    first_slot_ = layout_.slot_begin[layout_.shared_warps];
    steps_before_ = std::move(steps);
    const Offset slots = first_slot_ + steps_before_[groups_] * layout_.rules.width;
    layout_.slot_begin[layout_.shared_warps + layout_.warps] = slots;
    layout_.col = Array<Index, Space::host>(ctx_, slots);
    layout_.slot_source = Array<Offset, Space::host>(ctx_, slots);
    if (halved) {
      layout_.row_begin = Array<Index, Space::host>(ctx_, layout_.warps + 1);
      layout_.row_begin[layout_.warps] = sequence_.count;
      layout_.reductions = Array<std::uint8_t, Space::host>(ctx_, layout_.warps);
    }
  }

  RowPart chunk(Index r, Offset c) const {
    const EllWarpRules& rules = layout_.rules;
    const Index row = sequence_.shared_row[r];
    const Offset begin = a_.row_begin(row) + (c - layout_.shared_begin[r]) * chunk_entries();
    const Offset end = std::min(a_.row_begin(row + 1), begin + chunk_entries());
    return {begin, end, layout_.slot_begin[c], log2_of(rules.width), (end - begin + rules.width - 1) / rules.width};
  }

  void place_shared() {
    for (Index r = 0; r < static_cast<Index>(sequence_.shared_row.size()); ++r) {
      for (Offset c = layout_.shared_begin[r]; c < layout_.shared_begin[r + 1]; ++c) {
        layout_.slot_begin[c + 1] = layout_.slot_begin[c] + chunk(r, c).steps * layout_.rules.width;
      }
    }
  }

  void fill_shared() {
    for (Index r = 0; r < static_cast<Index>(sequence_.shared_row.size()); ++r) {
      const Offset row_begin = a_.row_begin(sequence_.shared_row[r]);
      const std::pair<Index, Offset>* entries =
          sorted_entries(row_begin, a_.row_begin(sequence_.shared_row[r] + 1), 0);
      const Offset begin = layout_.shared_begin[r], end = layout_.shared_begin[r + 1];
      parallel_for(
          ctx_, end - begin,
          [&](Offset c) {
            const RowPart part = chunk(r, begin + c);
            fill(part, entries == nullptr ? nullptr : entries + (part.begin - row_begin));
          },
          least_groups);
    }
  }

  void fill_warps() {
    const Index width = layout_.rules.width;
    const auto fill_group = [&](Offset g, int member) {
      Offset warp = warps_before_[g];
      Offset slot = first_slot_ + steps_before_[g] * width;
      for_each_warp(g, [&](Index first, Index rows, int k, Offset steps) {
        layout_.slot_begin[layout_.shared_warps + warp] = slot;
        if (!layout_.row_begin.empty()) {
          layout_.row_begin[warp] = first;
          layout_.reductions[warp] = static_cast<std::uint8_t>(k);
        }
        for (Index q = 0; q < rows; ++q) {
          const Index row = sequence_.row_at(first + q);
          const Offset begin = a_.row_begin(row), end = a_.row_begin(row + 1);
          fill({begin, end, slot + (Offset{q} << k), k, steps}, sorted_entries(begin, end, member));
        }
        fill_idle(slot, rows << k, steps);
        slot += steps * width;
        ++warp;
      });
    };
    parallel_for(ctx_, groups_, fill_group, least_groups);
  }

  // The entries [begin, end) of a row as (original column, position), sorted; null where they keep their order.
  const std::pair<Index, Offset>* sorted_entries(Offset begin, Offset end, int member) {
    if (old_of_new_.empty()) return nullptr;
    auto& row = entries_.of(member);
    row.clear();
    for (Offset e = begin; e < end; ++e) row.emplace_back(old_of_new_[a_.col[e]], e);
    std::sort(row.begin(), row.end());
    return row.data();
  }

  void fill(const RowPart& part, const std::pair<Index, Offset>* entries) {
    const Offset length = part.end - part.begin, threads = Offset{1} << part.k;
    Index col = 0;
    for (Offset e = 0; e < part.steps * threads; ++e) {
      const Offset slot = part.first_slot + (e >> part.k) * layout_.rules.width + (e & (threads - 1));
      const Offset source = e >= length ? no_entry : entries == nullptr ? part.begin + e : entries[e].second;
      if (source != no_entry) col = a_.col[source];
      layout_.col[slot] = col;
      layout_.slot_source[slot] = source;
    }
  }

  // Lanes that have no row.
  void fill_idle(Offset slot, Index lane, Offset steps) {
    const Index width = layout_.rules.width;
    for (Offset j = 0; j < steps && lane < width; ++j) {
      for (Index l = lane; l < width; ++l) {
        layout_.col[slot + j * width + l] = 0;
        layout_.slot_source[slot + j * width + l] = no_entry;
      }
    }
  }

  static constexpr std::int64_t least_groups = 32;  // of a thread: groups of as many rows as a warp has lanes

  const Context<Space::host>& ctx_;
  const Pattern<Space::host>& a_;
  const RowSequence& sequence_;
  Span<const Index, Space::host> old_of_new_;
  RowScratch<std::pair<Index, Offset>> entries_;
  EllWarpLayout layout_;
  Offset groups_ = 0;
  Offset first_slot_ = 0;             // behind those of the shared rows
  std::vector<Offset> warps_before_;  // groups + 1
  std::vector<Offset> steps_before_;  // groups + 1
};

}  // namespace

EllWarpLayout make_ell_warp_layout(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                   const RowSequence& sequence, const EllWarpRules& rules,
                                   Span<const Index, Space::host> old_of_new) {
  return Builder(ctx, a, sequence, rules, old_of_new).build();
}

}  // namespace newel::detail

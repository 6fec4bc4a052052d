// SPDX-License-Identifier: Apache-2.0
// EHYB's arrays in two passes over the parts: what is cached and how wide slices are, then the slots.
#include "spmv/ehyb/ehyb_layout.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "spmv/ehyb/ehyb_layout_rules.hpp"

namespace newel::detail {
namespace {

using HostLayout = EhybLayout<Space::host>;

constexpr Offset padding = -1;

// The pattern in nodes of `block` rows.
class NodePattern {
 public:
  NodePattern(const Pattern<Space::host>& a, int block) : a_(a), block_(block) {}
  Index nodes() const { return a_.rows / block_; }
  Offset first(Index node) const { return a_.row_begin(node * block_); }
  Index count(Index node) const {
    return static_cast<Index>((a_.row_begin(node * block_ + 1) - first(node)) / block_);
  }
  Index column(Index node, Index k) const { return a_.col[first(node) + Offset{k} * block_] / block_; }
  /// Position of row d of the node's k-th block.
  Offset position(Index node, Index k, int d) const { return a_.row_begin(node * block_ + d) + Offset{k} * block_; }

 private:
  const Pattern<Space::host>& a_;
  int block_;
};

// What the first pass finds out about a part.
struct PartInspection {
  Index begin = 0, end = 0;  // nodes
  bool all_cached = false;
  std::vector<Index> halo;
  std::vector<Index> slice_width;
  Offset entries = 0;  // numbers in cached blocks

  bool owns(Index node) const { return node >= begin && node < end; }
  // The place among the cached nodes; -1: not cached.
  Index place(Index node) const {
    if (owns(node)) return node - begin;
    const auto at = std::lower_bound(halo.begin(), halo.end(), node);
    return at != halo.end() && *at == node ? end - begin + static_cast<Index>(at - halo.begin()) : -1;
  }
  bool caches(Index node) const { return all_cached || place(node) >= 0; }
};

struct Inspection {
  std::vector<PartInspection> part;
  std::vector<Index> uncached;  // per node: blocks that read x from outside the cache
  std::vector<char> ejected;    // per node: all its blocks count as uncached
};

// The outside nodes that a part caches: all of them, or those with the most readers where there is no room for all.
std::vector<Index> choose_halo(std::vector<Index> outside, Index room) {
  std::sort(outside.begin(), outside.end());
  std::vector<Index> halo = outside;
  halo.erase(std::unique(halo.begin(), halo.end()), halo.end());
  if (static_cast<Index>(halo.size()) <= room) return halo;
  std::vector<std::pair<Index, Index>> readers;  // -count, node
  for (auto at = outside.begin(); at != outside.end();) {
    const auto next = std::upper_bound(at, outside.end(), *at);
    readers.emplace_back(-static_cast<Index>(next - at), *at);
    at = next;
  }
  std::nth_element(readers.begin(), readers.begin() + room, readers.end());
  halo.clear();
  for (Index k = 0; k < room; ++k) halo.push_back(readers[static_cast<std::size_t>(k)].second);
  std::sort(halo.begin(), halo.end());
  return halo;
}

// The widths of the part's slices; nodes that would make one mostly padding are ejected.
void inspect_slices(const NodePattern& a, const EhybShape& shape, PartInspection& part, Inspection& inspection) {
  std::vector<Index> cached;
  for (Index first = part.begin; first < part.end; first += shape.slice_nodes()) {
    const Index last = std::min(part.end, first + shape.slice_nodes());
    cached.clear();
    Offset entries = 0;
    for (Index node = first; node < last; ++node) {
      cached.push_back(a.count(node) - inspection.uncached[node]);
      entries += cached.back();
    }
    for (;;) {
      const auto widest = std::max_element(cached.begin(), cached.end());
      if (!sticks_out(*widest * shape.block, shape.slice_nodes(), entries * shape.block)) break;
      const Index node = first + static_cast<Index>(widest - cached.begin());
      inspection.ejected[node] = 1;
      inspection.uncached[node] = a.count(node);
      entries -= *widest;
      *widest = 0;
    }
    const Index widest = *std::max_element(cached.begin(), cached.end());
    part.slice_width.push_back((widest + shape.share - 1) / shape.share);
    part.entries += entries * shape.block * shape.block;
  }
}

void inspect_part(const NodePattern& a, const EhybShape& shape, PartInspection& part, Inspection& inspection) {
  std::vector<Index> outside;
  for (Index node = part.begin; node < part.end; ++node) {
    for (Index k = 0; k < a.count(node); ++k) {
      const Index j = a.column(node, k);
      if (!part.owns(j)) outside.push_back(j);
    }
  }
  const std::size_t outside_entries = outside.size();
  const Index room = shape.cached_length / shape.block - (part.end - part.begin);
  if (shape.halo && outside_entries > 0) part.halo = choose_halo(std::move(outside), room);
  part.all_cached = outside_entries == 0 || (shape.halo && static_cast<Index>(part.halo.size()) < room);
  for (Index node = part.begin; node < part.end && !part.all_cached; ++node) {
    for (Index k = 0; k < a.count(node); ++k) inspection.uncached[node] += part.place(a.column(node, k)) < 0;
  }
  inspect_slices(a, shape, part, inspection);
}

Inspection inspect_parts(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern,
                         const std::vector<Index>& part_begin, const EhybShape& shape) {
  const NodePattern a(pattern, shape.block);
  Inspection inspection;
  inspection.uncached.assign(static_cast<std::size_t>(a.nodes()), 0);
  inspection.ejected.assign(static_cast<std::size_t>(a.nodes()), 0);
  inspection.part.resize(part_begin.empty() ? 0 : part_begin.size() - 1);
  for (std::size_t p = 0; p < inspection.part.size(); ++p) {
    inspection.part[p].begin = part_begin[p] / shape.block;
    inspection.part[p].end = part_begin[p + 1] / shape.block;
    check_part(shape, inspection.part[p].begin, inspection.part[p].end);
  }
  parallel_tasks(ctx, static_cast<std::int64_t>(inspection.part.size()), [&](std::int64_t p) {
    inspect_part(a, shape, inspection.part[static_cast<std::size_t>(p)], inspection);
  });
  return inspection;
}

// The rows of the remainder: sliced ones, longest first, and long ones, ascending.
struct Remainder {
  std::vector<Index> sliced;
  std::vector<Index> slice_first = {0};
  std::vector<Index> long_rows;
  Offset long_entries = 0;
};

Remainder split_remainder(const Inspection& inspection, const EhybShape& shape) {
  const auto count = [&](Index row) { return inspection.uncached[row / shape.block] * shape.block; };
  Remainder r;
  for (Index node = 0; node < static_cast<Index>(inspection.uncached.size()); ++node) {
    for (int d = 0; d < shape.block && inspection.uncached[node] > 0; ++d) r.sliced.push_back(node * shape.block + d);
  }
  std::stable_sort(r.sliced.begin(), r.sliced.end(), [&](Index i, Index j) { return count(i) > count(j); });

  // Rows that stick out of the slice that they would begin are long. Once one does not, none behind it does.
  const auto rows = static_cast<Index>(r.sliced.size());
  Index first = 0;
  for (; first < rows; ++first) {
    Offset entries = 0;
    for (Index i = first; i < std::min(rows, first + shape.lanes); ++i) entries += count(r.sliced[i]);
    const Index width = count(r.sliced[first]);
    if (width <= HostLayout::long_row && !sticks_out(width, shape.lanes, entries)) break;
  }
  r.long_rows.assign(r.sliced.begin(), r.sliced.begin() + first);
  r.sliced.erase(r.sliced.begin(), r.sliced.begin() + first);
  std::sort(r.long_rows.begin(), r.long_rows.end());
  for (const Index row : r.long_rows) r.long_entries += count(row);
  for (std::size_t i = 0; i < r.sliced.size(); i += static_cast<std::size_t>(shape.lanes)) {
    r.slice_first.push_back(r.slice_first.back() + count(r.sliced[i]));
  }
  return r;
}

EhybSizes sizes_of(const Inspection& inspection, const Remainder& remainder, const EhybShape& shape, Index rows) {
  EhybSizes sizes;
  sizes.shape = shape;
  sizes.rows = rows;
  for (const PartInspection& part : inspection.part) {
    sizes.block_columns += std::accumulate(part.slice_width.begin(), part.slice_width.end(), Offset{0});
    sizes.halo_nodes += static_cast<Offset>(part.halo.size());
    sizes.cached_entries += part.entries;
  }
  sizes.er_columns = remainder.slice_first.back();
  sizes.long_entries = remainder.long_entries;
  return sizes;
}

// The second pass: slots of the cached blocks.
class BlockFiller {
 public:
  BlockFiller(const Pattern<Space::host>& a, const Inspection& inspection, HostLayout& layout)
      : a_(a, layout.shape.block), inspection_(inspection), layout_(layout) {}

  void fill_part(std::int64_t p) const {
    const EhybPart& part = layout_.part[p];
    const PartInspection& found = inspection_.part[static_cast<std::size_t>(p)];
    std::copy(found.halo.begin(), found.halo.end(), layout_.halo_node.begin() + part.halo_begin);
    const Index nodes = layout_.shape.slice_nodes();
    for (Index s = part.slice_begin; s < part.slice_end; ++s) {
      for (Index i = 0; i < nodes; ++i) fill_node(part, found, s, i);
    }
  }

 private:
  // The blocks of the slice's i-th node in turn, then padding to the end of its lanes.
  void fill_node(const EhybPart& part, const PartInspection& found, Index slice, Index i) const {
    const EhybShape& shape = layout_.shape;
    const Index node = part.node_begin + (slice - part.slice_begin) * shape.slice_nodes() + i;
    const Index first = layout_.slice_first[slice];
    const Index slots = (layout_.slice_first[slice + 1] - first) * shape.share;
    Index place = 0, filled = 0;
    const auto put_next = [&](Index of_node, Index j) {
      put(first + filled / shape.share, i * shape.share + filled % shape.share, place, of_node, j);
      ++filled;
    };
    if (node < part.node_end) {
      place = node - part.node_begin;
      for (Index j = 0; j < a_.count(node) && !inspection_.ejected[node]; ++j) {
        const Index at = found.place(a_.column(node, j));
        if (at < 0) continue;
        place = at;
        put_next(node, j);
      }
    }
    while (filled < slots) put_next(-1, 0);
  }

  // Block slot (k, lane): the j-th block of `node`, or padding for node -1.
  void put(Index k, Index lane, Index place, Index node, Index j) const {
    const int block = layout_.shape.block;
    const Offset lanes = layout_.shape.lanes;
    layout_.column[k * lanes + lane] = static_cast<std::uint16_t>(place);
    for (int d = 0; d < block; ++d) {
      layout_.run_source[(Offset{k} * block + d) * lanes + lane] = node < 0 ? padding : a_.position(node, j, d);
    }
  }

  NodePattern a_;
  const Inspection& inspection_;
  HostLayout& layout_;
};

// The second pass: rows of the remainder.
class RemainderFiller {
 public:
  RemainderFiller(const Pattern<Space::host>& a, const std::vector<Index>& part_begin, const Inspection& inspection,
                  HostLayout& layout)
      : a_(a), part_begin_(part_begin), inspection_(inspection), layout_(layout) {}

  void fill_slice(std::int64_t s) const {
    const Offset lanes = layout_.shape.lanes;
    for (Offset lane = 0; lane < lanes; ++lane) {
      Offset k = layout_.er_slice_first[s];
      Index column = 0;
      const Offset i = s * lanes + lane;
      if (i < layout_.er_row.size()) {
        for_each_entry(layout_.er_row[i], [&](Offset position) {
          column = a_.col[position];
          layout_.er_column[k * lanes + lane] = column;
          layout_.rest_source[k * lanes + lane] = position;
          ++k;
        });
      }
      for (; k < layout_.er_slice_first[s + 1]; ++k) {
        layout_.er_column[k * lanes + lane] = column;
        layout_.rest_source[k * lanes + lane] = padding;
      }
    }
  }

  void fill_long_row(std::int64_t i) const {
    Offset at = layout_.segment_begin[layout_.long_segment[i]];
    for_each_entry(layout_.long_rows[i], [&](Offset position) {
      layout_.long_column[at] = a_.col[position];
      layout_.rest_source[layout_.er_slots + at] = position;
      ++at;
    });
  }

 private:
  // Calls f(position) for the row's entries that are not cached.
  template <class F>
  void for_each_entry(Index row, F&& f) const {
    const auto p = std::upper_bound(part_begin_.begin(), part_begin_.end(), row) - part_begin_.begin() - 1;
    const PartInspection& part = inspection_.part[static_cast<std::size_t>(p)];
    const Index node = row / layout_.shape.block;
    for (Offset k = a_.row_begin(row); k < a_.row_begin(row + 1); ++k) {
      if (inspection_.ejected[node] || !part.caches(a_.col[k] / layout_.shape.block)) f(k);
    }
  }

  const Pattern<Space::host>& a_;
  const std::vector<Index>& part_begin_;
  const Inspection& inspection_;
  HostLayout& layout_;
};

void number_parts(const Context<Space::host>& ctx, const Inspection& inspection, const EhybSizes& sizes,
                  HostLayout& layout) {
  layout.halo_node = Array<Index, Space::host>(ctx, sizes.halo_nodes);
  std::vector<EhybPart> parts;
  std::vector<Index> slice_first = {0};
  EhybPart part{};
  for (const PartInspection& found : inspection.part) {
    part.node_begin = found.begin;
    part.node_end = found.end;
    part.halo_begin = part.halo_end;
    part.halo_end += static_cast<Index>(found.halo.size());
    part.slice_begin = part.slice_end;
    part.slice_end += static_cast<Index>(found.slice_width.size());
    for (const Index width : found.slice_width) slice_first.push_back(slice_first.back() + width);
    parts.push_back(part);
    const Index cached = part.node_end - part.node_begin + part.halo_end - part.halo_begin;
    layout.longest_cache = std::max(layout.longest_cache, cached * layout.shape.block);
  }
  layout.part = make_array(ctx, parts);
  layout.slice_first = make_array(ctx, slice_first);
}

void number_remainder(const Context<Space::host>& ctx, const Inspection& inspection, const Remainder& remainder,
                      HostLayout& layout) {
  layout.er_row = make_array(ctx, remainder.sliced);
  layout.er_slice_first = make_array(ctx, remainder.slice_first);
  layout.er_column = Array<Index, Space::host>(ctx, layout.er_slots);
  layout.long_rows = make_array(ctx, remainder.long_rows);
  layout.long_column = Array<Index, Space::host>(ctx, remainder.long_entries);
  std::vector<Index> first = {0};
  std::vector<Offset> begin;
  Offset at = 0;
  for (const Index row : remainder.long_rows) {
    const Offset end = at + Offset{inspection.uncached[row / layout.shape.block]} * layout.shape.block;
    for (; at < end; at = std::min(end, at + HostLayout::segment)) begin.push_back(at);
    first.push_back(static_cast<Index>(begin.size()));
  }
  begin.push_back(at);
  layout.long_segment = make_array(ctx, first);
  layout.segment_begin = make_array(ctx, begin);
}

}  // namespace

void check_part(const EhybShape& shape, Index begin, Index end) {
  constexpr Index most_places = 65536;  // what 16 bits number
  if (end - begin <= std::min(shape.cached_length / shape.block, most_places)) return;
  throw InputError("a part of " + std::to_string(Offset{end - begin} * shape.block) +
                   " rows does not fit into a cache of " + std::to_string(shape.cached_length) + " entries");
}

std::uint64_t EhybSizes::product_bytes(std::size_t value_bytes) const {
  const Offset lanes = shape.lanes, block = shape.block;
  const Offset numbers = block_columns * lanes * block * block + er_columns * lanes + long_entries;
  const Offset columns = block_columns * lanes * 2 + er_columns * lanes * 4 + long_entries * 4 + halo_nodes * 4;
  const Offset remainder = er_columns * lanes + long_entries;
  const Offset vectors = 2 * Offset{rows} + halo_nodes * block + remainder + (remainder > 0 ? 2 * Offset{rows} : 0);
  return static_cast<std::uint64_t>(columns) + static_cast<std::uint64_t>(numbers + vectors) * value_bytes;
}

EhybSizes measure_ehyb(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                       const std::vector<Index>& part_begin, const EhybShape& shape) {
  const Inspection inspection = inspect_parts(ctx, a, part_begin, shape);
  return sizes_of(inspection, split_remainder(inspection, shape), shape, a.rows);
}

HostLayout make_ehyb_layout(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                            const std::vector<Index>& part_begin, const EhybShape& shape) {
  const Inspection inspection = inspect_parts(ctx, a, part_begin, shape);
  const Remainder remainder = split_remainder(inspection, shape);
  const EhybSizes sizes = sizes_of(inspection, remainder, shape, a.rows);
  HostLayout layout;
  layout.shape = shape;
  layout.nodes = a.rows / shape.block;
  layout.cached_entries = sizes.cached_entries;
  layout.block_slots = sizes.block_columns * shape.lanes * shape.block * shape.block;
  layout.er_slots = sizes.er_columns * shape.lanes;
  number_parts(ctx, inspection, sizes, layout);
  number_remainder(ctx, inspection, remainder, layout);
  layout.column = Array<std::uint16_t, Space::host>(ctx, sizes.block_columns * shape.lanes);
  layout.run_source = Array<Offset, Space::host>(ctx, sizes.block_columns * shape.lanes * shape.block);
  layout.rest_source = Array<Offset, Space::host>(ctx, layout.er_slots + sizes.long_entries);
  const BlockFiller blocks(a, inspection, layout);
  parallel_tasks(ctx, layout.part.size(), [&](std::int64_t p) { blocks.fill_part(p); });
  const RemainderFiller rest(a, part_begin, inspection, layout);
  parallel_tasks(ctx, layout.er_slice_first.size() - 1, [&](std::int64_t s) { rest.fill_slice(s); });
  parallel_tasks(ctx, layout.long_rows.size(), [&](std::int64_t i) { rest.fill_long_row(i); });
  return layout;
}

}  // namespace newel::detail

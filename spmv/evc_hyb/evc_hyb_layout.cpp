// SPDX-License-Identifier: Apache-2.0
// How EVC-HYB's arrays are built: sorting, splitting at warps, sharing out, filling.
#include "spmv/evc_hyb/evc_hyb_layout.hpp"

#include <algorithm>
#include <limits>

#include <newel/core/parallel.hpp>
#include "spmv/cost/row_sharing.hpp"
#include "spmv/plan/stable_buckets.hpp"

namespace newel {
namespace {

using Host = Context<Space::host>;

Offset length_of(const Pattern<Space::host>& a, Index i) { return a.row_begin(i + 1) - a.row_begin(i); }

Offset rounded_up(Offset n, Offset multiple) { return (n + multiple - 1) / multiple * multiple; }

Offset longest_row(const Host& ctx, const Pattern<Space::host>& a) {
  return parallel_max(ctx, a.rows, Offset{0}, [&](Index i) { return length_of(a, i); });
}

bool ascends_by_length(const Host& ctx, const Pattern<Space::host>& a) {
  return parallel_all(ctx, a.rows, [&](Index i) { return i == 0 || length_of(a, i - 1) <= length_of(a, i); });
}

// The rows of the matrix, place by place.
class Places {
 public:
  Places(const Pattern<Space::host>& a, const EvcHybLayout& layout) : a_(a), list_(layout.row_list) {}
  Index row(Index place) const { return list_.empty() ? place : list_[place]; }
  Offset length(Index place) const { return length_of(a_, row(place)); }
  // The first place of a row longer than `length`, from `from` on.
  Index first_above(Offset length, Index from) const {
    Index low = from, high = a_.rows;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (this->length(middle) > length)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

 private:
  const Pattern<Space::host>& a_;
  const Array<Index, Space::host>& list_;
};

// The ELL part: the rows of length L and what the lengths before left over, up to the last multiple of a warp; the
// rest waits for length L + 1.
std::vector<EvcHybRange> split_ell(const Places& places, Index rows, const EvcHybShape& shape, EvcHybLayout& to) {
  std::vector<EvcHybRange> ranges;
  Offset slot = 0;
  for (Index length = 0; length <= shape.longest_ell && to.split < rows; ++length) {
    const Index end = places.first_above(length, to.split) / shape.warp * shape.warp;
    if (end <= to.split) continue;
    ranges.push_back({slot, to.split, 0, length, 1});
    slot += Offset{end - to.split} * length;
    to.split = end;
  }
  to.ell_ranges = static_cast<Index>(ranges.size());
  const Index longest = ranges.empty() ? 0 : ranges.back().length;
  Index block = 0;
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    EvcHybRange& range = ranges[r];
    range.share = std::min(shape.most_rows, 2 * range.length >= longest ? 1 : 4 * range.length >= longest ? 2 : 4);
    range.first_block = block;
    const Index end = r + 1 < ranges.size() ? ranges[r + 1].first_place : to.split;
    const Index threads = (end - range.first_place + range.share - 1) / range.share;
    block += (threads + shape.block_threads - 1) / shape.block_threads;
  }
  ranges.push_back({slot, to.split, block, 0, 0});
  return ranges;
}

// The CSR part: runs of rows with the same power of two of threads, and behind them the rows for several blocks.
void split_csr(const Host& ctx, const Places& places, Index rows, const EvcHybShape& shape,
               std::vector<EvcHybRange> ranges, EvcHybLayout& to) {
  EvcHybRange next = ranges.back();
  ranges.pop_back();
  const auto slots_of = [&](Index place) { return rounded_up(places.length(place), shape.warp); };
  const Index shared_end = places.first_above(shape.reach / shape.warp * shape.warp, to.split);
  to.csr_slot = Array<Offset, Space::host>(ctx, Offset{shared_end} - to.split + 1);
  to.csr_slot[0] = next.first_slot;
  for (Index place = to.split; place < shared_end; ++place) {
    to.csr_slot[place - to.split + 1] = to.csr_slot[place - to.split] + slots_of(place);
  }
  for (Index threads = 1; threads <= shape.block_threads; threads *= 2) {
    const Offset most = Offset{threads} * shape.thread_entries / shape.warp * shape.warp;
    const Index end = threads == shape.block_threads
                          ? shared_end
                          : std::min(shared_end, places.first_above(most, next.first_place));
    if (end == next.first_place) continue;
    next.share = threads;
    ranges.push_back(next);
    const Index rows_a_block = shape.block_threads / threads;
    next.first_block += (end - next.first_place + rows_a_block - 1) / rows_a_block;
    next.first_place = end;
  }
  next.first_slot = to.csr_slot[to.csr_rows()];
  next.share = 0;
  ranges.push_back(next);
  to.range = make_array(ctx, ranges);
  for (Index place = shared_end; place < rows; ++place) {
    to.pieces.append(places.row(place), slots_of(place), shape.reach, shape.warp);
  }
  to.pieces.close();
}

// `count` slots, `stride` apart, for a row of the matrix.
void fill_row(const Pattern<Space::host>& a, Index i, Offset slot, Offset stride, Offset count, EvcHybLayout& to) {
  const Offset begin = a.row_begin(i), length = length_of(a, i);
  for (Offset k = 0; k < count; ++k, slot += stride) {
    to.slot_source[slot] = k < length ? begin + k : Offset{-1};
    to.col[slot] = length == 0 ? 0 : a.col[begin + std::min(k, length - 1)];
  }
}

void fill(const Host& ctx, const Pattern<Space::host>& a, const Places& places, const EvcHybShape& shape,
          EvcHybLayout& to) {
  for (Index r = 0; r < to.ell_ranges; ++r) {
    const EvcHybRange range = to.range[r];
    const Index end = to.range[r + 1].first_place;
    parallel_for(ctx, end - range.first_place, [&](Index k) {
      const Index place = range.first_place + k, slice = k / shape.slice;
      const Offset slot = range.first_slot + Offset{slice} * shape.slice * range.length + place % shape.slice;
      fill_row(a, places.row(place), slot, shape.slice, range.length, to);
    });
  }
  const Index shared_end = to.split + to.csr_rows();
  std::vector<Offset> row_slot(to.csr_slot.begin(), to.csr_slot.end());
  for (Index place = shared_end; place < a.rows; ++place) {
    row_slot.push_back(row_slot.back() + rounded_up(places.length(place), shape.warp));
  }
  parallel_blocks(ctx, a.rows - to.split, 16, [&](Index k) {
    fill_row(a, places.row(to.split + k), row_slot[k], 1, row_slot[k + 1] - row_slot[k], to);
  });
}

}  // namespace

EvcHybShape evc_hyb_shape(const Machine& machine) {
  EvcHybShape shape;
  if (machine.device()) {
    shape.warp = shape.slice = machine.lanes;
  } else {
    shape.slice = machine.lanes;
    shape.reach = 16384;
  }
  return shape;
}

EvcHybShape evc_hyb_shape(const Machine& machine, const RowLengths& lengths, std::size_t value_bytes) {
  EvcHybShape shape = evc_hyb_shape(machine);
  if (!machine.device()) return shape;
  // The kernel's 64 registers leave every second thread out.
  const Index resident = machine.resident_threads / 2;
  detail::SharingChoices choices;
  choices.longest_alone = shape.longest_ell;
  choices.workers = {{8, resident}};
  choices.thread_slots = {shape.thread_entries, 16};
  choices.piece_slots = {shape.reach};
  choices.most_lanes = shape.block_threads;
  choices.granularity = shape.warp;
  const detail::RowSharing sharing = detail::share_rows(lengths, machine, value_bytes, choices);
  shape.longest_ell = sharing.longest_alone;
  shape.thread_entries = sharing.thread_slots;
  Offset short_rows = 0;
  for (const auto& [length, rows] : lengths) short_rows += length <= shape.longest_ell ? rows : 0;
  const Offset threads = Offset{machine.processors} * resident;
  while (shape.most_rows > 1 && short_rows < shape.most_rows * threads) shape.most_rows /= 2;
  return shape;
}

Array<Index, Space::host> rows_by_length(const Context<Space::host>& ctx, const Pattern<Space::host>& a) {
  const auto first_column = [&](Index i) { return length_of(a, i) == 0 ? Offset{0} : Offset{a.col[a.row_begin(i)]}; };
  Array<Index, Space::host> rows = detail::stable_order(ctx, a.rows, a.cols, first_column);
  return detail::stable_order(
      ctx, a.rows, longest_row(ctx, a), [&](Index i) { return length_of(a, i); }, std::move(rows));
}

EvcHybLayout make_evc_hyb_layout(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                 const EvcHybShape& shape, bool as_they_stand) {
  EvcHybLayout layout;
  layout.rows = a.rows;
  if (!as_they_stand || !ascends_by_length(ctx, a)) layout.row_list = rows_by_length(ctx, a);
  const Places places(a, layout);
  split_csr(ctx, places, a.rows, shape, split_ell(places, a.rows, shape, layout), layout);
  const Offset slots = layout.csr_slot[layout.csr_rows()] + layout.pieces.piece_slot.back();
  layout.col = Array<Index, Space::host>(ctx, slots);
  layout.slot_source = Array<Offset, Space::host>(ctx, slots);
  fill(ctx, a, places, shape, layout);
  return layout;
}

}  // namespace newel

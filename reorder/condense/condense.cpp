// SPDX-License-Identifier: Apache-2.0
// The parts of a pattern without its fixing rows.
#include <vector>

#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "reorder/condense/condense.hpp"
#include "reorder/host_pattern.hpp"

namespace newel::detail {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The entries k of rows of the whole matrix, those that `take(i, k)` names, with columns less `first`.
template <class Take>
PartOfMatrix<Space::host> part_of(const Context<Space::host>& ctx, const Pattern<Space::host>& whole,
                                  const Index* rows, Index count, Index cols, const Index* new_of_old, Index first,
                                  const Take& take) {
  PartOfMatrix<Space::host> part{count, cols, Array<Offset, Space::host>(ctx, count + 1), {}, {}};
  const auto each = [&](Index r, const auto& visit) {
    const Index i = rows[r];
    for (Offset k = whole.row_begin(i); k < whole.row_begin(i + 1); ++k) {
      if (take(i, whole.col[k])) visit(k);
    }
  };
  part.row_ptr[0] = 0;
  parallel_for(ctx, count, [&](Index r) {
    Offset entries = 0;
    each(r, [&](Offset) { ++entries; });
    part.row_ptr[r + 1] = entries;
  });
  for (Index r = 0; r < count; ++r) part.row_ptr[r + 1] += part.row_ptr[r];
  part.col = Array<Index, Space::host>(ctx, part.row_ptr[count]);
  Array<Offset, Space::host> positions(ctx, part.row_ptr[count]);
  parallel_for(ctx, count, [&](Index r) {
    Offset next = part.row_ptr[r];
    each(r, [&](Offset k) {
      part.col[next] = new_of_old[at(whole.col[k])] - first;
      positions[next++] = k;
    });
  });
  part.source = make_value_map(ctx, positions.cspan(), whole.nnz());
  return part;
}

PartOfMatrix<Space::host> in_space(const Context<Space::host>&, const Context<Space::host>&,
                                   PartOfMatrix<Space::host> part) {
  return part;
}
template <Space S>
PartOfMatrix<S> in_space(const Context<S>& ctx, const Context<Space::host>& from, PartOfMatrix<Space::host> part) {
  const auto there = [&](const auto& values) { return make_array(ctx, to_vector(from, values.cspan())); };
  const std::vector<Offset> positions = positions_of(from, part.source, part.col.size());
  const Array<Offset, S> uploaded = make_array(ctx, positions);
  return {part.rows, part.cols, there(part.row_ptr), there(part.col),
          make_value_map(ctx, uploaded.cspan(), part.source.source_size)};
}

}  // namespace

template <Space S>
CondensedPattern<S> condensed_pattern(const Context<S>& ctx, const Pattern<S>& a, const FixingRows<S>& rows) {
  const HostPattern on_host(ctx, a);
  const Pattern<Space::host>& whole = on_host.view();
  const std::vector<char> fixes = to_vector(ctx, rows.is_one.cspan());
  const Index n = a.rows, kept = n - rows.count;
  std::vector<Index> old_of_new(at(n)), new_of_old(at(n));
  Index next_kept = 0, next_fixed = kept;
  for (Index i = 0; i < n; ++i) {
    Index& next = fixes[at(i)] != 0 ? next_fixed : next_kept;
    new_of_old[at(i)] = next;
    old_of_new[at(next++)] = i;
  }
  const Context<Space::host>& from = host_context(ctx);
  const auto is_fixed = [&](Index i) { return fixes[at(i)] != 0; };
  const auto part = [&](bool of_fixed, Index cols, Index first, const auto& take) {
    const Index begin = of_fixed ? kept : 0, count = of_fixed ? rows.count : kept;
    return in_space(ctx, from,
                    part_of(from, whole, old_of_new.data() + begin, count, cols, new_of_old.data(), first, take));
  };
  return {make_array(ctx, old_of_new), make_array(ctx, new_of_old),
          part(false, kept, 0, [&](Index, Index j) { return !is_fixed(j); }),
          part(false, rows.count, kept, [&](Index, Index j) { return is_fixed(j); }),
          part(true, rows.count, kept, [&](Index i, Index j) { return i == j; })};
}

#define X(S) \
  template CondensedPattern<S> condensed_pattern(const Context<S>&, const Pattern<S>&, const FixingRows<S>&);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// The permuted pattern of a device matrix, by the host.
#include <purlin/reorder/host_pattern.hpp>
#include <purlin/reorder/permute_pattern.hpp>

namespace purlin::detail {

PermutedPattern<Space::device> permute_pattern(const Context<Space::device>& ctx, const Pattern<Space::device>& a,
                                               Span<const Index, Space::device> old_of_new,
                                               Span<const Index, Space::device> new_of_old) {
  const Context<Space::host> host = host_context(ctx);
  const HostPattern pattern(ctx, a);
  const std::vector<Index> old_here = to_vector(ctx, old_of_new), new_here = to_vector(ctx, new_of_old);
  const PermutedPattern<Space::host> p =
      permute_pattern(host, pattern.view(), Span<const Index, Space::host>(old_here.data(), old_of_new.size),
                      Span<const Index, Space::host>(new_here.data(), new_of_old.size));
  return {make_array(ctx, p.row_ptr.cspan()), make_array(ctx, p.col.cspan()), make_array(ctx, p.source.cspan())};
}

}  // namespace purlin::detail

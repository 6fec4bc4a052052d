// SPDX-License-Identifier: Apache-2.0
// Patterns that are made on the host, brought to where they are needed.
#include <purlin/precond/fsai/fsai_symbolic.hpp>

#include <utility>

#include <purlin/core/instantiate.hpp>
#include <purlin/precond/fsai/fsai_options.hpp>
#include <purlin/reorder/host_pattern.hpp>

namespace purlin::detail {
namespace {

// The array itself, or a copy on the device.
template <class V>
Array<V, Space::host> placed(const Context<Space::host>&, Array<V, Space::host>&& from) {
  return std::move(from);
}
template <class V>
Array<V, Space::device> placed(const Context<Space::device>& ctx, Array<V, Space::host>&& from) {
  return make_array(ctx, from.cspan());
}

template <class T, Space S>
FsaiPattern pattern_on_host(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                            const PrecondOptions& options, const Pattern<S>* whole) {
  const Context<Space::host> host = host_context(ctx);
  const HostPattern on_host(ctx, a);
  const Pattern<Space::host>& of_a = on_host.view();
  if (whole != nullptr) {
    return make_fsai_pattern(host, of_a, lower_of(host, HostPattern(ctx, *whole).view()).pattern);
  }
  const PatternOptions& shape = options.of<PatternOptions>();
  const int power = options.of<FsaiOptions>().power;
  if (shape.pattern != nullptr) {
    return make_fsai_pattern(
        host, of_a,
        given_sparsity(host, *shape.pattern, a.rows, to_vector(ctx, order.new_of_old.cspan()), GivenFold::lower));
  }
  if (shape.drop == 0) return make_fsai_pattern(host, of_a, nullptr, power);
  std::vector<T> downloaded;
  Span<const T, Space::host> values;
  if constexpr (S == Space::host) {
    values = a.val;
  } else {
    downloaded = to_vector(ctx, a.val);
    values = Span<const T, Space::host>(downloaded);
  }
  const Sparsity kept = thresholded(host, CsrView<T, Space::host>(of_a, values), shape.drop);
  return make_fsai_pattern(host, of_a, &kept, power);
}

}  // namespace

template <Space S>
void sort_by_size(const Context<S>& ctx, Span<const Offset, Space::host> g_row_ptr, FsaiSymbolic<S>& result) {
  for (Index i = 0; i + 1 < g_row_ptr.size; ++i) {
    const Offset length = g_row_ptr[i + 1] - g_row_ptr[i];
    result.operations += static_cast<double>(length) * static_cast<double>(length) * static_cast<double>(length) / 3;
    if (length <= result.longest) continue;
    result.longest = length;
    result.longest_row = i;
  }
  result.by_size = make_fsai_classes(host_context(ctx), g_row_ptr, fsai_limits(machine_of(ctx)), result.longest);
}

template <class T, Space S>
FsaiSymbolic<S> make_fsai_symbolic(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                   const PrecondOptions& options, const Pattern<S>* whole) {
  FsaiSymbolic<S> result;
  if constexpr (S == Space::device) {
    const PatternOptions& shape = options.of<PatternOptions>();
    const bool of_a = options.of<FsaiOptions>().power == 1 && shape.drop == 0 && shape.pattern == nullptr;
    if ((of_a || whole != nullptr) && make_lower_symbolic(ctx, a, whole, result)) return result;
    result = {};
  }
  FsaiPattern pattern = pattern_on_host(ctx, a, order, options, whole);
  sort_by_size(ctx, pattern.g().row_ptr.cspan(), result);
  result.a_row_ptr = placed(ctx, std::move(pattern.lower.pattern.row_ptr));
  result.a_col = placed(ctx, std::move(pattern.lower.pattern.col));
  result.a_source = placed(ctx, std::move(pattern.lower.source));
  if (!pattern.g_is_lower) {
    result.g_row_ptr = placed(ctx, std::move(pattern.wider.row_ptr));
    result.g_col = placed(ctx, std::move(pattern.wider.col));
  }
  result.t_row_ptr = placed(ctx, std::move(pattern.transpose.pattern.row_ptr));
  result.t_col = placed(ctx, std::move(pattern.transpose.pattern.col));
  result.t_source = placed(ctx, std::move(pattern.transpose.source));
  return result;
}

#define X(T, S)                                                                                            \
  template FsaiSymbolic<S> make_fsai_symbolic(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&, \
                                              const PrecondOptions&, const Pattern<S>*);
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X
template void sort_by_size(const Context<Space::host>&, Span<const Offset, Space::host>, FsaiSymbolic<Space::host>&);
#if PURLIN_HAS_CUDA
template void sort_by_size(const Context<Space::device>&, Span<const Offset, Space::host>,
                           FsaiSymbolic<Space::device>&);
#endif

}  // namespace purlin::detail

// SPDX-License-Identifier: Apache-2.0
/// What stages of a setup hand to each other, and patterns, on their way between spaces. Internal.
#pragma once

#include <utility>
#include <vector>

#include "precond/amg/blocks/placed_csr.hpp"

namespace newel::detail {

/// Values of either space in that of the context.
template <class T, Space From, Space S>
StageArray<T, S> staged(const Context<S>& ctx, Span<const T, From> values) {
  if constexpr (S == Space::host) {
    return to_vector(ctx, values);
  } else {
    return make_array(ctx, values);
  }
}
template <class T, Space S>
StageArray<T, S> staged(const Context<S>& ctx, const std::vector<T>& values) {
  return staged(ctx, Span<const T, Space::host>(values));
}

/// The first `count` values.
template <class T, Space S>
StageArray<T, S> first_of(const Context<S>& ctx, Span<const T, S> values, std::int64_t count) {
  return staged(ctx, values.subspan(0, count));
}

/// Makes room for `count` values more, which are not set.
template <class T>
void extend(const HostContext&, std::vector<T>& values, std::int64_t count) {
  values.resize(values.size() + static_cast<std::size_t>(count));
}
template <class T, Space S>
void extend(const Context<S>& ctx, Array<T, S>& values, std::int64_t count) {
  Array<T, S> longer(ctx, values.size() + count);
  copy<T>(ctx, values.cspan(), longer.span().subspan(0, values.size()));
  values = std::move(longer);
}

/// The last `count` values.
template <class T, Space S>
Span<T, S> last_of(Span<T, S> values, std::int64_t count) {
  return values.subspan(values.size - count, count);
}

/// Appends values of either space.
template <class Values, class T, Space From, Space S>
void append(const Context<S>& ctx, Values& values, Span<const T, From> more) {
  extend(ctx, values, more.size);
  copy<T>(ctx, more, last_of(span_of(values), more.size));
}

/// A pattern on the host: as it is, or a copy, for which a device is waited for.
template <Space S>
decltype(auto) on_host(const Context<S>& ctx, const BlockPattern<S>& p) {
  if constexpr (S == Space::host) {
    return (p);
  } else {
    HostBlockPattern here;
    here.rows = p.rows;
    here.cols = p.cols;
    here.row_ptr = Array<Offset, Space::host>(host_context(ctx), p.row_ptr.size());
    here.col = Array<Index, Space::host>(host_context(ctx), p.col.size());
    copy<Offset>(ctx, p.row_ptr.cspan(), here.row_ptr.span());
    copy<Index>(ctx, p.col.cspan(), here.col.span());
    return here;
  }
}

/// A pattern of the host in the space of the context.
template <Space S>
BlockPattern<S> in_space(const Context<S>& ctx, HostBlockPattern p) {
  if constexpr (S == Space::host) {
    return p;
  } else {
    return {p.rows, p.cols, make_array(ctx, p.row_ptr.cspan()), make_array(ctx, p.col.cspan())};
  }
}

/// Another matrix with the same blocks.
template <Space S>
BlockCsr<S> copy_of(const Context<S>& ctx, const BlockCsr<S>& a) {
  return {{a.pattern.rows, a.pattern.cols, make_array(ctx, a.pattern.row_ptr.cspan()),
           make_array(ctx, a.pattern.col.cspan())},
          a.row_block,
          a.col_block,
          make_array(ctx, a.val.cspan())};
}

}  // namespace newel::detail

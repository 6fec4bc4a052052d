// SPDX-License-Identifier: Apache-2.0
/// HostPattern: the pattern of a matrix of either space, where setup can read it. Internal.
#pragma once

#include <vector>

#include <newel/core/csr.hpp>

namespace newel::detail {

/// The view itself where the matrix is on the host; else a downloaded copy, for which the stream is waited for.
/// The matrix must outlive it on the host.
class HostPattern {
 public:
  HostPattern(const Context<Space::host>&, const Pattern<Space::host>& pattern) : view_(pattern) {}

  HostPattern(const Context<Space::device>& ctx, const Pattern<Space::device>& pattern) {
    view_.rows = pattern.rows;
    view_.cols = pattern.cols;
    const Context<Space::host> host = host_context(ctx);
    if (pattern.wide()) {
      row_ptr64_ = downloaded(host, ctx, pattern.row_ptr64);
      view_.row_ptr64 = row_ptr64_.cspan();
    } else {
      row_ptr32_ = downloaded(host, ctx, pattern.row_ptr32);
      view_.row_ptr32 = row_ptr32_.cspan();
    }
    col_ = downloaded(host, ctx, pattern.col);
    view_.col = col_.cspan();
  }
  HostPattern(const HostPattern&) = delete;
  HostPattern& operator=(const HostPattern&) = delete;

  const Pattern<Space::host>& view() const { return view_; }

 private:
  template <class V>
  static Array<V, Space::host> downloaded(const Context<Space::host>& host, const Context<Space::device>& ctx,
                                          Span<const V, Space::device> from) {
    Array<V, Space::host> to(host, from.size);
    copy<V>(ctx, from, to.span());
    return to;
  }

  Array<std::int32_t, Space::host> row_ptr32_;
  Array<Offset, Space::host> row_ptr64_;
  Array<Index, Space::host> col_;
  Pattern<Space::host> view_;
};

}  // namespace newel::detail

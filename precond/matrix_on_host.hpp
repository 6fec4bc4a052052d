// SPDX-License-Identifier: Apache-2.0
/// A matrix where the host can read it. Internal.
#pragma once

#include <newel/core/csr.hpp>

namespace newel::detail {

/// The view itself, or of a download that `kept` holds; valid as long as both. Waits on the stream.
template <class T, Space S>
CsrView<T, Space::host> matrix_on_host(const Context<S>& ctx, const CsrView<T, S>& a, Csr<T, Space::host>& kept) {
  if constexpr (S == Space::host) {
    return a;
  } else {
    kept = make_host_csr(host_context(ctx), ctx, a);
    return kept;
  }
}

}  // namespace newel::detail

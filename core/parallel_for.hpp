// SPDX-License-Identifier: Apache-2.0
/// parallel_for: pieces of unequal work over the threads of a host context. Internal.
#pragma once

#include <exception>

#include <purlin/core/context.hpp>

namespace purlin::detail {

/// Calls f(i) for i = 0 .. count - 1, each piece by whichever thread is free. What f throws, running out of memory in
/// its scratch say, is thrown once all have ended; the first one to come.
template <class F>
void parallel_for(const Context<Space::host>& ctx, std::int64_t count, F&& f) {
  std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ctx.threads()) if (count > 1 && ctx.threads() > 1)
  for (std::int64_t i = 0; i < count; ++i) {
    try {
      f(i);
    } catch (...) {
#pragma omp critical(purlin_parallel_for)
      if (failure == nullptr) failure = std::current_exception();
    }
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace purlin::detail

// SPDX-License-Identifier: Apache-2.0
// Jacobi's setup steps on the host.
#include <purlin/core/parallel.hpp>
#include <purlin/core/vector_step_host.hpp>
#include <purlin/precond/jacobi/jacobi.hpp>
#include <purlin/precond/jacobi/jacobi_steps.hpp>

PURLIN_JACOBI_STEPS(PURLIN_SWEEP_HOST)

namespace purlin {

void detail::find_diagonal(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                           Span<std::uint32_t, Space::host> position) {
  with_row_ptr(a, [&](auto row_ptr) {
    parallel_ranges(ctx, a.rows, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        position[i] = static_cast<std::uint32_t>(find_column<Offset>(a.col.data, row_ptr[i], row_ptr[i + 1], i));
      }
    });
  });
}

}  // namespace purlin

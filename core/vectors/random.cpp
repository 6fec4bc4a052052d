// SPDX-License-Identifier: Apache-2.0
// Vectors of the generator's values.
#include "core/vectors/random.hpp"

#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "core/vectors/vector_ops_steps.hpp"

namespace newel::detail {

template <class T, Space S>
void fill_random(const Context<S>& ctx, RandomKind kind, std::uint64_t seed, std::int64_t first, Span<T, S> x) {
  first += first_row(ctx);
  if (kind == RandomKind::sign) return sweep(ctx, x.size, RandomStep<T, RandomKind::sign>(seed, first, x.data));
  sweep(ctx, x.size, RandomStep<T, RandomKind::signed_length>(seed, first, x.data));
}

#define X(T, S) \
  template void fill_random<T, S>(const Context<S>&, RandomKind, std::uint64_t, std::int64_t, Span<T, S>);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

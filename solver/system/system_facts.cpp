// SPDX-License-Identifier: Apache-2.0
// A is multiplied with a constant vector and with random ones.
#include <newel/solver/system_facts.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "core/vectors/instantiate.hpp"
#include "core/vectors/random.hpp"

namespace newel {
namespace {

constexpr std::uint64_t random_products = 3;
// Small vectors do not overflow rows of large entries, large ones do not let small entries vanish.
constexpr double small = 0x1p-20, large = 0x1p30;

void count(RowCount& rows, Index row) {
  if (rows.count++ == 0) rows.first = row;
}

template <class T, Space S>
std::vector<T> product(const Context<S>& ctx, LinearSystem<T, S>& system, const std::vector<T>& x) {
  const Array<T, S> from = make_array(ctx, x);
  Array<T, S> to(ctx, from.size());
  system.multiply(from.cspan(), to.span());
  ctx.synchronize();
  return to_vector(ctx, to.cspan());
}

// A times a vector of ones.
template <class T, Space S>
std::vector<double> row_sums(const Context<S>& ctx, LinearSystem<T, S>& system) {
  const std::vector<T> y = product(ctx, system, std::vector<T>(system.rows(), static_cast<T>(small)));
  std::vector<double> sums(y.begin(), y.end());
  for (double& sum : sums) sum /= small;
  return sums;
}

// About the 2-norms of rows: the largest of a few random products. 0 for rows of zeros alone.
template <class T, Space S>
std::vector<double> row_sizes(const Context<S>& ctx, LinearSystem<T, S>& system) {
  const auto n = static_cast<std::size_t>(system.rows());
  std::vector<double> sizes(n, 0);
  std::vector<T> x(n);
  for (std::uint64_t seed = 0; seed < random_products; ++seed) {
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<T>(large * detail::random_signed_length(seed, i));
    const std::vector<T> y = product(ctx, system, x);
    // NaN where large products of both signs overflow; a row with NaN has sums that are not finite too.
    for (std::size_t i = 0; i < n; ++i) {
      const double size = std::abs(static_cast<double>(y[i]));
      sizes[i] = std::fmax(sizes[i], std::isnan(size) ? HUGE_VAL : size);
    }
  }
  return sizes;
}

template <class T>
void look_at_rows(const std::vector<double>& sums, const std::vector<double>& sizes, SystemFacts& facts) {
  // A random product may come out far smaller than the row's entries.
  constexpr double tolerance = std::is_same_v<T, double> ? 1e-11 : 1e-5;
  bool sum_to_zero = true;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const bool finite = std::isfinite(sums[i]);
    if (!finite) count(facts.not_finite_rows, static_cast<Index>(i));
    if (finite && sizes[i] == 0) count(facts.zero_rows, static_cast<Index>(i));
    sum_to_zero = sum_to_zero && std::isfinite(sizes[i]) && std::abs(sums[i]) <= tolerance * sizes[i] / large;
  }
  facts.rows_sum_to_zero = sum_to_zero && facts.zero_rows.count < static_cast<Index>(sums.size());
}

void take_setup(const SystemDecision& decision, SystemFacts& facts) {
  facts.has_entries = decision.entries > 0;
  if (!decision.traits) return;
  facts.full_diagonal = decision.traits->full_diagonal();
  facts.symmetric = decision.traits->symmetric();
  facts.may_be_definite = facts.symmetric && decision.traits->positive_diagonal();
}

}  // namespace

template <class T, Space S>
std::vector<SystemFacts> facts_of(const Context<S>& ctx, LinearSystem<T, S>& system, Span<const T, S> b,
                                  Index columns) {
  SystemFacts facts;
  facts.rows = system.rows();
  const std::vector<double> sums = row_sums(ctx, system), sizes = row_sizes(ctx, system);
  look_at_rows<T>(sums, sizes, facts);
  take_setup(system.history().decision(), facts);
  facts.zero_columns = system.info().free_unknowns;
  std::vector<SystemFacts> result(static_cast<std::size_t>(columns), facts);
  if (facts.zero_rows.count == 0) return result;
  const std::vector<T> rhs = to_vector(ctx, b);
  for (std::size_t c = 0; c < result.size(); ++c) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 0 && rhs[c * sizes.size() + i] != 0) count(result[c].impossible_rows, static_cast<Index>(i));
    }
  }
  return result;
}

#define X(T, S) \
  template std::vector<SystemFacts> facts_of(const Context<S>&, LinearSystem<T, S>&, Span<const T, S>, Index);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel

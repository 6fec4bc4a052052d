// SPDX-License-Identifier: Apache-2.0
// Facts of a matrix on a device: kernels that count and look for blocks, and one wait for all of them.
#include "core/vectors/instantiate.hpp"
#include "core/csr/matrix_traits_device.hpp"
#include "reorder/partition_device.hpp"
#include "spmv/cost/matrix_facts.hpp"
#include "spmv/cost/matrix_facts_device.hpp"

namespace newel {
namespace {

std::function<PatternFacts()> start_pattern_facts(const Context<Space::device>& ctx,
                                                  const Pattern<Space::device>& pattern,
                                                  detail::SmallResults& results) {
  const auto lengths = detail::start_row_lengths(ctx, pattern, results);
  std::function<int()> block = [] { return 1; };
  if (pattern.rows == pattern.cols && pattern.rows > 0) block = detail::start_node_block(ctx, pattern, results);
  return [=] {
    PatternFacts facts = facts_of_lengths(pattern.rows, pattern.cols, pattern.nnz(), lengths());
    facts.block = block();
    return facts;
  };
}

}  // namespace

PatternFacts pattern_facts(const Context<Space::device>& ctx, const Pattern<Space::device>& pattern) {
  detail::SmallResults results(ctx);
  const auto facts = start_pattern_facts(ctx, pattern, results);
  results.fetch();
  return facts();
}

template <class T>
detail::MatrixFacts detail::matrix_facts(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a) {
  SmallResults results(ctx);
  const auto traits = start_matrix_traits(ctx, a, results);
  const auto pattern = start_pattern_facts(ctx, Pattern<Space::device>(a), results);
  results.fetch();
  return {traits(), pattern()};
}

#define X(T, S) template detail::MatrixFacts detail::matrix_facts(const Context<S>&, const CsrView<T, S>&);
NEWEL_FOR_TYPES(X, Space::device)
#undef X

}  // namespace newel

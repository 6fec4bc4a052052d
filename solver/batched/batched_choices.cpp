// SPDX-License-Identifier: Apache-2.0
// The options of a batch.
#include "solver/batched/batched_choices.hpp"

#include <algorithm>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/matrix_traits.hpp>
#include <newel/core/table.hpp>
#include "solver/batched/inverse/batched_inverse.hpp"

namespace newel::detail {
namespace {

constexpr int most_restart = 100;

struct BatchedPrecond {
  const char* name;
  int block_rows;  ///< of M: 0 for none, -1 for those of the options
  BatchedInverse inverse;
};
constexpr BatchedPrecond batched_preconds[] = {{"none", 0, BatchedInverse::blocks},
                                               {"jacobi", 1, BatchedInverse::blocks},
                                               {"block-jacobi", -1, BatchedInverse::blocks},
                                               {"fsai", 0, BatchedInverse::fsai},
                                               {"ilu", 0, BatchedInverse::ilu}};

void check_range(const char* what, int value, int least, int most) {
  if (value >= least && value <= most) return;
  throw InputError(std::string(what) + " must be from " + std::to_string(least) + " to " + std::to_string(most) +
                   ", not " + std::to_string(value));
}

void check_tolerance(const char* what, double value) {
  if (value >= 0 && value - value == 0) return;
  throw InputError(std::string(what) + " must be a finite number of at least 0, not " + std::to_string(value));
}

const BatchedPrecond& precond_of(const BatchedOptions& options) {
  std::vector<std::string> names;
  for (const BatchedPrecond& line : batched_preconds) {
    names.push_back(line.name);
    if (same_name(line.name, options.precond)) return line;
  }
  refuse_unknown("preconditioner for batches", options.precond, names);
}

int block_rows_of(const BatchedPrecond& line, const Context<Space::host>& ctx, const Pattern<Space::host>& pattern,
                  const BatchedOptions& options) {
  if (line.block_rows >= 0) return line.block_rows;
  return options.block_rows > 0 ? options.block_rows : node_block_size(ctx, pattern);
}

std::vector<PlannedAttempt> attempts_of(const BatchedOptions& options) {
  const std::vector<BatchedMethod>& methods = batched_methods();
  std::vector<std::string> names = {"auto"};
  std::vector<PlannedAttempt> all;
  for (std::size_t k = 0; k < methods.size(); ++k) {
    const int method = static_cast<int>(k);
    if (same_name(methods[k].name, options.solver)) return {{method, BatchedFilter::all}};
    names.emplace_back(methods[k].name);
    const bool restricted = methods[k].demands == Demand::definite;
    all.push_back({method, restricted ? BatchedFilter::symmetric : BatchedFilter::failed});
  }
  if (same_name(options.solver, "auto")) return all;
  refuse_unknown("solver for batches", options.solver, names);
}

}  // namespace

void check_limits(double rel_tol, double abs_tol, int max_iterations) {
  check_tolerance("rel_tol", rel_tol);
  check_tolerance("abs_tol", abs_tol);
  if (max_iterations >= 0) return;
  throw InputError("max_iterations must be 0 or more, not " + std::to_string(max_iterations));
}

BatchedChoices choose(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern,
                      const BatchedOptions& options) {
  check_range("block_rows", options.block_rows, 0, most_batched_block);
  check_range("restart", options.restart, 1, most_restart);
  check_limits(options.rel_tol, options.abs_tol, options.max_iterations);
  BatchedChoices result;
  result.attempts = attempts_of(options);
  const BatchedPrecond& precond = precond_of(options);
  const int restart = std::clamp<int>(options.restart, 1, std::max<Index>(pattern.rows, 1));
  result.limits = {options.max_iterations,
                   options.rel_tol,
                   options.abs_tol,
                   restart,
                   block_rows_of(precond, ctx, pattern, options),
                   precond.inverse};
  for (const PlannedAttempt& attempt : result.attempts) {
    const BatchedNeeds& needs = batched_methods()[static_cast<std::size_t>(attempt.method)].needs;
    result.needs.own_vectors = std::max(result.needs.own_vectors, needs.own_vectors);
    result.needs.has_basis = result.needs.has_basis || needs.has_basis;
    result.needs.holds_entries = result.needs.holds_entries || needs.holds_entries;
  }
  return result;
}

}  // namespace newel::detail

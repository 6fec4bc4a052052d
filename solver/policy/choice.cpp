// SPDX-License-Identifier: Apache-2.0
// The automatic choice of a solver.
#include <newel/solver/choice.hpp>

#include <algorithm>
#include <utility>

#include <newel/solver/registry.hpp>

namespace newel {
namespace {

std::vector<std::string> ranked(int AutoRank::*kind) {
  std::vector<std::pair<int, std::string>> methods;
  for (const SolverMethod& method : solver_methods()) {
    if (method.rank.*kind > 0) methods.emplace_back(method.rank.*kind, method.name);
  }
  std::stable_sort(methods.begin(), methods.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (auto& [rank, name] : methods) names.push_back(std::move(name));
  return names;
}

}  // namespace

const SolverMethod* solver_of_diagonal() {
  const std::vector<std::string> names = ranked(&AutoRank::diagonal);
  return names.empty() ? nullptr : &find_solver(names.front());
}

const SolverMethod* solver_of_last_resort() {
  const std::vector<std::string> names = ranked(&AutoRank::last_resort);
  return names.empty() ? nullptr : &find_solver(names.front());
}

SolverChoice choose_solver(const MatrixTraits& traits) {
  if (!traits.symmetric()) {
    return {ranked(&AutoRank::general),
            traits.pattern_symmetric ? "the values are not symmetric" : "the pattern is not symmetric"};
  }
  if (traits.positive_diagonal()) return {ranked(&AutoRank::definite), "symmetric with a positive diagonal"};
  return {ranked(&AutoRank::symmetric),
          "symmetric, but the diagonal is not positive, so the matrix is not positive definite"};
}

}  // namespace newel

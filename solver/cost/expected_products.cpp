// SPDX-License-Identifier: Apache-2.0
// Products of solves, before the matrix is read.
#include <newel/spmv/format_choice.hpp>
#include <newel/solver/expected_products.hpp>

namespace newel {

double expected_products(double solves, const SystemOptions& options, Index rows, int block) {
  if (!(solves > 0)) return 0;
  PatternFacts facts;
  facts.rows = facts.cols = rows;
  facts.block = block;
  if (const auto& nodes = options.spmv.coordinates; nodes != nullptr && !nodes->xyz.empty()) {
    const auto points = static_cast<Index>(nodes->xyz.size()) / nodes->dimension;
    if (points > 0 && rows % points == 0) facts.block = rows / points;
  }
  const std::string& solver = options.solver.name;
  const int products = solver == "auto" ? 1 : find_solver(solver).products;
  return solves * products * expected_iterations(facts, options.stop.rel_tol);
}

}  // namespace newel

// SPDX-License-Identifier: Apache-2.0
// What the table of solvers says of the division by a diagonal matrix.
#include <newel/core/error.hpp>
#include "solver/krylov/division.hpp"

namespace newel {
namespace {

struct MakeDivision {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<T, S>> make(const Context<S>& ctx, const SolverMatrix<T, S>& matrix,
                                                  const SolverOptions&) {
    const MatrixTraits traits = matrix.traits != nullptr ? *matrix.traits : matrix_traits(ctx, matrix.a);
    if (!detail::is_diagonal(traits, matrix.a.rows, matrix.a.nnz())) {
      throw InputError("solver 'division' is for diagonal matrices, and this one stores " +
                       std::to_string(matrix.a.nnz()) + " entries in " + std::to_string(matrix.a.rows) +
                       " rows, expected one in each row, on the diagonal");
    }
    return std::make_unique<detail::Division<T, S>>(ctx, matrix.a.rows);
  }
};

}  // namespace

SolverMethod division_method() {
  SolverMethod division;
  division.name = "division";
  division.title = "division";
  division.summary = "division by the diagonal, for diagonal matrices";
  division.demands = Demand::diagonal;
  division.rank.diagonal = 1;
  division.bytes_per_unknown = [](const SolverOptions&, Index, std::size_t value_bytes) { return 2.0 * value_bytes; };
  division.vector_passes = [](const SolverOptions&, Index, std::size_t) { return 3.0; };
  division.floor = {3, 3, 3};
  fill_columns<MakeDivision>(division.make_from_matrix);
  return division;
}

}  // namespace newel

// SPDX-License-Identifier: Apache-2.0
// What the table of solvers says of the direct solver.
#include "solver/direct/direct_solver.hpp"

namespace newel {
namespace {

struct MakeDirect {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<T, S>> make(const Context<S>& ctx, const SolverMatrix<T, S>& matrix,
                                                  const SolverOptions&) {
    return std::make_unique<detail::DirectSolver<T, S>>(ctx, matrix);
  }
};

// The matrix by rows, and once more in its order; the factors, which depend on the pattern, take more.
std::uint64_t bytes_of_matrix(const SolverOptions&, Index rows, Offset nonzeros, std::size_t) {
  constexpr std::uint64_t per_entry = 3 * sizeof(double) + 4 * sizeof(Index), per_row = 8 * sizeof(Index);
  return per_entry * static_cast<std::uint64_t>(nonzeros) + per_row * static_cast<std::uint64_t>(rows);
}

}  // namespace

SolverMethod direct_method() {
  SolverMethod direct;
  direct.name = "direct";
  direct.title = "the direct solver";
  direct.summary =
      "factors of A by the fastest library that is installed, refined by residuals in twice the precision";
  direct.products = 1;
  direct.precond_products = 0;
  direct.rank.last_resort = 1;
  direct.keeps_values = true;
  direct.matrix_bytes = bytes_of_matrix;
  direct.bytes_per_unknown = [](const SolverOptions&, Index, std::size_t value_bytes) {
    return 3.0 * static_cast<double>(value_bytes) + 2 * sizeof(double);
  };
  direct.vector_passes = [](const SolverOptions&, Index, std::size_t) { return 5.0; };
  direct.floor = {5, 5, 5};
  fill_columns<MakeDirect>(direct.make_from_matrix);
  return direct;
}

}  // namespace newel

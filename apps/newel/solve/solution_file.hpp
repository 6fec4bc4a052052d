// SPDX-License-Identifier: Apache-2.0
/// The solution that `--out` names, in the format of its suffix.
#pragma once

#include "apps/newel/input/input_matrix.hpp"
#include "options.hpp"

namespace newel::cli {

/// Throws UsageError for a suffix of `--out` that names no format for solutions, and for .vtu where no nodes can be
/// known. Standard output, pipes and devices get Matrix Market.
void check_solution_name(const SolveOptions& options);

/// Throws UsageError for a suffix of `--out` that names no format for complex solutions.
void check_complex_solution_name(const SolveOptions& options);

/// Whether `--out` wants the mesh of the system.
bool wants_mesh(const SolveOptions& options);

/// What a .vtu file needs besides the solution: nodes, and tetrahedra where there are some. Empty for other formats.
struct SolutionGrid {
  std::shared_ptr<const fem::TetMesh> mesh;
  std::vector<fem::Point> points;  ///< without a mesh

  std::size_t nodes() const { return mesh != nullptr ? mesh->nodes.size() : points.size(); }
};

/// Before the solve. Throws InputError where nodes are not known, or not a divisor of the rows.
SolutionGrid grid_for(const SolveOptions& options, const InputMatrix& matrix, const NodeCoordinates* coordinates);

/// Writes `columns` solutions, one after the other, to `--out`. Throws InputError.
void write_solution(const Context<Space::host>& ctx, const SolveOptions& options, const SolutionGrid& grid,
                    Span<const double, Space::host> x, Index columns);
/// The same for complex solutions, real and imaginary parts next to each other in x.
void write_complex_solution(const SolveOptions& options, Span<const double, Space::host> x, Index columns);

}  // namespace newel::cli

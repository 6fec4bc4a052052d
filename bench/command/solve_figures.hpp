// SPDX-License-Identifier: Apache-2.0
/// The figures that follow from measured solves: the byte floor, shares of it, comparisons.
#pragma once

#include <optional>
#include <vector>

#include "solve_result.hpp"

namespace newel::cli {

/// The vectors that one iteration must read or write in addition to its products, whose x and y count with them, as
/// often as a loop of separate kernels must: a sum over all rows parts two vector steps, and nothing but scalars
/// outlives one. Dot products ride on the product or the step that holds one of their vectors.
///
///   CG         x += alpha p, p = z + beta p reads z, p, x and writes p, x; r -= alpha q reads q, r and writes r: 8.
///              Jacobi's D is read by both in the place of z: 10.
///   BiCGStab   p = r + beta (p - omega v): 4; r0.v: 1; s = r - alpha v: 3; x, r, rho: reads x, p, r, t, r0 and
///              writes x, r: 7; 15 in all. Jacobi, folded into the steps before the products, writes p^ and s^ and
///              reads D twice, s for t.s and s^ for x: 21. Another M: the last two alone, 17.
///   GMRES(m)   h = V^T w and w -= V h read a basis of (m + 1) / 2 vectors in the mean, without a second pass, then w
///              thrice and write it twice; x = x + V y reads one vector an iteration: m + 7. Jacobi reads D and
///              writes the product's x: m + 9. A basis in single precision halves its m + 1.
struct FloorModel {
  int products = 1;  ///< with A, and with M where M is a matrix
  double vectors = 0;
};

/// `cycle` is the m of GMRES; it is the restart, or the number of iterations where there were fewer.
FloorModel floor_model(const std::string& solver, const std::string& precond, int cycle);

/// What one iteration of `line` must move, in the precision that it iterates in: the model's vectors, its products
/// with A in the fewest bytes of any line of the system in that precision, and with M, where M is a matrix, in the
/// fewest of those with the same preconditioner.
double floor_bytes(const BenchSolveLine& line, const BenchSolveSystem& system);

struct BenchSolveFigures {
  double iteration_seconds = 0;
  double solve_seconds = 0;
  double floor_bytes = 0;
  double floor_seconds = 0;                 ///< at the copy's bandwidth
  double share_of_floor = 0;                ///< floor_seconds / iteration_seconds
  std::optional<double> iteration_speedup;  ///< over the fastest competitor with the same solver and preconditioner
  std::optional<double> solve_speedup;      ///< over the fastest converged competitor; none where the line is not
};

/// For a line that was measured.
BenchSolveFigures figures_of(const BenchSolveLine& line, const BenchSolveSystem& system,
                             const bench::CopyBandwidth& copy);

/// Whether a line of any system is wrong.
bool any_wrong(const std::vector<BenchSolveSystem>& systems);

/// Whether one of ours did on any system what it was requested: converged, or for the tolerance 0, which asks for a
/// number of iterations, was measured.
bool any_of_ours_succeeded(const std::vector<BenchSolveSystem>& systems);

}  // namespace newel::cli

// SPDX-License-Identifier: Apache-2.0
/// SolveContender: a way to solve A x = b that takes part in a comparison, and how it is set up.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <newel/core/csr.hpp>

namespace newel::bench {

/// When a solve may end: |r| <= tolerance |b|, or after so many iterations.
struct SolveGoal {
  double tolerance = 1e-8;
  int max_iterations = 10000;
};

/// How a solve ended, in the words of whoever ran it.
struct SolveEnd {
  std::string status;  ///< one of the library's names of `Status`
  std::string reason;  ///< may be empty
  int iterations = 0;
  double recurrence_residual = 0;  ///< over |b|
  bool resident = false;           ///< ours: in one kernel that kept the vectors on the chip

  bool converged() const { return status == "converged"; }
};

/// What a solver was set up as, and what that took.
struct SolveFacts {
  std::string format;  ///< of the matrix, as built
  std::string detail;
  std::uint64_t product_bytes = 0;  ///< of a product with A by the format's own count, its x and y included
  std::uint64_t precond_bytes = 0;  ///< of a product with M; 0 where M is a diagonal or nothing
  double setup_seconds = 0;         ///< from the matrix in S to a solver that is ready
  std::vector<std::pair<std::string, double>> setup_phases;
};

template <class T, Space S>
class BuiltSolve {
 public:
  virtual ~BuiltSolve() = default;

  /// From x = 0, whatever x holds; b and x in the caller's order. Returns when x is ready.
  virtual SolveEnd solve(Span<const T, S> b, Span<T, S> x, const SolveGoal& goal) = 0;
  virtual SolveFacts facts() const = 0;
};

template <class T, Space S>
struct SolveContender {
  using Build = std::function<std::unique_ptr<BuiltSolve<T, S>>(const Context<S>&, const CsrView<T, S>&)>;

  std::string by;  ///< "newel", "newel:mixed", "newel:single-basis", or the library that it is compared with
  std::string solver, precond;
  std::string format;         ///< as requested
  bool mixed = false;         ///< iterates in single precision
  bool single_basis = false;  ///< GMRES with its basis in single precision
  bool competitor = false;    ///< one of those that ours are compared with
  Build build;                ///< throws Error where the contender does not take the matrix
};

/// One of ours, as names of the tables.
struct SystemChoice {
  std::string solver, precond, format;
  int restart = 30;           ///< of GMRES
  bool mixed = false;         ///< SystemOptions::mixed
  bool single_basis = false;  ///< SolverOptions::single_basis
};

/// A LinearSystem: what a simulation code sets up and calls.
template <class T, Space S>
SolveContender<T, S> system_contender(const SystemChoice& choice);

/// What our solves with this solver and this preconditioner are compared with; none but for "cg" and "bicgstab" with
/// "none" or "jacobi". Device: the loop of cuBLAS and cuSPARSE calls with its scalars on the host, and as a CUDA
/// graph. Host: Eigen's, where Eigen was found at build time.
template <class T>
std::vector<SolveContender<T, Space::host>> solve_competitors(const Context<Space::host>&, const std::string& solver,
                                                              const std::string& precond);
template <class T>
std::vector<SolveContender<T, Space::device>> solve_competitors(const Context<Space::device>&,
                                                                const std::string& solver,
                                                                const std::string& precond);

/// Whether there can be competitors for the two names.
bool competitors_know(const std::string& solver, const std::string& precond);

}  // namespace newel::bench

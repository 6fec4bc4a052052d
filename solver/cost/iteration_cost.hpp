// SPDX-License-Identifier: Apache-2.0
/// What an iteration of a Krylov method will cost on the path that would run: from sizes, not from a clock. Internal.
#pragma once

#include <newel/precond/registry.hpp>
#include <newel/solver/method.hpp>
#include <newel/spmv/format_choice.hpp>

namespace newel::detail {

/// M as the estimate sees it.
struct AppliedPrecond {
  double bytes = 0;          ///< that an application moves, besides its vectors
  double vector_passes = 0;  ///< as PrecondCost has them, and the next two
  double low_share = 1, start_seconds = 0;
  int matrices = 0;        ///< products that it consists of; 0: none, or a diagonal matrix
  bool resident = true;    ///< the kernels that keep their vectors on the chip have it
  bool diagonal = false;   ///< M is a diagonal matrix
  bool triangles = false;  ///< its matrices are triangles, whose rows differ in length
};

/// The named preconditioner with the options of its kind; "auto" stands for its simple candidate.
AppliedPrecond applied_precond(const std::string& name, const PrecondOptions& options, const PatternFacts& facts,
                               const Machine& machine, std::size_t value_bytes);

/// A system as the estimate sees it, all but the format.
struct IterationCost {
  const SolverMethod& method;
  const SolverOptions& options;
  AppliedPrecond precond;
  Machine machine;
  std::size_t value_bytes;
  bool may_be_resident = true;  ///< not with several columns at once, nor with a null space

  /// Seconds of an iteration with a product of that cost, as kernels of a captured loop (host: parallel loops), or in
  /// one kernel where everything fits. Fitted to docs/results/iterations_h200.json.
  IterationEstimate estimate(const PatternFacts& facts, const CostEstimate& product) const;
};

}  // namespace newel::detail

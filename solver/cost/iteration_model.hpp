// SPDX-License-Identifier: Apache-2.0
/// IterationModel: seconds of the iterations that a system may take, by the cost model. Internal.
#pragma once

#include <optional>
#include <string>

#include <newel/solver/system_options.hpp>
#include "solver/cost/iteration_cost.hpp"

namespace newel::detail {

/// Of one method, for the matrix of these facts. All that it refers to outlives it.
struct IterationModel {
  const SolverMethod& method;
  const SystemOptions& options;  ///< as decided
  const Machine& machine;
  const PatternFacts* facts;  ///< null: nothing is estimated
  std::size_t value_bytes;    ///< of a number of the iteration
  bool precond_is_callers;    ///< M is
  bool precond_is_needless;   ///< the present M changes nothing and is left out

  /// Of a product in one of the formats; nothing where the model does not know it.
  std::optional<CostEstimate> product(const std::string& format) const;
  /// Of an iteration with the named preconditioner.
  IterationEstimate iteration(const std::string& precond, const CostEstimate& product) const;
  /// Bytes that an iteration moves without M: its products with A, of `bytes_per_product` each, and vectors as often
  /// as they are read or written, the basis of GMRES on average.
  double bytes(double bytes_per_product, Index rows) const;
};

/// Seconds of as many iterations in single precision as a solve in double takes one, with the present preconditioner
/// and a margin for systems that take more or that single precision does not suffice for. `model` is of a system in
/// double, whose method has mixed precision. Nothing where the model does not know the format.
std::optional<double> single_iteration_seconds(const IterationModel& model, const std::string& format);

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// What counts rows in the options of a complex system, in the rows of its real one.
#include "solver/complex/real_options.hpp"

#include <algorithm>
#include <cmath>

#include <newel/core/error.hpp>
#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/pattern_options.hpp>
#include <newel/precond/saddle/saddle_options.hpp>
#include "precond/amg/transfer/near_null.hpp"

namespace newel::detail {
namespace {

std::vector<Index> pairs_of(const std::vector<Index>& rows) {
  std::vector<Index> pairs;
  pairs.reserve(2 * rows.size());
  for (const Index i : rows) pairs.push_back(2 * i), pairs.push_back(2 * i + 1);
  return pairs;
}

std::shared_ptr<const GivenPattern> pairs_of(const GivenPattern& pattern) {
  if (pattern.row_ptr.size() != static_cast<std::size_t>(pattern.rows) + 1) {
    throw InputError("the given pattern has " + std::to_string(pattern.row_ptr.size()) +
                     " row pointers, expected rows + 1 = " + std::to_string(Offset{pattern.rows} + 1));
  }
  auto pairs = std::make_shared<GivenPattern>();
  pairs->rows = 2 * pattern.rows;
  pairs->row_ptr = {0};
  const auto size = static_cast<Offset>(pattern.col.size());
  for (Index i = 0; i < 2 * pattern.rows; ++i) {
    const Offset begin = pattern.row_ptr[static_cast<std::size_t>(i / 2)];
    const Offset end = pattern.row_ptr[static_cast<std::size_t>(i / 2) + 1];
    if (begin < 0 || end < begin || end > size)
      throw InputError("the row pointers of the given pattern are out of range");
    for (Offset k = begin; k < end; ++k) {
      const Index j = pattern.col[static_cast<std::size_t>(k)];
      if (j < 0 || j >= pattern.rows) throw InputError("a column of the given pattern is out of range");
      pairs->col.push_back(2 * j), pairs->col.push_back(2 * j + 1);
    }
    pairs->row_ptr.push_back(static_cast<Offset>(pairs->col.size()));
  }
  return pairs;
}

// Each vector for the real parts, then for the imaginary ones.
std::shared_ptr<const NearNullVectors> pairs_of(const NearNullVectors& vectors, Index n) {
  const int count = vectors.count;
  const auto wanted = static_cast<std::size_t>(n) * static_cast<std::size_t>(std::max(count, 0));
  if (count < 1 || vectors.values.size() != wanted) {
    throw InputError("AMG: expected near-null vectors of " + std::to_string(n) + " rows, found " +
                     std::to_string(vectors.values.size()) + " values for " + std::to_string(count) + " vectors");
  }
  auto pairs = std::make_shared<NearNullVectors>();
  pairs->count = 2 * count;
  pairs->values.assign(4 * wanted, 0.0);
  const auto width = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    for (std::size_t v = 0; v < width; ++v) {
      pairs->values[4 * width * i + v] = vectors.values[width * i + v];
      pairs->values[4 * width * i + 3 * width + v] = vectors.values[width * i + v];
    }
  }
  return pairs;
}

// Whether rigid body modes fit: as many rows a node as dimensions.
bool fits(const NodeCoordinates* nodes, const AmgOptions& amg, Index n) {
  return nodes != nullptr && nodes->dimension > 1 && nodes->xyz.size() == static_cast<std::size_t>(n) &&
         n % nodes->dimension == 0 && (amg.node_rows == 0 || amg.node_rows == nodes->dimension);
}

NearNullVectors rigid_vectors(const Context<Space::host>& ctx, const NodeCoordinates& nodes) {
  const NearNull<Space::host> modes = rigid_body_modes(ctx, nodes);
  NearNullVectors vectors;
  vectors.count = modes.vectors;
  vectors.values.assign(modes.values.begin(), modes.values.end());
  return vectors;
}

// The real system has twice as many rows a node, so that it would not know the modes, or take other ones for them.
void set_near_null(const Context<Space::host>& ctx, const NodeCoordinates* nodes, Index n, AmgOptions& amg) {
  if (amg.vectors != nullptr) {
    amg.vectors = pairs_of(*amg.vectors, n);
  } else if (amg.near_null != AmgNearNull::constant && fits(nodes, amg, n)) {
    amg.vectors = pairs_of(rigid_vectors(ctx, *nodes), n);
    amg.node_rows = nodes->dimension;
  } else if (amg.near_null == AmgNearNull::rigid) {
    throw InputError(
        "AMG: rigid body modes need the coordinates of the nodes, 2 or 3 for each, and as many complex rows for each "
        "node");
  } else {
    amg.near_null = AmgNearNull::constant;
  }
  amg.node_rows *= 2;
}

std::shared_ptr<const SchurMatrix> pairs_of(const SchurMatrix& mass) {
  const auto rows = static_cast<std::size_t>(std::max<Index>(mass.rows, 0));
  if (mass.row_ptr.size() != rows + 1 || mass.col.size() != mass.val.size()) return nullptr;
  auto pairs = std::make_shared<SchurMatrix>();
  pairs->rows = 2 * mass.rows;
  pairs->row_ptr = {0};
  for (std::size_t i = 0; i < 2 * rows; ++i) {
    for (Offset k = mass.row_ptr[i / 2]; k < mass.row_ptr[i / 2 + 1]; ++k) {
      pairs->col.push_back(2 * mass.col[static_cast<std::size_t>(k)] + static_cast<Index>(i % 2));
      pairs->val.push_back(mass.val[static_cast<std::size_t>(k)]);
    }
    pairs->row_ptr.push_back(static_cast<Offset>(pairs->col.size()));
  }
  return pairs;
}

// Real and imaginary part of a constraint are constraints; both have the real matrix for the Schur complement.
void set_constraints(SaddleOptions& saddle) {
  saddle.constraints *= 2;
  if (saddle.rows != nullptr) saddle.rows = std::make_shared<std::vector<Index>>(pairs_of(*saddle.rows));
  if (saddle.schur_matrix == nullptr) return;
  saddle.schur_matrix = pairs_of(*saddle.schur_matrix);
  if (saddle.schur_matrix == nullptr) {
    throw InputError("the arrays of the matrix given for the Schur complement do not fit together");
  }
}

}  // namespace

SystemOptions options_of_pairs(const Context<Space::host>& ctx, SystemOptions options, Index n) {
  if (options.null_space == NullSpace::constant) {
    throw InputError(
        "null_space: constant vectors can be removed from a complex system only if all imaginary parts of the matrix "
        "are zero");
  }
  auto& amg = options.precond.of<AmgOptions>();
  if (amg.numbering == AmgNumbering::by_component) {
    throw InputError("AMG: the unknowns of a complex system must be numbered node by node, not by component");
  }
  set_near_null(ctx, options.spmv.coordinates.get(), n, amg);
  set_constraints(options.precond.of<SaddleOptions>());
  auto& pattern = options.precond.of<PatternOptions>();
  if (pattern.pattern != nullptr) pattern.pattern = pairs_of(*pattern.pattern);
  options.old_of_new = pairs_of(options.old_of_new);
  for (Index& begin : options.part_begin) begin *= 2;
  return options;
}

StopCriterion stop_of_parts(StopCriterion stop) {
  stop.abs_tol /= std::sqrt(2.0);
  return stop;
}

SystemOptions options_of_parts(SystemOptions options) {
  options.columns *= 2;
  options.stop = stop_of_parts(options.stop);
  return options;
}

namespace {

// Of the part that is solved sooner, the last residual stays.
std::vector<double> joined(const std::vector<double>& re, const std::vector<double>& im) {
  std::vector<double> both(std::max(re.size(), im.size()));
  const auto at = [](const std::vector<double>& history, std::size_t k) {
    return history.empty() ? 0.0 : history[std::min(k, history.size() - 1)];
  };
  for (std::size_t k = 0; k < both.size(); ++k) both[k] = std::hypot(at(re, k), at(im, k));
  return both;
}

}  // namespace

SolveReport report_of_parts(const SolveReport& re, const SolveReport& im, const StopCriterion& stop) {
  const bool of_im = re.converged() ? !im.converged() || im.iterations > re.iterations : false;
  SolveReport both = of_im ? im : re;
  const SolveReport& other = of_im ? re : im;
  both.iterations = std::max(re.iterations, im.iterations);
  both.rhs_norm = std::hypot(re.rhs_norm, im.rhs_norm);
  both.tolerance = std::max(stop.rel_tol * both.rhs_norm, stop.abs_tol);
  both.initial_residual = std::hypot(re.initial_residual, im.initial_residual);
  both.recurrence_residual = std::hypot(re.recurrence_residual, im.recurrence_residual);
  both.true_residual = std::hypot(re.true_residual, im.true_residual);
  both.residual_error_bound = std::hypot(re.residual_error_bound, im.residual_error_bound);
  both.twice_precision = re.twice_precision && im.twice_precision;
  both.row_residual = std::max(re.row_residual, im.row_residual);
  both.residual_replacements += other.residual_replacements;
  both.refinements = std::max(re.refinements, im.refinements);
  both.restarts = std::max(re.restarts, im.restarts);
  both.second_passes += other.second_passes;
  both.seconds = std::max(re.seconds, im.seconds);
  if (both.attainable_residual > 0) {
    both.attainable_residual = std::hypot(
        both.attainable_residual, other.attainable_residual > 0 ? other.attainable_residual : other.true_residual);
  }
  if (both.warning.empty()) both.warning = other.warning;
  if (both.changed.empty()) both.changed = other.changed;
  both.history = joined(re.history, im.history);
  return both;
}

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// What the table of preconditioners says of the one for saddle points.
#include <algorithm>
#include <cmath>
#include <limits>

#include <newel/precond/registry.hpp>
#include "precond/build_cost.hpp"
#include "precond/precond_constants.hpp"
#include "precond/saddle/saddle.hpp"

namespace newel {
namespace {

std::vector<MethodOption> saddle_options() {
  return {
      in_range(value_option("--saddle-constraints", "N",
                            "The last N rows are the constraints of a saddle point; default: rows whose diagonal\n"
                            "entry is missing, zero, negative or very small",
                            "saddle_constraints", &SaddleOptions::constraints),
               1, std::numeric_limits<int>::max()),
      choice_option("--saddle-form",
                    "How the inverses of both blocks are put together. auto: diagonal if M must be\n"
                    "symmetric, as for MINRES; else triangular",
                    "saddle_form", {"auto", "diagonal", "triangular"}, &SaddleOptions::form),
      choice_option("--saddle-schur",
                    "The Schur complement: product is B diag(A)^-1 B^T - C, inverted by AMG, diagonal is\n"
                    "its diagonal, commutator the least-squares commutator (BFBt). auto: product if A is\n"
                    "like a mass matrix, else diagonal",
                    "saddle_schur", {"auto", "diagonal", "product", "commutator"}, &SaddleOptions::schur),
      choice_option("--saddle-block",
                    "Preconditioner of the rows that are no constraints. auto: amg; fsai if they are\n"
                    "like a mass matrix; ilut if they are neither symmetric nor diffusion",
                    "saddle_block", {"auto", "amg", "fsai", "ilu", "ilut", "jacobi"}, &SaddleOptions::block),
  };
}

void check_given(const SchurMatrix& given) {
  const auto rows = static_cast<std::size_t>(std::max<Index>(given.rows, 0));
  const bool consistent = given.rows > 0 && given.row_ptr.size() == rows + 1 &&
                          given.col.size() == given.val.size() &&
                          static_cast<std::size_t>(given.row_ptr.back()) == given.col.size();
  require_precond_option(consistent, "the arrays of the matrix given for the Schur complement do not fit together");
}

void check_saddle(const PrecondOptions& options) {
  const auto& own = options.of<SaddleOptions>();
  require_precond_option(own.constraints >= 0, "the number of constraints must not be negative");
  require_precond_option(own.rows == nullptr || own.constraints == 0,
                         "constraints are given by their number or by their rows, not by both");
  if (own.schur_matrix == nullptr) return;
  require_precond_option(own.schur == SaddleSchur::automatic,
                         "a matrix given for the Schur complement replaces the choice of one");
  check_given(*own.schur_matrix);
}

// The values of A and where they come from.
std::uint64_t saddle_bytes(const PrecondOptions&, const SpmvFormat&, Index rows, Offset nonzeros,
                           std::size_t value_bytes) {
  return static_cast<std::uint64_t>(nonzeros) * (value_bytes + sizeof(std::uint32_t) + sizeof(Index)) +
         static_cast<std::uint64_t>(rows) * (4 * value_bytes + 2 * sizeof(Index));
}

double iterations_for_saddle(double simple) {
  const auto& counts = detail::precond_counts;
  return std::min(simple, counts.saddle_least + counts.saddle_of_any * std::sqrt(simple));
}

// As AMG for the whole matrix, whose values say nothing of the block that AMG is for.
PrecondCost saddle_cost(const PrecondQuestion& question) {
  PrecondQuestion of_amg = question;
  PrecondSetup setup;
  if (question.setup != nullptr) {
    setup = *question.setup;
    setup.values.matrix = {};
    setup.values.later = true;
    of_amg.setup = &setup;
  }
  of_amg.made = nullptr;
  PrecondCost cost = detail::cost_of(find_preconditioner("amg"), of_amg);
  cost.iterations = &iterations_for_saddle;
  cost.margin = 0;
  constexpr double start = 1e-3;  // seconds, however small the blocks are: there are several of them
  if (question.setup != nullptr) cost.setup.build += start;
  cost.setup.build *= detail::precond_counts.saddle_setup;
  cost.setup.refresh *= detail::precond_counts.saddle_setup;
  return cost;
}

std::vector<SettingChange> none_is_stronger(const PrecondOptions&) { return {}; }

}  // namespace

PrecondMethod saddle_method() {
  PrecondMethod saddle;
  saddle.name = "saddle";
  saddle.summary = "blocks for saddle points: flow, mixed elements, constraints with multipliers";
  saddle.options = saddle_options();
  saddle.automatic = AutoPrecond::saddle;
  saddle.positive = saddle.takes_coordinates = true;
  saddle.matrices.products = 4;
  saddle.cost = &saddle_cost;
  saddle.check = &check_saddle;
  saddle.estimate_bytes = &saddle_bytes;
  saddle.stronger = &none_is_stronger;
  saddle.make = precond_columns<SaddleOperator>();
  return saddle;
}

}  // namespace newel

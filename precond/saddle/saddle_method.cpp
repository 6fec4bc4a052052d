// SPDX-License-Identifier: Apache-2.0
// What the table of preconditioners says of the one for saddle points.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

#include <newel/precond/registry.hpp>
#include "precond/build_cost.hpp"
#include "precond/mirrored_constraints.hpp"
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

// Of A: the rows that are no constraints, the entries among them, and those that couple them to constraints.
struct BlockCounts {
  Index rows = 0;
  double entries = 0, couplings = 0;
};

// By the diagonal, and by every eighth row. None: no row looks like a constraint, or all do.
template <class T>
std::optional<BlockCounts> counts_of(const CsrView<T, Space::host>& a) {
  constexpr Index stride = 8;
  const std::vector<char> is_constraint = detail::constraint_rows(a);
  BlockCounts counts;
  counts.rows = static_cast<Index>(std::count(is_constraint.begin(), is_constraint.end(), 0));
  Index looked_at = 0;
  for (Index i = 0; i < a.rows; i += stride) {
    if (is_constraint[static_cast<std::size_t>(i)] != 0) continue;
    ++looked_at;
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      ++(is_constraint[static_cast<std::size_t>(a.col[k])] != 0 ? counts.couplings : counts.entries);
    }
  }
  if (looked_at == 0 || counts.rows == a.rows) return std::nullopt;
  const double times = static_cast<double>(counts.rows) / looked_at;
  counts.entries *= times;
  counts.couplings *= times;
  return counts;
}

// Where the values are known, and on a host.
std::optional<BlockCounts> counts_of(const PrecondQuestion& question) {
  if (question.setup == nullptr) return std::nullopt;
  const auto& matrix = question.setup->values.matrix;
  if (const auto* const a = std::get_if<CsrView<double, Space::host>>(&matrix)) return counts_of(*a);
  if (const auto* const a = std::get_if<CsrView<float, Space::host>>(&matrix)) return counts_of(*a);
  return std::nullopt;
}

// The bytes of an iteration: of A, and of what is applied besides.
double bytes_of(double entries_of_a, const PrecondCost& applied, double rows) {
  constexpr double entry_bytes = sizeof(double) + sizeof(Index);
  return (entries_of_a + applied.entries * applied.low_share) * entry_bytes +
         applied.vector_passes * rows * sizeof(double);
}

// As AMG for the rows that are no constraints. If the values are not known, as AMG for the whole matrix.
PrecondCost saddle_cost(const PrecondQuestion& question) {
  constexpr double start = 1e-3;  // seconds, however small the blocks are: there are several of them
  const std::optional<BlockCounts> counts = counts_of(question);
  const PrecondMethod& amg = find_preconditioner("amg");
  PrecondQuestion of_amg = question;
  PrecondSetup setup;
  if (question.setup != nullptr) {
    setup = *question.setup;
    setup.values.matrix = {};
    setup.values.later = true;  // those of A say nothing of the block that AMG is for
    of_amg.setup = &setup;
  }
  of_amg.made = nullptr;
  PrecondCost cost = detail::cost_of(amg, of_amg);
  cost.iterations = &iterations_for_saddle;
  cost.margin = 0;
  if (question.setup == nullptr) return cost;
  if (!counts) {
    cost.setup.build = detail::precond_counts.saddle_setup * (cost.setup.build + start);
    cost.setup.refresh *= detail::precond_counts.saddle_setup;
    return cost;
  }
  of_amg.rows = counts->rows;
  of_amg.nonzeros = static_cast<Offset>(counts->entries);
  const PrecondCost of_block = detail::cost_of(amg, of_amg);
  const auto entries = static_cast<double>(question.nonzeros);
  const auto& fitted = detail::constants_of<detail::HostPrecondConstants>(question.machine);
  cost.setup = {of_block.setup.build + entries * fitted.saddle_entry + start,
                of_block.setup.refresh + entries * fitted.saddle_refresh_entry};
  cost.setup.iteration_share =
      bytes_of(entries + counts->couplings, of_block, counts->rows) / bytes_of(entries, cost, question.rows);
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

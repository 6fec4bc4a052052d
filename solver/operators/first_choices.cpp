// SPDX-License-Identifier: Apache-2.0
// Solvers by the traits of a matrix, its format by the cost of iterations, or both as a decision has them.
#include "solver/operators/first_choices.hpp"

#include "core/vectors/instantiate.hpp"
#include "solver/krylov/division.hpp"
#include "solver/operators/host_measurement.hpp"
#include "solver/operators/system_estimates.hpp"
#include "solver/policy/decided_factors.hpp"
#include "spmv/cost/matrix_facts.hpp"

namespace newel::detail {

// A device gives the facts of the pattern with the traits, where both are wanted, in hardly more time.
template <class T, Space S>
void FirstChoices<T, S>::find_traits(const CsrView<T, S>& a) {
  SystemChoices& chosen = s_.chosen;
  if constexpr (S == Space::device) {
    if (!chosen.facts && (chooses_precond(s_.options) || is_format_choice(s_.options.spmv.format))) {
      MatrixFacts found = matrix_facts(s_.ctx, a);
      chosen.traits = found.traits;
      chosen.facts = std::move(found.pattern);
      return;
    }
  }
  chosen.traits = matrix_traits(s_.ctx, a);
}

template <class T, Space S>
void FirstChoices<T, S>::choose_solvers(const CsrView<T, S>& a) {
  SystemOptions& options = s_.options;
  SystemChoices& chosen = s_.chosen;
  const std::optional<SystemDecision>& decided = options.decision;
  const bool choose_precond = chooses_precond(options), choose = options.solver.name == "auto";
  if (decided && decided->traits) {
    chosen.traits = decided->traits;
    chosen.traits_older = decided->traits_older;
  } else if (choose || choose_precond) {
    find_traits(a);
  }
  if (choose && decided && !decided->solvers.empty()) {
    chosen.solvers = {solvers_besides_factors(*decided), decided->reasons.solver};
  } else if (choose) {
    chosen.solvers = choose_solver(*chosen.traits);
  } else {
    chosen.solvers = {{find_solver(options.solver.name).name}, "requested"};
  }
  if (s_.first_method().demands != Demand::nothing) options.precond.symmetric = true;
  const bool may_divide = choose ? solver_of_diagonal() != nullptr : s_.first_method().demands == Demand::diagonal;
  chosen.diagonal = choose_precond && may_divide && options.null_space == NullSpace::none &&
                    is_diagonal(*chosen.traits, a.rows, a.nnz());
}

template <class T, Space S>
void FirstChoices<T, S>::choose_format(const CsrView<T, S>& a, bool exchangeable) {
  SystemOptions& options = s_.options;
  SystemChoices& chosen = s_.chosen;
  const std::string asked = canonical_name(options.spmv.format);
  chosen.format.format = options.spmv.format;
  if (!is_format_choice(asked)) return;
  if (asked == "auto" && s_.first_method().from_matrix() && !chosen.diagonal) {
    chosen.format.format = options.spmv.format = "csr";
    chosen.format.reason = "the solver is set up from the matrix";
    return;
  }
  if (chosen.diagonal && asked == "auto" && !options.decision) {
    chosen.format.format = options.spmv.format = "csr";
    chosen.format.reason = "a diagonal matrix";
    return;
  }
  SystemEstimates<T, S> estimates(s_);
  const bool is_decided = options.decision && !options.decision->format.empty();
  chosen.to_weigh = asked == "auto" && exchangeable && s_.may_move() && !is_decided;
  // A device usually has the facts with the traits.
  if (S == Space::device || !chosen.to_weigh) estimates.expect_iterations(a);
  if (is_decided) {
    take_decided_format(a, asked == "measure");
  } else if (chosen.to_weigh) {
    chosen.format.format = "csr";
  } else if (asked == "auto") {
    measure_host_for_expected(s_, a);
    chosen.format = estimates.compare_formats(a);
  } else {
    const double products = options.expected_products > 0 ? options.expected_products
                                                          : s_.first_method().products * chosen.expected_iterations;
    chosen.format = measure_formats(s_.ctx, a, options.spmv, products, !s_.given_order());
  }
  options.spmv.format = chosen.format.format;
}

// The formats are compared all the same, for what may follow and for those who ask. A preconditioner that was
// renumbered when the format came is made in CSR again, since that of the renumbered matrix differs by rounding.
template <class T, Space S>
void FirstChoices<T, S>::take_decided_format(const CsrView<T, S>& a, bool measured) {
  const SystemDecision& d = *s_.options.decision;
  SystemChoices& chosen = s_.chosen;
  if (!measured) {
    const std::string asked = s_.options.precond.name;
    if (!d.expected.preconditioner.empty()) s_.options.precond.name = d.expected.preconditioner;
    chosen.format = SystemEstimates<T, S>(s_).compare_formats(a);
    s_.options.precond.name = asked;
  }
  chosen.order_follows = d.preconditioner_first;
  chosen.format.format = d.preconditioner_first ? "csr" : d.format;
  chosen.format.reason = d.reasons.format;
  chosen.format.measured = measured;
  chosen.expected_format = d.expected.format;
  if (d.expected.iterations > 0) chosen.expected_iterations = d.expected.iterations;
}

#define X(T, S) template class FirstChoices<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

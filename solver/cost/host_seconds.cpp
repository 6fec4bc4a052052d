// SPDX-License-Identifier: Apache-2.0
// One solve on the host by the cost model.
#include <newel/spmv/format_choice.hpp>
#include <newel/solver/host_seconds.hpp>

#include <limits>

#include <newel/precond/choice.hpp>
#include <newel/solver/choice.hpp>
#include <newel/spmv/registry.hpp>
#include "solver/cost/iteration_cost.hpp"
#include "solver/cost/profiles/decision_constants.hpp"

namespace newel {

template <class T>
double expected_host_seconds(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                             const SystemOptions& options) {
  SpmvOptions spmv = options.spmv;
  if (is_format_choice(canonical_name(spmv.format))) spmv.format = "csr";
  const SpmvFormat& format = find_spmv_format(spmv.format);
  if (format.cost_estimate == nullptr) return std::numeric_limits<double>::infinity();
  const PatternFacts facts = pattern_facts(ctx, Pattern<Space::host>(a));
  const Machine machine = machine_of(ctx);
  const CostEstimate product = format.cost_estimate(facts, {"", spmv, machine, sizeof(T)});
  const double iterations = iterations_with(options.precond.name)(expected_iterations(facts, options.stop.rel_tol));
  const double setup = product.setup_seconds(machine, facts.nonzeros, ctx.threads());
  const auto seconds_with = [&](const std::string& solver) {
    const detail::IterationCost cost{
        find_solver(solver), options.solver,
        detail::applied_precond(options.precond.name, options.precond, facts, machine, sizeof(T)), machine,
        sizeof(T)};
    return options.columns * (setup + iterations * cost.estimate(facts, product).seconds);
  };
  const std::string solver = canonical_name(options.solver.name);
  if (solver != "auto") return seconds_with(solver);
  const double at_least = seconds_with(choose_solver(MatrixTraits{}).order.front());
  return at_least > detail::WorthConstants::long_host_solve
             ? at_least
             : seconds_with(choose_solver(matrix_traits(ctx, a)).order.front());
}

template double expected_host_seconds(const Context<Space::host>&, const CsrView<float, Space::host>&,
                                      const SystemOptions&);
template double expected_host_seconds(const Context<Space::host>&, const CsrView<double, Space::host>&,
                                      const SystemOptions&);

}  // namespace newel

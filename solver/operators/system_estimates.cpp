// SPDX-License-Identifier: Apache-2.0
// The cost model asked about one system.
#include "solver/operators/system_estimates.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <newel/spmv/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/build_cost.hpp"
#include "reorder/pattern_reach.hpp"
#include "solver/operators/block_method.hpp"

namespace newel::detail {
namespace {

using Named = std::vector<std::pair<std::string, double>>;

// Of one solve with the simple preconditioner; none if the matrix is of no kind for which the reach says it.
template <class T, Space S>
std::optional<double> iterations_by_reach(const Operators<T, S>& s, const MatrixKind& kind, const CsrView<T, S>& a) {
  if constexpr (S == Space::host) {
    constexpr double usual_tolerance = 1e-8;
    if (!kind.convection && !kind.saddle) return std::nullopt;
    const double digits = std::log(tolerance_for_estimates(s.options.stop.rel_tol)) / std::log(usual_tolerance);
    const double length = static_cast<double>(a.nnz()) / a.rows;
    const double of_entry = kind.convection ? ReachIterations::of_convection : ReachIterations::of_saddle;
    const double of_step = kind.circulation ? ReachIterations::of_circulation : of_entry * length;
    return std::max(1.0, of_step * digits * pattern_reach(Pattern<S>(a)));
  }
  return std::nullopt;
}

// Looked up only where a format can make use of it.
template <class T, Space S>
bool opposites_are_equal(Operators<T, S>& s, const CsrView<T, S>& a) {
  if (S == Space::host || s.options.columns > 1 || s.first_method().demands == Demand::nothing) return false;
  std::optional<ValueTraits>& traits = s.chosen.traits;
  if (!traits) traits = matrix_traits(s.ctx, a);
  return traits->pattern_symmetric && traits->max_asymmetry == 0;
}

// With the seconds of their setup.
template <class T, Space S>
Named candidate_formats(const Operators<T, S>& s) {
  const FormatChoice& choice = s.chosen.format;
  if (choice.trials.empty()) return {{choice.format, 0}};
  Named formats;
  for (const FormatTrial& trial : choice.trials) {
    if (trial.failure.empty()) formats.emplace_back(trial.format, trial.setup_seconds);
  }
  return formats;
}

// Likewise, but for one that was named: it costs the same in every format.
template <class T, Space S>
Named candidate_preconditioners(const Operators<T, S>& s, const SystemEstimates<T, S>& estimates) {
  const std::string& present = s.options.precond.name;
  if (!s.chosen.precond_chosen) return {{present, 0}};
  std::vector<std::string> names;
  const PrecondMethod* const simple = simple_preconditioner(*s.chosen.traits);
  names.push_back(simple != nullptr ? simple->name : "none");
  for (const PrecondMethod* const method : stronger_preconditioners(*s.chosen.traits)) names.push_back(method->name);
  if (std::find(names.begin(), names.end(), present) == names.end()) names.push_back(present);
  Named preconditioners;
  for (const std::string& name : names) preconditioners.emplace_back(name, estimates.build_seconds(name));
  return preconditioners;
}

}  // namespace

template <class T, Space S>
const PatternFacts& SystemEstimates<T, S>::facts(const CsrView<T, S>& a) {
  if (!s_.chosen.facts) s_.chosen.facts = pattern_facts(s_.ctx, Pattern<S>(a));
  return *s_.chosen.facts;
}

template <class T, Space S>
void SystemEstimates<T, S>::inspect_values(const CsrView<T, S>& a) {
  if constexpr (S == Space::host) {
    std::optional<ValueTraits>& traits = s_.chosen.traits;
    if (!traits || s_.chosen.traits_older) return;
    if (kind().convection && !traits->convection) traits->convection = convection_traits(a);
    const bool plain = traits->symmetric() && traits->positive_diagonal();
    if (plain && !traits->couplings) traits->couplings = coupling_traits(a);
  }
}

template <class T, Space S>
void SystemEstimates<T, S>::expect_iterations(const CsrView<T, S>& a) {
  inspect_values(a);
  const std::optional<double> by_reach = iterations_by_reach(s_, kind(), a);
  PatternFacts of_nodes = facts(a);
  of_nodes.block = node_rows(s_.chosen);
  const double expected = by_reach ? *by_reach : expected_iterations(of_nodes, s_.options.stop.rel_tol);
  s_.chosen.expected_iterations = s_.options.estimate_scale.iterations * expected;
}

// Of a system that begins in CSR: the formats by the iterations with its preconditioner.
template <class T, Space S>
void SystemEstimates<T, S>::weigh() {
  SystemChoices& chosen = s_.chosen;
  if (!std::exchange(chosen.to_weigh, false)) return;
  const CsrView<T, S> a = *s_.A->as_csr();
  expect_iterations(a);
  if (chosen.provisional) {
    if (std::string why = why_no_stronger(precond_use()); !why.empty()) {
      chosen.provisional = false;
      chosen.precond_reason = std::move(why);
    }
  }
  chosen.format = compare_formats(a);
  if (chosen.format.format == "csr") return;
  chosen.expected_format = std::exchange(chosen.format.format, "csr");
  chosen.format.reason = "at first; " + chosen.expected_format + " " + chosen.format.reason;
}

template <class T, Space S>
IterationModel SystemEstimates<T, S>::model(const SolverMethod& method) const {
  return {method,         s_.options,
          s_.machine,     s_.chosen.facts ? &*s_.chosen.facts : nullptr,
          sizeof(T),      s_.parts.has_preconditioner(),
          is_needless(s_)};
}

template <class T, Space S>
IterationModel SystemEstimates<T, S>::model() const {
  const std::vector<std::string>& usual = s_.chosen.usual_solvers.order;
  return model(usual.empty() ? s_.first_method() : find_solver(usual.front()));
}

template <class T, Space S>
MatrixKind SystemEstimates<T, S>::kind() const {
  const SystemChoices& chosen = s_.chosen;
  const NodeCoordinates* const nodes = s_.options.spmv.coordinates.get();
  MatrixKind kind;
  kind.blocks = node_rows(chosen) > 1;
  if (nodes != nullptr && !nodes->xyz.empty()) {
    kind.origin = MatrixOrigin::mesh;
  } else if (kind.blocks) {
    kind.origin = MatrixOrigin::blocks;
  }
  const bool traits_known = chosen.traits && !chosen.traits_older;
  kind.undamped = traits_known && chosen.traits->mostly_undamped();
  if (S == Space::host && traits_known && chosen.traits->rows >= ReachIterations::fewest_rows) {
    const bool symmetric = chosen.traits->symmetric();
    kind.convection = !symmetric && chosen.traits->elliptic();
    kind.saddle = symmetric && is_saddle_point(*chosen.traits);
  }
  if (kind.convection && chosen.traits->convection) {
    kind.flow = chosen.traits->convection->prevails();
    kind.circulation = chosen.traits->convection->circulates();
    if (!kind.flow) kind.origin = MatrixOrigin::mesh;  // what elements and differences make of diffusion
  }
  kind.diffusion =
      kind.origin == MatrixOrigin::unknown && traits_known && chosen.traits->elliptic() && chosen.traits->couplings &&
      chosen.traits->couplings->scalar() && chosen.facts &&
      static_cast<double>(chosen.facts->nonzeros) > CouplingConstants::longest_stencil * chosen.facts->rows;
  if (nodes == nullptr || s_.A == nullptr) return kind;
  kind.scalar_mesh = static_cast<Offset>(nodes->xyz.size()) == Offset{s_.A->rows()} * nodes->dimension;
  if (!chosen.facts) return kind;
  const int of_node = 2 * nodes->dimension + 1;  // elements give a node more neighbours
  kind.stencil = static_cast<double>(chosen.facts->nonzeros) <=
                 of_node * chosen.facts->block * static_cast<double>(chosen.facts->rows);
  return kind;
}

template <class T, Space S>
ExpectedIterations SystemEstimates<T, S>::iterations_of(const std::string& precond) const {
  return iterations_with(precond, kind());
}

template <class T, Space S>
FormatChoice SystemEstimates<T, S>::compare_formats(const CsrView<T, S>& a) {
  s_.options.spmv.equal_opposites = opposites_are_equal(s_, a);
  s_.chosen.formats_estimated_for = s_.options.precond.name;
  FormatUse use;
  use.steps = s_.options.expected_products / s_.first_method().products;
  use.may_renumber = !s_.given_order();
  use.rel_tol = s_.options.stop.rel_tol;
  use.estimate_scale = s_.options.estimate_scale.iterations;
  use.facts = &facts(a);
  use.machine = &s_.machine;
  use.iteration = [model = model(), this](const SpmvFormat&, const PatternFacts&, const CostEstimate& product) {
    return model.iteration(s_.options.precond.name, product);
  };
  return choose_format_by_cost<T>(s_.ctx, Pattern<S>(a), s_.options.spmv, use);
}

template <class T, Space S>
void SystemEstimates<T, S>::compare_formats_again() {
  weigh();
  if (format_choice() == nullptr) return;
  FormatChoice again = compare_formats(*s_.A->as_csr());
  s_.chosen.format.trials = std::move(again.trials);
  if (!s_.chosen.expected_format.empty()) s_.chosen.expected_format = again.format;
}

template <class T, Space S>
const FormatChoice* SystemEstimates<T, S>::format_choice() const {
  const FormatChoice& format = s_.chosen.format;
  const bool chosen = !format.trials.empty() && !format.measured && !s_.given_order();
  return chosen && s_.order.natural() && s_.A->as_csr() ? &format : nullptr;
}

template <class T, Space S>
PrecondUse SystemEstimates<T, S>::precond_use() const {
  const SystemOptions& options = s_.options;
  PrecondUse use{*s_.chosen.traits, tolerance_for_estimates(options.stop.rel_tol), options.expected_products};
  use.precond_products = s_.first_method().precond_products;
  use.expected_iterations = s_.chosen.expected_iterations;
  const IterationModel model = this->model();
  if (const std::optional<CostEstimate> product = model.product(options.spmv.format)) {
    use.iteration_seconds = [model, product = *product](const std::string& name) {
      return model.iteration(name, product).seconds;
    };
  }
  use.iteration_bytes = model.bytes(static_cast<double>(s_.A->info().bytes_per_product), s_.A->rows());
  return use;
}

template <class T, Space S>
std::vector<SystemCandidate> SystemEstimates<T, S>::candidates(double simple_iterations) {
  weigh();
  if (!s_.chosen.facts || s_.chosen.format.measured || s_.parts.has_preconditioner()) return {};
  const IterationModel model = this->model();
  std::vector<SystemCandidate> found;
  const Named preconditioners = candidate_preconditioners(s_, *this);
  for (const auto& [format, setup_seconds] : candidate_formats(s_)) {
    const std::optional<CostEstimate> product = model.product(format);
    if (!product) continue;
    for (const auto& [name, build] : preconditioners) {
      const IterationEstimate iteration = model.iteration(name, *product);
      SystemCandidate candidate{format, name, setup_seconds + build, iteration.seconds, iteration.resident};
      candidate.iterations = iterations_of(name)(simple_iterations);
      candidate.present = format == s_.chosen.format.format && name == s_.options.precond.name;
      found.push_back(std::move(candidate));
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const SystemCandidate& a, const SystemCandidate& b) { return a.seconds() < b.seconds(); });
  return found;
}

template <class T, Space S>
double SystemEstimates<T, S>::build_seconds(const std::string& precond) const {
  const SystemChoices& chosen = s_.chosen;
  if (chosen.outlooks && chosen.builds != BuildEstimates::none) {
    const std::vector<PrecondOutlook>& stronger = chosen.outlooks->stronger;
    const auto weighed =
        std::find_if(stronger.begin(), stronger.end(), [&](const PrecondOutlook& o) { return o.name == precond; });
    if (weighed != stronger.end()) return weighed->build_seconds;
    const PrecondOutlook& present = chosen.outlooks->present;
    if (present.name == precond && present.build_seconds > 0) return present.build_seconds;
  }
  const std::optional<Pattern<S>> a = s_.source->pattern();
  if (!a || precond == "none") return 0;
  return newel::detail::build_seconds(s_.ctx, *a, find_preconditioner(precond), s_.options.precond, &s_.machine)
      .build;
}

template <class T, Space S>
void complete(Operators<T, S>& of, PrecondOutlook& outlook) {
  const MatrixKind now = SystemEstimates<T, S>(of).kind();
  outlook.iterations = iterations_with(outlook.name, now);
  outlook.margin = margin_of(outlook.name, of.options.precond, now);
  if (outlook.name == "none") return;
  const PrecondMethod& method = find_preconditioner(outlook.name);
  outlook.positive = method.positive;
  if constexpr (S == Space::host) {
    if (method.automatic != AutoPrecond::saddle || !of.chosen.traits->symmetric() || !may_choose_blocks(of.options))
      return;
    const std::optional<CsrView<T, S>> a = of.source ? of.source->at_hand() : std::nullopt;
    if (a && of.chosen.traits->constraints_of(*a) == ConstraintKind::usual)
      outlook.at_beginning = ReachIterations::of_triangular_saddle;
  }
}

template <Space S>
std::string format_in_single(Operators<double, S>& in_double) {
  SystemEstimates<double, S> estimates(in_double);
  estimates.weigh();
  const SystemChoices& chosen = in_double.chosen;
  const std::string& precond = in_double.options.precond.name;
  const bool diagonal_or_none = precond == "none" || find_preconditioner(precond).diagonal;
  if (!chosen.facts || chosen.format.measured || divides(in_double) || !diagonal_or_none) return {};
  if (in_double.first_method().make_mixed.template get<double, S>() == nullptr) return {};
  const std::string format = chosen.expected_format.empty() ? in_double.options.spmv.format : chosen.expected_format;
  const IterationModel model = estimates.model();
  const std::optional<CostEstimate> product = model.product(format);
  const std::optional<double> single = single_iteration_seconds(model, format);
  if (!product || !single) return {};
  const std::vector<SystemCandidate> all =
      in_double.may_move() ? estimates.candidates(chosen.expected_iterations) : std::vector<SystemCandidate>{};
  if (!all.empty() && all.front().preconditioner != precond) return {};
  return *single < model.iteration(precond, *product).seconds ? format : std::string();
}

#define X(T, S)                         \
  template class SystemEstimates<T, S>; \
  template void complete(Operators<T, S>&, PrecondOutlook&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

#define X(S) template std::string format_in_single(Operators<double, S>&);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail

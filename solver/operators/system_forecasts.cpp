// SPDX-License-Identifier: Apache-2.0
// What a solve asks about the operators that may follow.
#include "solver/operators/system_forecasts.hpp"

#include <algorithm>
#include <limits>

#include "core/memory/work_limit.hpp"
#include "core/vectors/instantiate.hpp"
#include "precond/build_cost.hpp"
#include "precond/precond_constants.hpp"
#include "solver/cost/profiles/decision_constants.hpp"
#include "solver/operators/system_estimates.hpp"

namespace newel::detail {
namespace {

// To read the pattern. Those of a device are not read.
template <class T, Space S>
double seconds_of_look(const Operators<T, S>& s, const Pattern<S>& a) {
  const double read_entry = S == Space::host ? constants_of<HostPrecondConstants>(s.machine).read_entry : 0;
  return read_entry * static_cast<double>(a.nnz());
}

// All but the seconds of the setup, in the format that the solve is expected to end in. False: there is none.
template <class T, Space S>
bool estimate_stronger(Operators<T, S>& s) {
  SystemChoices& chosen = s.chosen;
  if (chosen.outlooks) return true;
  const SystemEstimates<T, S> estimates(s);
  const IterationModel model = estimates.model();
  const auto now = model.product(s.options.spmv.format);
  const auto product = chosen.expected_format.empty() ? now : model.product(chosen.expected_format);
  if (!product || !now) return false;
  const auto outlook = [&](const std::string& name) {
    PrecondOutlook found;
    found.name = name;
    found.take_seconds(model.iteration(name, *now).seconds, model.iteration(name, *product).seconds);
    complete(s, found);
    return found;
  };
  PrecondOutlooks found{outlook(s.options.precond.name), {}};
  for (const PrecondMethod* const method : newel::stronger_preconditioners(*chosen.traits)) {
    found.stronger.push_back(outlook(method->name));
  }
  chosen.outlooks = std::move(found);
  return !chosen.outlooks->stronger.empty();
}

// The matrix in the caller's order, where that is how it is multiplied, or where it is kept beside its format.
template <class T, Space S>
KnownValues known_values(const Operators<T, S>& s) {
  KnownValues known;
  const std::optional<CsrView<T, S>> csr = s.source->at_hand();
  if (!csr) return known;
  known.matrix = *csr;
  const NodeCoordinates* const nodes = s.options.spmv.coordinates.get();
  known.node_rows = node_rows(s.chosen);
  if (nodes != nullptr && static_cast<Offset>(nodes->xyz.size()) == csr->rows) known.node_rows = nodes->dimension;
  return known;
}

// The seconds of the setups, by a look at the values or before it. The blocks of a saddle point are counted if they
// serve it, and at once, which takes next to nothing.
template <class T, Space S>
void estimate_builds(Operators<T, S>& s, const Pattern<S>& a, bool by_values) {
  SystemChoices& chosen = s.chosen;
  const KnownValues values = known_values(s);
  const bool known = values.matrix.index() != 0;
  KnownValues later = values;
  later.matrix = {};
  later.later = known;
  for (PrecondOutlook& outlook : chosen.outlooks->stronger) {
    if (outlook.by_values) continue;
    const PrecondMethod& method = find_preconditioner(outlook.name);
    const bool look = method.automatic == AutoPrecond::saddle ? outlook.has_own_method() : by_values;
    const PrecondSeconds seconds =
        build_seconds(s.ctx, a, method, s.options.precond, &s.machine, look ? &values : &later);
    outlook.build_seconds = seconds.build;
    outlook.refresh_seconds = seconds.refresh;
    const double now = outlook.now_seconds / outlook.share, then = outlook.iteration_seconds / outlook.share;
    outlook.share = seconds.iteration_share;
    outlook.take_seconds(now, then);
    outlook.by_values = known && look;
  }
  if (chosen.builds == BuildEstimates::none) chosen.builds = BuildEstimates::pattern;
  if (known && by_values) chosen.builds = BuildEstimates::values;
}

}  // namespace

template <class T, Space S>
const FormatChoice* SystemForecasts<T, S>::format_choice() {
  SystemEstimates<T, S> estimates(s_);
  estimates.weigh();
  return estimates.format_choice();
}

template <class T, Space S>
double SystemForecasts<T, S>::expected_iterations() {
  SystemEstimates<T, S>(s_).weigh();
  return present_iterations()(s_.chosen.expected_iterations);
}

template <class T, Space S>
ExpectedIterations SystemForecasts<T, S>::present_iterations() const {
  return SystemEstimates<T, S>(s_).iterations_of(s_.options.precond.name);
}

template <class T, Space S>
double SystemForecasts<T, S>::of_usual_iterations() {
  SystemEstimates<T, S> estimates(s_);
  estimates.weigh();
  return present_iterations() == &simple_iterations ? newel::detail::of_usual_iterations(estimates.kind()) : 1;
}

template <class T, Space S>
double SystemForecasts<T, S>::sure_iterations(bool before) {
  SystemEstimates<T, S> estimates(s_);
  const MatrixKind kind = estimates.kind();
  const bool definite = s_.first_method().demands == Demand::definite;
  const bool by_reach = kind.convection || kind.saddle;
  if (!(definite || by_reach) || present_iterations() != &simple_iterations) return 0;
  if (!by_reach && (!kind.undamped || (before && kind.origin != MatrixOrigin::mesh))) return 0;
  estimates.weigh();  // before that little is known of the kind
  return sure_share(estimates.kind(), before) * s_.chosen.expected_iterations / estimate_scale();  // no estimate
}

// Asked at every poll: the model's seconds are worked out once, and the pattern is read once, when that is worth it.
// The values are looked at before one is made.
template <class T, Space S>
const PrecondOutlooks* SystemForecasts<T, S>::stronger_preconditioners(double done) {
  SystemEstimates<T, S>(s_).weigh();
  SystemChoices& chosen = s_.chosen;
  if (!chosen.provisional || (chosen.outlooks && chosen.outlooks->stronger.empty())) return nullptr;
  const std::optional<Pattern<S>> a = s_.source->pattern();
  if (!a || !estimate_stronger(s_)) return nullptr;
  if (chosen.builds != BuildEstimates::none) return &*chosen.outlooks;
  const double enough = WorthConstants::small_share * done * chosen.outlooks->present.iteration_seconds;
  if (!(enough >= seconds_of_look(s_, *a))) return nullptr;
  try {
    estimate_builds(s_, *a, false);
  } catch (const OutOfMemory&) {
    chosen.provisional = false;
    return nullptr;
  }
  return &*chosen.outlooks;
}

template <class T, Space S>
double SystemForecasts<T, S>::worth_a_look() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  SystemEstimates<T, S>(s_).weigh();
  const std::optional<Pattern<S>> a = s_.source->pattern();
  if (!s_.chosen.provisional || !a || !estimate_stronger(s_)) return infinity;
  const PrecondOutlooks& outlooks = *s_.chosen.outlooks;
  const auto is_positive = [](const PrecondOutlook& stronger) { return stronger.positive; };
  const bool positive = std::any_of(outlooks.stronger.begin(), outlooks.stronger.end(), is_positive);
  const MatrixKind kind = SystemEstimates<T, S>(s_).kind();
  if (!positive && !kind.diffusion && !(kind.origin == MatrixOrigin::blocks && kind.undamped)) return infinity;
  const double share = positive ? WorthConstants::small_share : WorthConstants::least_share;
  return seconds_of_look(s_, *a) / (share * outlooks.present.iteration_seconds);
}

template <class T, Space S>
bool SystemForecasts<T, S>::values_unseen() const {
  return s_.chosen.builds == BuildEstimates::pattern && s_.source->pattern() && known_values(s_).matrix.index() != 0;
}

template <class T, Space S>
void SystemForecasts<T, S>::inspect_values() {
  try {
    estimate_builds(s_, *s_.source->pattern(), true);
  } catch (const OutOfMemory&) {
    s_.chosen.builds = BuildEstimates::pattern_alone;
  }
}

template <class T, Space S>
std::optional<FollowedPrecond> SystemForecasts<T, S>::followed_preconditioner() const {
  const SystemChoices& chosen = s_.chosen;
  if (!chosen.weaker_outlooks || !chosen.outlooks) return std::nullopt;
  return FollowedPrecond{chosen.outlooks->present, chosen.weaker_outlooks->present};
}

#define X(T, S) template class SystemForecasts<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

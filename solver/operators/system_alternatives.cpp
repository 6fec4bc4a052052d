// SPDX-License-Identifier: Apache-2.0
// How the operators of a system change.
#include "solver/operators/system_alternatives.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "core/memory/work_limit.hpp"
#include "core/vectors/instantiate.hpp"
#include "precond/build_cost.hpp"
#include "solver/operators/block_method.hpp"
#include "solver/operators/format_change.hpp"
#include "solver/operators/precond_chooser.hpp"
#include "solver/operators/system_estimates.hpp"

namespace newel::detail {
namespace {

// What `make` returns; nothing where the matrix does not support it, memory does not suffice or a limit ends it.
template <class Make>
auto attempt(Make&& make) -> std::optional<decltype(make())> {
  try {
    return make();
  } catch (const InputError&) {
  } catch (const OutOfMemory&) {
  } catch (const WorkInterrupted&) {
  }
  return std::nullopt;
}

}  // namespace

template <class T, Space S>
void SystemAlternatives<T, S>::weigh() {
  SystemEstimates<T, S>(s_).weigh();
}

template <class T, Space S>
std::string SystemAlternatives<T, S>::expected_format() {
  weigh();
  const SystemChoices& chosen = s_.chosen;
  return chosen.expected_format == chosen.format.format ? std::string() : chosen.expected_format;
}

template <class T, Space S>
bool SystemAlternatives<T, S>::take_format(const std::string& format) {
  return rebuild_in_format(s_, format);
}

// Of the present values; null for "none".
template <class T, Space S>
OperatorPtr<T, S> SystemAlternatives<T, S>::made(const PrecondOptions& named, bool symmetry_needed) const {
  if (named.name == "none") return nullptr;
  Array<T, S> values;
  PermutedCsr<T, S> permuted;
  const CsrView<T, S> a = s_.source->in_order(values, permuted);
  if (symmetry_needed && s_.chosen.traits_older && !matrix_traits(s_.ctx, a).symmetric())
    throw InputError("the present values are not symmetric");
  return make_precond(s_.ctx, a, s_.order, named, s_.options.spmv);
}

template <class T, Space S>
bool SystemAlternatives<T, S>::take_stronger(const std::string& name, bool begins) {
  SystemChoices& chosen = s_.chosen;
  std::vector<PrecondOutlook>& stronger = chosen.outlooks->stronger;
  const auto is_it = [&](const PrecondOutlook& outlook) { return outlook.name == name; };
  const auto it = std::find_if(stronger.begin(), stronger.end(), is_it);
  PrecondOutlook taken = *it;
  const auto before_it = stronger.erase(it) - stronger.begin();
  const bool own_method = begins && taken.has_own_method();
  PrecondOptions named = s_.options.precond;
  named.name = name;
  if (own_method) named.symmetric = false;
  std::optional<OperatorPtr<T, S>> M = attempt([&] { return made(named, named.symmetric); });
  if (!M) return false;
  if (own_method) choose_solver_of_blocks(chosen);
  s_.options.precond.symmetric = named.symmetric;
  if (!taken.by_values) {
    const OperatorInfo info = (*M)->info();
    PrecondQuestion question{s_.options.precond, s_.machine};
    question.made = &info;
    question.host_threads = host_context(s_.ctx).threads();
    const double more = cost_of(find_preconditioner(name), question).more_refresh_seconds;
    taken.refresh_seconds += more;
    taken.build_seconds += more;  // should it come again
  }
  s_.weaker = KeptPrecond<T, S>{std::move(s_.M), std::exchange(chosen.precond_older, false)};
  chosen.weaker_outlooks = *chosen.outlooks;
  chosen.outlooks->present = taken;
  for (auto other = stronger.begin(); other != stronger.begin() + before_it; ++other) other->passed_over = true;
  if (!begins && taken.has_own_method()) {
    taken.passed_over = true;
    stronger.push_back(taken);  // a later solve may begin with its own method
  }
  s_.M = std::move(*M);
  s_.options.precond.name = name;
  const std::string& weaker = chosen.weaker_outlooks->present.name;
  chosen.precond_reason = "replaced " + weaker + " in a long solve";
  std::replace(chosen.untried.begin(), chosen.untried.end(), name, weaker);
  SystemEstimates<T, S>(s_).compare_formats_again();
  return true;
}

template <class T, Space S>
void SystemAlternatives<T, S>::restore() {
  if (!s_.weaker) return;
  s_.M = std::move(s_.weaker->M);
  s_.chosen.precond_older = s_.weaker->older;
  s_.weaker.reset();
  call_weaker_present("gained less");
}

// M is the one before again: so are its name and what is known of it.
template <class T, Space S>
void SystemAlternatives<T, S>::call_weaker_present(const char* why) {
  SystemChoices& chosen = s_.chosen;
  std::string& present = s_.options.precond.name;
  chosen.outlooks = std::move(chosen.weaker_outlooks);
  chosen.weaker_outlooks.reset();
  const std::string& name = chosen.outlooks->present.name;
  chosen.precond_reason = present + " " + why;
  std::replace(chosen.untried.begin(), chosen.untried.end(), name, present);
  present = name;
  SystemEstimates<T, S>(s_).compare_formats_again();
}

template <class T, Space S>
bool SystemAlternatives<T, S>::leave_stronger(int iterations) {
  SystemChoices& chosen = s_.chosen;
  if (!chosen.weaker_outlooks || !s_.source->pattern()) return false;
  PrecondOptions named = s_.options.precond;
  named.name = chosen.weaker_outlooks->present.name;
  const bool other_solvers = !chosen.usual_solvers.order.empty();
  if (other_solvers && find_solver(chosen.usual_solvers.order.front()).demands != Demand::nothing)
    named.symmetric = true;
  std::optional<OperatorPtr<T, S>> M = attempt([&] { return made(named, false); });
  if (!M) return false;
  if (other_solvers) chosen.solvers = std::exchange(chosen.usual_solvers, {});
  s_.options.precond.symmetric = named.symmetric;
  s_.M = std::move(*M);
  chosen.precond_older = false;
  PrecondOutlook left = chosen.outlooks->present;
  left.measured_iterations = iterations;
  call_weaker_present("took longer");
  chosen.outlooks->stronger.push_back(left);
  return true;
}

template <class T, Space S>
void SystemAlternatives<T, S>::decide() {
  weigh();
  SystemChoices& chosen = s_.chosen;
  const std::optional<CsrView<T, S>> csr = s_.A->as_csr();
  if (!chosen.provisional || !csr || !s_.order.natural() || !s_.sound()) return;
  const std::string before = s_.options.precond.name;
  try {
    PrecondChooser<T, S>(s_).choose(*csr, false);
  } catch (const WorkInterrupted&) {  // the one that "auto" began with stays
    return;
  }
  std::replace(chosen.untried.begin(), chosen.untried.end(), s_.options.precond.name, before);
  if (s_.options.precond.name != before) SystemEstimates<T, S>(s_).compare_formats_again();
}

template <class T, Space S>
bool SystemAlternatives<T, S>::raise_precision() {
  if (s_.M == nullptr || s_.options.precond.name == "none" || !s_.source->pattern()) return false;
  const PrecondMethod& method = find_preconditioner(s_.options.precond.name);
  if (method.single.chosen == nullptr || !method.single.chosen(s_.options.precond, s_.M->info())) return false;
  PrecondOptions in_double = s_.options.precond;
  method.single.forbid(in_double);
  std::optional<OperatorPtr<T, S>> M = attempt([&] { return made(in_double, false); });
  if (!M) return false;
  s_.M = std::move(*M);
  s_.options.precond = in_double;
  s_.chosen.precond_older = false;
  s_.precond_sound = true;
  return true;
}

namespace {

// By the model, than what is left of the time limit: why the preconditioner is not tried. Empty: there is time.
std::string takes_too_long(double build_seconds, double seconds_left) {
  if (!std::isfinite(seconds_left) || !(build_seconds > seconds_left)) return {};
  char text[96];
  std::snprintf(text, sizeof text, "its setup is estimated at %.3g s, longer than the time limit allows",
                build_seconds);
  return text;
}

}  // namespace

template <class T, Space S>
bool SystemAlternatives<T, S>::take_next(std::vector<Untried>& untried) {
  weigh();
  SystemChoices& chosen = s_.chosen;
  chosen.provisional = false;
  chosen.weaker_outlooks.reset();
  // Those that "auto" ranks for such matrices, unless they are in use.
  const SolverChoice& solvers = chosen.usual_solvers.order.empty() ? chosen.solvers : chosen.usual_solvers;
  const bool symmetric = find_solver(solvers.order.front()).demands != Demand::nothing;
  while (!chosen.untried.empty()) {
    PrecondOptions next = s_.options.precond;
    if (symmetric) next.symmetric = true;
    next.name = chosen.untried.front();
    chosen.untried.erase(chosen.untried.begin());
    const double left = work_limit(s_.ctx).seconds_left();
    const double build = std::isfinite(left) ? SystemEstimates<T, S>(s_).build_seconds(next.name) : 0;
    if (std::string why = takes_too_long(build, left); !why.empty()) {
      untried.push_back({"the preconditioner " + next.name, std::move(why)});
      continue;
    }
    std::optional<OperatorPtr<T, S>> M = attempt([&] { return made(next, false); });
    if (!M && work_limit(s_.ctx).ended() != WorkEnd::none) return false;
    if (!M) continue;
    s_.M = std::move(*M);
    s_.options.precond.name = next.name;
    s_.options.precond.symmetric = next.symmetric;
    if (!chosen.usual_solvers.order.empty()) chosen.solvers = std::exchange(chosen.usual_solvers, {});
    chosen.precond_older = false;
    chosen.precond_reason = "the other preconditioners failed";
    s_.precond_sound = true;
    return true;
  }
  return false;
}

#define X(T, S) template class SystemAlternatives<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

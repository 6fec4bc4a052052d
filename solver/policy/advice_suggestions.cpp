// SPDX-License-Identifier: Apache-2.0
// What may help after a failed solve, each as one suggestion.
#include "solver/policy/advice_suggestions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>

#include <newel/precond/registry.hpp>
#include <newel/solver/registry.hpp>

namespace newel::detail {
namespace {

// GMRES that forgets nothing ends after n iterations, and for small systems its basis is small.
constexpr Index small_system = 2000;

const std::string* value_of(const std::vector<SettingChange>& settings, const char* key) {
  for (const SettingChange& change : settings) {
    if (change.key == key) return &change.value;
  }
  return nullptr;
}

// Of the recurrence, in the last attempt.
std::vector<double> last_history(const SolveReport& report, const Attempt& last) {
  const std::size_t wanted = static_cast<std::size_t>(std::max(last.iterations, 0));
  const std::size_t size = std::min(wanted, report.history.size());
  return {report.history.end() - static_cast<std::ptrdiff_t>(size), report.history.end()};
}

// A cycle length worth a try: the one wanted, or all n for small systems; never more than n.
int worthwhile_restart(const AdviceSituation& s, int wanted) {
  const Index rows = s.facts().rows;
  if (rows <= 0) return wanted;
  return rows <= small_system ? rows : std::min(wanted, rows);
}

// Whether an attempt was made with these settings.
bool was_tried(const AdviceSituation& s, const std::vector<SettingChange>& settings) {
  const std::string* const solver_change = value_of(settings, "solver");
  const std::string* const precond_change = value_of(settings, "preconditioner");
  const std::string* const restart = value_of(settings, "restart");
  for (const SettingChange& change : settings) {
    if (change.key != "solver" && change.key != "preconditioner" && change.key != "restart") return false;
  }
  const std::string solver = solver_change != nullptr ? *solver_change : s.options().solver.name;
  const std::string precond = precond_change != nullptr ? *precond_change : s.options().precond.name;
  return std::any_of(s.attempts().begin(), s.attempts().end(), [&](const Attempt& attempt) {
    if (restart != nullptr && s.report().restarts > 0 && std::stoi(*restart) > s.report().cycle_length) return false;
    const bool same_solver = same_name(solver, "auto") || same_name(solver, attempt.method);
    return same_solver && (same_name(precond, "auto") || same_name(precond, s.preconditioner_of(attempt)));
  });
}

// Whether the matrix supports this preconditioner, as far as is known.
bool supports(const AdviceSituation& s, const std::string& preconditioner) {
  if (same_name(preconditioner, "none")) return true;
  if (!s.facts().has_entries) return false;
  const PrecondMethod* const method = precond_table().find(preconditioner);
  return method == nullptr || !method->divides_by_diagonal || s.facts().full_diagonal;
}

// Whether the matrix may be what this method demands.
bool supports(const AdviceSituation& s, const SolverMethod& method) {
  switch (method.demands) {
    case Demand::nothing:
      return true;
    case Demand::symmetric:
      return s.is_symmetric();
    case Demand::definite:
      return s.may_be_definite();
    case Demand::diagonal:
      break;
  }
  return false;
}

}  // namespace

std::string advice_format(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

double attainable_residual(const AdviceSituation& s) {
  double level = s.report().attainable_residual;
  for (const Attempt& attempt : s.attempts()) {
    if (level == 0 && attempt.failure.cause == Cause::rounding) level = attempt.attainable_residual;
  }
  return level;
}

bool residual_falls(const AdviceSituation& s) {
  constexpr double least_gain = 1.2, most_factor = 10, of_rounding = 0.1;
  const SolveReport& r = s.report();
  if (r.recurrence_residual < of_rounding * r.true_residual && r.true_residual > r.tolerance &&
      !s.ended_in(&SolverMethod::minimises))
    return false;  // the recurrence has left b - A x: rounding
  const std::vector<double> history = last_history(r, s.attempts().back());
  constexpr std::size_t enough = 20;
  if (history.size() < enough) return r.true_residual < of_rounding * r.initial_residual;
  const auto least = [](auto begin, auto end) { return *std::min_element(begin, end); };
  const auto half = history.begin() + static_cast<std::ptrdiff_t>(history.size() / 2);
  const double before = least(history.begin(), half), now = std::min(before, least(half, history.end()));
  if (!(before > least_gain * now) || !(now > 0)) return false;
  const double of_half = std::log(before / now), left = std::log(now / r.tolerance);
  return r.tolerance > 0 && left / of_half / 2 <= most_factor;
}

std::optional<Suggestion> minimising(const AdviceSituation& s, const std::string& why) {
  constexpr int long_cycle = 100;
  for (const SolverMethod& method : solver_methods()) {
    if (!method.minimises || method.flexible || !supports(s, method) ||
        s.used([&](const auto& other) { return &other == &method; }))
      continue;
    std::vector<SettingChange> settings = {{"solver", method.name, true}};
    if (method.restarts) settings.push_back({"restart", std::to_string(worthwhile_restart(s, long_cycle))});
    return Suggestion{settings, why};
  }
  return std::nullopt;
}

std::optional<Suggestion> symmetric_indefinite(const AdviceSituation& s) {
  if (!s.is_symmetric() || s.may_be_definite()) return std::nullopt;
  const PrecondMethod* const positive = automatic_preconditioner(AutoPrecond::symmetric);
  const bool names_precond =
      !same_name(s.options().precond.name, "auto") && !same_name(s.options().precond.name, "none");
  for (const SolverMethod& method : solver_methods()) {
    if (method.demands != Demand::symmetric) continue;
    std::vector<SettingChange> settings;
    if (!same_name(s.options().solver.name, method.name)) settings.push_back({"solver", method.name, true});
    if (names_precond && positive != nullptr && s.facts().has_entries) {
      settings.push_back({"preconditioner", positive->name, true});
    }
    if (settings.empty() || was_tried(s, settings)) continue;
    return Suggestion{settings, "A is symmetric and not positive definite"};
  }
  return std::nullopt;
}

std::optional<Suggestion> longer_cycle(const AdviceSituation& s) {
  const int now = s.report().cycle_length;
  const int longer = worthwhile_restart(s, std::max(2 * std::min(now, std::numeric_limits<int>::max() / 2), 1));
  const SolverMethod* const method = s.used([](const SolverMethod& line) { return line.restarts; });
  if (method == nullptr || now <= 0 || longer <= now) return std::nullopt;
  if (!s.ended_in(&SolverMethod::restarts) && s.report().restarts == 0) return std::nullopt;
  return Suggestion{
      {{"restart", std::to_string(longer)}},
      advice_format("longer cycles of %s converge in fewer iterations (now %d)", method->title.c_str(), now)};
}

std::optional<Suggestion> stronger_preconditioner(const AdviceSituation& s, const std::string& why) {
  const PrecondOptions& now = s.options().precond;
  std::vector<std::vector<SettingChange>> candidates;
  const auto add_named = [&](const PrecondMethod& method) {
    candidates.push_back({{"preconditioner", method.name, true}});
  };
  const auto add_stronger = [&](const PrecondMethod* method) {
    if (method != nullptr && method->stronger != nullptr) candidates.push_back(method->stronger(now));
  };
  if (s.may_be_definite()) {  // the strongest is the last of the table
    const std::vector<const PrecondMethod*> methods = automatic_preconditioners(AutoPrecond::definite);
    std::for_each(methods.rbegin(), methods.rend(), [&](const PrecondMethod* method) { add_named(*method); });
  }
  add_stronger(precond_table().find(now.name));
  const PrecondMethod* const general = automatic_preconditioner(AutoPrecond::general);
  // Without a preconditioner usually for zeros on the diagonal, where SPAI on A's own pattern often is not enough.
  if (general != nullptr && !same_name(now.name, "none")) add_named(*general);
  add_stronger(general);
  for (const std::vector<SettingChange>& settings : candidates) {
    const std::string* const name = value_of(settings, "preconditioner");
    const bool sound = !settings.empty() && (name == nullptr || supports(s, *name)) && s.facts().has_entries;
    if (sound && !was_tried(s, settings)) return Suggestion{settings, why};
  }
  return std::nullopt;
}

std::optional<Suggestion> no_preconditioner(const AdviceSituation& s, const std::string& why) {
  const std::vector<SettingChange> none = {{"preconditioner", "none", true}};
  if (same_name(s.preconditioner_of(s.attempts().back()), "none") || was_tried(s, none)) return std::nullopt;
  return Suggestion{none, why};
}

// No fewer than the default and no more than the option takes.
std::optional<Suggestion> more_iterations(const AdviceSituation& s) {
  const int now = s.options().stop.max_iterations;
  const long long more = std::max<long long>(StopCriterion{}.max_iterations, 10LL * now);
  const long long most = std::numeric_limits<int>::max();
  return Suggestion{{{"max_iterations", std::to_string(std::min(more, most))}},
                    advice_format("allows more (now %d)", now)};
}

std::optional<Suggestion> inspect_matrix(const AdviceSituation& s) {
  return Suggestion{{},
                    "inspect the matrix with " + s.words().inspect + ": it may be singular, or not the intended one"};
}

}  // namespace newel::detail

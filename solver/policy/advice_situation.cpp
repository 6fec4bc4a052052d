// SPDX-License-Identifier: Apache-2.0
// What was tried, what has been seen, and the suggestions that rules choose from.
#include "solver/policy/advice_situation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>

#include <newel/precond/registry.hpp>
#include <newel/solver/registry.hpp>
#include "solver/krylov/monitor/convergence_monitor.hpp"

namespace newel::detail {
namespace {

// GMRES that forgets nothing ends after n iterations, and for small systems its basis is small.
constexpr Index small_system = 2000;

// Its line of the table; null for what has none.
const SolverMethod* line_of(const std::string& method) { return method.empty() ? nullptr : &find_solver(method); }

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

}  // namespace

std::string advice_format(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

AdviceSituation::AdviceSituation(const AdviceInput& input, const AdviceWords& words)
    : in_(input), words_(words), attempts_(input.report.attempts) {
  if (attempts_.empty()) attempts_ = {only_attempt(input.report)};
}

std::string AdviceSituation::preconditioner_of(const Attempt& attempt) const {
  if (!attempt.preconditioner.empty()) return attempt.preconditioner;
  const bool several = std::any_of(attempts_.begin(), attempts_.end(),
                                   [](const Attempt& other) { return !other.preconditioner.empty(); });
  if (several) return "none";
  return in_.preconditioner.empty() ? in_.options.precond.name : in_.preconditioner;
}

bool AdviceSituation::met(Cause cause) const {
  return report().failure.cause == cause ||
         std::any_of(attempts_.begin(), attempts_.end(),
                     [&](const Attempt& attempt) { return attempt.failure.cause == cause; });
}

const Attempt* AdviceSituation::best_that_ended(Status status) const {
  const Attempt* best = nullptr;
  for (const Attempt& attempt : attempts_) {
    if (attempt.status != status) continue;
    if (best == nullptr || attempt.true_residual < best->true_residual) best = &attempt;
  }
  return best;
}

bool AdviceSituation::ended_in(bool SolverMethod::*column) const {
  const SolverMethod* const last = line_of(report().method);
  return last != nullptr && last->*column;
}

const SolverMethod* AdviceSituation::used(const std::function<bool(const SolverMethod&)>& is) const {
  const SolverMethod* const last = line_of(report().method);
  if (last != nullptr && is(*last)) return last;
  for (const Attempt& attempt : attempts_) {
    const SolverMethod* const method = line_of(attempt.method);
    if (method != nullptr && is(*method)) return method;
  }
  return nullptr;
}

double AdviceSituation::attainable_residual() const {
  double level = report().attainable_residual;
  for (const Attempt& attempt : attempts_) {
    if (level == 0 && attempt.failure.cause == Cause::rounding) level = attempt.attainable_residual;
  }
  return level;
}

bool AdviceSituation::residual_falls() const {
  constexpr double least_gain = 1.2, most_factor = 10, of_rounding = 0.1;
  const SolveReport& r = report();
  if (r.recurrence_residual < of_rounding * r.true_residual && r.true_residual > r.tolerance &&
      !ended_in(&SolverMethod::minimises))
    return false;  // the recurrence has left b - A x: rounding
  const std::vector<double> history = last_history(r, attempts_.back());
  constexpr std::size_t enough = 20;
  if (history.size() < enough) return r.true_residual < of_rounding * r.initial_residual;
  const auto least = [](auto begin, auto end) { return *std::min_element(begin, end); };
  const auto half = history.begin() + static_cast<std::ptrdiff_t>(history.size() / 2);
  const double before = least(history.begin(), half), now = std::min(before, least(half, history.end()));
  if (!(before > least_gain * now) || !(now > 0)) return false;
  const double of_half = std::log(before / now), left = std::log(now / r.tolerance);
  return r.tolerance > 0 && left / of_half / 2 <= most_factor;
}

bool AdviceSituation::may_be_definite() const {
  return facts().may_be_definite && !met(Cause::matrix_not_positive) && found_no_asymmetry();
}

bool AdviceSituation::is_symmetric() const { return facts().symmetric && found_no_asymmetry(); }

bool AdviceSituation::found_no_asymmetry() const {
  return std::none_of(attempts_.begin(), attempts_.end(),
                      [](const Attempt& a) { return a.failure.asymmetric == Asymmetric::matrix; });
}

bool AdviceSituation::was_tried(const std::vector<SettingChange>& settings) const {
  const std::string* const solver_change = value_of(settings, "solver");
  const std::string* const precond_change = value_of(settings, "preconditioner");
  const std::string* const restart = value_of(settings, "restart");
  for (const SettingChange& change : settings) {
    if (change.key != "solver" && change.key != "preconditioner" && change.key != "restart") return false;
  }
  const std::string solver = solver_change != nullptr ? *solver_change : options().solver.name;
  const std::string precond = precond_change != nullptr ? *precond_change : options().precond.name;
  return std::any_of(attempts_.begin(), attempts_.end(), [&](const Attempt& attempt) {
    if (restart != nullptr && report().restarts > 0 && std::stoi(*restart) > report().cycle_length) return false;
    const bool same_solver = same_name(solver, "auto") || same_name(solver, attempt.method);
    return same_solver && (same_name(precond, "auto") || same_name(precond, preconditioner_of(attempt)));
  });
}

bool AdviceSituation::supports(const std::string& preconditioner) const {
  if (same_name(preconditioner, "none")) return true;
  if (!facts().has_entries) return false;
  const PrecondMethod* const method = precond_table().find(preconditioner);
  return method == nullptr || !method->divides_by_diagonal || facts().full_diagonal;
}

bool AdviceSituation::supports(const SolverMethod& method) const {
  switch (method.demands) {
    case Demand::nothing:
      return true;
    case Demand::symmetric:
      return is_symmetric();
    case Demand::definite:
      return may_be_definite();
    case Demand::diagonal:
      break;
  }
  return false;
}

int AdviceSituation::worthwhile_restart(int wanted) const {
  const Index rows = facts().rows;
  if (rows <= 0) return wanted;
  return rows <= small_system ? rows : std::min(wanted, rows);
}

std::optional<Suggestion> AdviceSituation::minimising(const std::string& why) const {
  constexpr int long_cycle = 100;
  for (const SolverMethod& method : solver_methods()) {
    if (!method.minimises || method.flexible || !supports(method) ||
        used([&](const auto& other) { return &other == &method; }))
      continue;
    std::vector<SettingChange> settings = {{"solver", method.name, true}};
    if (method.restarts) settings.push_back({"restart", std::to_string(worthwhile_restart(long_cycle))});
    return Suggestion{settings, why};
  }
  return std::nullopt;
}

std::optional<Suggestion> AdviceSituation::symmetric_indefinite() const {
  if (!is_symmetric() || may_be_definite()) return std::nullopt;
  const PrecondMethod* const positive = automatic_preconditioner(AutoPrecond::symmetric);
  const bool names_precond = !same_name(options().precond.name, "auto") && !same_name(options().precond.name, "none");
  for (const SolverMethod& method : solver_methods()) {
    if (method.demands != Demand::symmetric) continue;
    std::vector<SettingChange> settings;
    if (!same_name(options().solver.name, method.name)) settings.push_back({"solver", method.name, true});
    if (names_precond && positive != nullptr && facts().has_entries) {
      settings.push_back({"preconditioner", positive->name, true});
    }
    if (settings.empty() || was_tried(settings)) continue;
    return Suggestion{settings, "A is symmetric and not positive definite"};
  }
  return std::nullopt;
}

std::optional<Suggestion> AdviceSituation::longer_cycle() const {
  const int now = report().cycle_length;
  const int longer = worthwhile_restart(std::max(2 * std::min(now, std::numeric_limits<int>::max() / 2), 1));
  const SolverMethod* const method = used([](const SolverMethod& line) { return line.restarts; });
  if (method == nullptr || now <= 0 || longer <= now) return std::nullopt;
  if (!ended_in(&SolverMethod::restarts) && report().restarts == 0) return std::nullopt;
  return Suggestion{
      {{"restart", std::to_string(longer)}},
      advice_format("longer cycles of %s converge in fewer iterations (now %d)", method->title.c_str(), now)};
}

std::optional<Suggestion> AdviceSituation::stronger_preconditioner(const std::string& why) const {
  const PrecondOptions& now = options().precond;
  std::vector<std::vector<SettingChange>> candidates;
  const auto add_named = [&](const PrecondMethod& method) {
    candidates.push_back({{"preconditioner", method.name, true}});
  };
  const auto add_stronger = [&](const PrecondMethod* method) {
    if (method != nullptr && method->stronger != nullptr) candidates.push_back(method->stronger(now));
  };
  if (may_be_definite()) {  // the strongest is the last of the table
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
    const bool sound = !settings.empty() && (name == nullptr || supports(*name)) && facts().has_entries;
    if (sound && !was_tried(settings)) return Suggestion{settings, why};
  }
  return std::nullopt;
}

std::optional<Suggestion> AdviceSituation::no_preconditioner(const std::string& why) const {
  const std::vector<SettingChange> none = {{"preconditioner", "none", true}};
  if (same_name(preconditioner_of(attempts_.back()), "none") || was_tried(none)) return std::nullopt;
  return Suggestion{none, why};
}

// No fewer than the default and no more than the option takes.
Suggestion AdviceSituation::more_iterations() const {
  const int now = options().stop.max_iterations;
  const long long more = std::max<long long>(StopCriterion{}.max_iterations, 10LL * now);
  const long long most = std::numeric_limits<int>::max();
  return {{{"max_iterations", std::to_string(std::min(more, most))}}, advice_format("allows more (now %d)", now)};
}

Suggestion AdviceSituation::inspect() const {
  return {{}, "inspect the matrix with " + words_.inspect + ": it may be singular, or not the intended one"};
}

}  // namespace newel::detail

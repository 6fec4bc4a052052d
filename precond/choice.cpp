// SPDX-License-Identifier: Apache-2.0
// The automatic choice of a preconditioner.
#include <newel/precond/choice.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/machine.hpp>
#include "core/memory/work_limit.hpp"
#include "core/text/number_text.hpp"
#include "core/vectors/instantiate.hpp"
#include "precond/build_cost.hpp"
#include "precond/mirrored_constraints.hpp"

namespace newel {
namespace {

std::string rounded(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

std::string iterations_text(double iterations) {
  return std::isfinite(iterations) ? detail::plain_number(iterations, 3) + " iterations" : "no progress";
}

// Seconds of so many solves by the cost model, setup included.
double predict_seconds(const PrecondTrial& trial, double iterations, double solves) {
  if (!std::isfinite(iterations)) return iterations;
  return trial.build_seconds + solves * iterations * trial.iteration_seconds;
}

PrecondOptions with_name(PrecondOptions options, const std::string& name) {
  options.name = name;
  return options;
}

double solves_of(double expected_products, double iterations) {
  if (expected_products <= 0 || !std::isfinite(iterations)) return 1;
  return std::max(1.0, expected_products / std::max(iterations, 1.0));
}

bool costs_next_to_nothing(const PrecondMethod& method) {
  return method.automatic == AutoPrecond::simple || method.automatic == AutoPrecond::symmetric;
}

// The names with "or" between them.
std::string any_of(const std::vector<const PrecondMethod*>& methods) {
  std::string names;
  for (const PrecondMethod* method : methods) names += (names.empty() ? "" : " or ") + method->name;
  return names;
}

}  // namespace

double simple_iterations(double simple) { return simple; }

double simple_iterations_for(ExpectedIterations iterations, double n) {
  if (iterations == &simple_iterations) return n;
  double least = 0, most = 1;
  while (iterations(most) < n && most < 1e12) most *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (least + most) / 2;
    (iterations(middle) < n ? least : most) = middle;
  }
  return most;
}

ExpectedIterations iterations_with(const PrecondMethod& method, MatrixOrigin origin) {
  if (costs_next_to_nothing(method)) return &simple_iterations;
  const PrecondOptions options;
  PrecondQuestion question{options};
  question.origin = origin;
  return detail::cost_of(method, question).iterations;
}

ExpectedIterations iterations_with(std::string_view name, MatrixOrigin origin) {
  if (same_name(name, "auto") || same_name(name, "none")) return &simple_iterations;
  return iterations_with(find_preconditioner(name), origin);
}

const PrecondMethod* simple_preconditioner(const MatrixTraits& traits) {
  if (traits.symmetric() && !traits.positive_diagonal()) {
    const PrecondMethod* const positive = automatic_preconditioner(AutoPrecond::symmetric);
    if (positive != nullptr) return positive;
  }
  const PrecondMethod* const simple = automatic_preconditioner(AutoPrecond::simple);
  if (simple == nullptr || (simple->divides_by_diagonal && !traits.full_diagonal())) return nullptr;
  return simple;
}

bool is_saddle_point(const MatrixTraits& traits) {
  const Index negative = traits.symmetric() ? traits.negative_diagonal.count : 0;
  const Index constraints = traits.missing_diagonal.count + traits.zero_diagonal.count + negative;
  return traits.square && constraints > 0 && constraints <= traits.rows - constraints;
}

std::vector<const PrecondMethod*> stronger_preconditioners(const MatrixTraits& traits) {
  if (traits.symmetric() && traits.positive_diagonal()) return automatic_preconditioners(AutoPrecond::definite);
  std::vector<const PrecondMethod*> methods;  // SPAI of an indefinite matrix is not positive definite
  const auto add = [&](AutoPrecond use) {
    const std::vector<const PrecondMethod*> more = automatic_preconditioners(use);
    methods.insert(methods.end(), more.begin(), more.end());
  };
  if (!traits.symmetric()) add(AutoPrecond::general);
  if (!traits.symmetric() && traits.elliptic()) add(AutoPrecond::elliptic);
  if (is_saddle_point(traits)) add(AutoPrecond::saddle);
  return methods;
}

std::string why_no_stronger(const PrecondUse& use) {
  const PrecondMethod* const simple = simple_preconditioner(use.traits);
  if (simple == nullptr || !use.iteration_seconds || !(use.expected_iterations > 0)) return {};
  const double of_simple = use.iteration_seconds(simple->name),
               most = detail::precond_counts.far_more * use.expected_iterations;
  std::string why;
  for (const PrecondMethod* const method : stronger_preconditioners(use.traits)) {
    const double of_method = use.iteration_seconds(method->name);
    const double share = iterations_with(*method)(most) / most;
    if (share * of_method < of_simple) return {};
    why += (why.empty() ? "" : "; ") + ("an iteration with " + method->name) + " would take " +
           rounded(of_method / of_simple) + " times as long, and usually " + rounded(share) +
           " times as many are needed";
  }
  return why.empty() ? why : why + " (a cost model)";
}

double predict_iterations(const PrecondTrial& trial, double rel_tol) {
  if (trial.iterations == 0 && !trial.failed && trial.reduction == 1) return 0;  // there is nothing to solve
  if (trial.reduction == 0) return trial.iterations;
  if (trial.failed || !(trial.reduction < 1)) return std::numeric_limits<double>::infinity();
  return std::max<double>(1, trial.iterations * std::log(rel_tol) / std::log(trial.reduction));
}

PrecondChoice decide_precond(const PrecondTrial& simple, const PrecondTrial& strong, double rel_tol,
                             double expected_products) {
  const double simple_count = predict_iterations(simple, rel_tol), strong_count = predict_iterations(strong, rel_tol);
  const double solves = solves_of(expected_products, simple_count);
  const double simple_seconds = predict_seconds(simple, simple_count, solves);
  const double strong_seconds = predict_seconds(strong, strong_count, solves);
  const bool neither = !std::isfinite(simple_count) && !std::isfinite(strong_count);
  const bool take_strong = neither ? !strong.failed : strong_seconds < simple_seconds;
  if (neither) {
    return {take_strong ? strong.name : simple.name,
            "a trial of " + std::to_string(std::max(simple.iterations, strong.iterations)) +
                " iterations made no progress with " + simple.name + " or " + strong.name};
  }
  const auto described = [&](const PrecondTrial& trial, double count, double seconds) {
    return trial.name + " (" + iterations_text(count) +
           (std::isfinite(seconds) ? ", " + rounded(seconds) + " s with its setup)" : ")");
  };
  const std::string a = described(simple, simple_count, simple_seconds),
                    b = described(strong, strong_count, strong_seconds);
  return {take_strong ? strong.name : simple.name,
          "a trial and a cost model predict " + (take_strong ? b : a) + " against " + (take_strong ? a : b) +
              " for " + detail::plain_number(solves, 3) + (solves == 1 ? " right-hand side" : " right-hand sides")};
}

namespace {

template <class T, Space S>
struct Choosing {
  const Context<S>& ctx;
  const CsrView<T, S>& a;
  const RowOrder<S>& order;
  const PrecondOptions& options;
  const SpmvOptions& spmv_options;
  const PrecondUse& use;
  const TryPrecond<T, S>& attempt;
  LocatedText refusal = {};  // of the last that was refused
  std::string refused = {};  // its name
  bool indefinite = false;   // it said that the matrix is not positive definite

  ChosenPrecond<T, S> chosen() {
    const PrecondMethod* const cheap = simple_preconditioner(use.traits);
    std::vector<const PrecondMethod*> stronger = stronger_preconditioners(use.traits);
    if (cheap != nullptr && !stronger.empty()) {
      if (const std::string why = why_no_stronger(use); !why.empty()) return {made(cheap->name), {cheap->name, why}};
      if (use.later) {
        return {made(cheap->name),
                {cheap->name, "at first; " + any_of(stronger) + " may follow in a long solve", true}};
      }
    }
    OperatorPtr<T, S> simple, strong;
    PrecondTrial of_simple, of_strong;
    if (cheap == nullptr && may_be_saddle_point()) {
      if (ChosenPrecond<T, S> found = for_saddle_point(); found.M != nullptr) return found;
    }
    if (cheap == nullptr || !tried(cheap->name, simple, of_simple)) tried("none", simple, of_simple);
    const double first = predict_iterations(of_simple, use.rel_tol);
    if (first <= detail::precond_counts.few_iterations && (use.expected_products <= first || first == 0)) {
      return {std::move(simple),
              {of_simple.name, "a trial predicts " + iterations_text(first) + ", so nothing stronger is needed"}};
    }
    if (stronger.empty()) return {std::move(simple), {of_simple.name, "no stronger preconditioner is available"}};
    sort_by_seconds(stronger, first);
    const double seconds = predict_seconds(of_simple, first, solves_of(use.expected_products, first));
    for (const PrecondMethod* const method : stronger) {
      if (takes_longer(*method, seconds, ", longer than the solves with " + of_simple.name + " would take")) continue;
      if (!tried(method->name, strong, of_strong)) {
        if (indefinite) break;
        continue;
      }
      const PrecondChoice choice = decide_precond(of_simple, of_strong, use.rel_tol, use.expected_products);
      return {std::move(choice.name == method->name ? strong : simple), choice};
    }
    return {std::move(simple), {of_simple.name, LocatedText(refused + " was refused: ").append(refusal)}};
  }

 private:
  // Its preconditioner costs far more than what else may follow.
  bool may_be_saddle_point() const { return detail::may_be_saddle_point(ctx, a, use.traits); }

  // Without any M the residual of the first iterations says little of those that follow.
  ChosenPrecond<T, S> for_saddle_point() {
    constexpr double many = 1e4, doubt = 2;
    for (const PrecondMethod* const method : automatic_preconditioners(AutoPrecond::saddle)) {
      OperatorPtr<T, S> M;
      PrecondTrial trial;
      if (!tried(method->name, M, trial)) continue;
      const double iterations = predict_iterations(trial, use.rel_tol);
      if (!(iterations <= doubt * iterations_with(*method)(many))) continue;
      return {std::move(M),
              {method->name,
               "the diagonal is that of a saddle point, and a trial predicts " + iterations_text(iterations)}};
    }
    return {};
  }

  OperatorPtr<T, S> made(const std::string& name) const {
    return make_precond(ctx, a, order, with_name(options, name), spmv_options);
  }

  bool refuse(const std::string& name, LocatedText why) {
    refused = name;
    refusal = std::move(why);
    return false;
  }

  // Builds and tries one; false where it is not admitted.
  bool tried(const std::string& name, OperatorPtr<T, S>& M, PrecondTrial& trial) {
    if (takes_too_long(name)) return false;
    try {
      M = made(name);
    } catch (const NotPositiveDefinite& e) {
      indefinite = true;
      return refuse(name, e.message());
    } catch (const InputError& e) {
      indefinite = false;
      return refuse(name, e.message());
    } catch (const OutOfMemory& e) {
      return refuse(name, e.what());
    }
    trial = attempt(M.get());
    trial.name = name;
    const OperatorInfo info = M != nullptr ? M->info() : OperatorInfo{};
    if (M != nullptr) {
      const PrecondMethod& method = find_preconditioner(name);
      trial.build_seconds =
          detail::build_seconds(ctx, Pattern<S>(a), method, options, nullptr, nullptr, info.nonzeros).build;
    }
    trial.iteration_seconds =
        use.iteration_seconds
            ? use.iteration_seconds(name)
            : (use.iteration_bytes + use.precond_products * static_cast<double>(info.bytes_per_product)) /
                  machine_of(ctx).bytes_per_second;
    return true;
  }

  // By the model, than what is left of the time limit.
  bool takes_too_long(const std::string& name) {
    if (name == "none") return false;
    const PrecondMethod& method = find_preconditioner(name);
    if (costs_next_to_nothing(method)) return false;
    return takes_longer(method, detail::work_limit(ctx).seconds_left(), ", longer than the time limit allows");
  }

  // The setup, by the model.
  bool takes_longer(const PrecondMethod& method, double most, const std::string& words) {
    if (!std::isfinite(most)) return false;
    const double seconds = detail::build_seconds(ctx, Pattern<S>(a), method, options).build;
    if (!(seconds > most)) return false;
    return !refuse(method.name, "its setup is estimated at " + rounded(seconds) + " s" + words);
  }

  // By the model, for a solve that takes so many iterations with the simple one.
  void sort_by_seconds(std::vector<const PrecondMethod*>& methods, double simple) const {
    if (!use.iteration_seconds || methods.size() < 2) return;
    if (!std::isfinite(simple)) simple = std::max(use.expected_iterations, detail::precond_counts.few_iterations);
    std::vector<std::pair<double, const PrecondMethod*>> all;
    for (const PrecondMethod* const method : methods) {
      const double build = detail::build_seconds(ctx, Pattern<S>(a), *method, options).build;
      const double iterations = solves_of(use.expected_products, simple) * iterations_with(*method)(simple);
      all.emplace_back(build + iterations * use.iteration_seconds(method->name), method);
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    for (std::size_t i = 0; i < all.size(); ++i) methods[i] = all[i].second;
  }
};

}  // namespace

template <class T, Space S>
ChosenPrecond<T, S> choose_precond(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                   const PrecondOptions& options, const SpmvOptions& spmv_options,
                                   const PrecondUse& use, const TryPrecond<T, S>& attempt) {
  return Choosing<T, S>{ctx, a, order, options, spmv_options, use, attempt}.chosen();
}

#define X(T, S)                                                                                             \
  template ChosenPrecond<T, S> choose_precond(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&,  \
                                              const PrecondOptions&, const SpmvOptions&, const PrecondUse&, \
                                              const TryPrecond<T, S>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel

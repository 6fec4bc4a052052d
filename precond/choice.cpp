// SPDX-License-Identifier: Apache-2.0
// The automatic choice of a preconditioner.
#include <purlin/precond/choice.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/machine.hpp>
#include <purlin/core/number_text.hpp>
#include <purlin/precond/build_cost.hpp>

namespace purlin {
namespace {

constexpr double few_iterations = 40;  // so many with Jacobi leave a stronger one little to save

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

}  // namespace

const PrecondMethod* stronger_preconditioner(const MatrixTraits& traits) {
  const bool definite = traits.symmetric() && traits.positive_diagonal();
  return automatic_preconditioner(definite ? AutoPrecond::definite : AutoPrecond::general);
}

double predict_iterations(const PrecondTrial& trial, double rel_tol) {
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

template <class T, Space S>
ChosenPrecond<T, S> choose_precond(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                   const PrecondOptions& options, const SpmvOptions& spmv_options,
                                   const PrecondUse& use, const TryPrecond<T, S>& attempt) {
  const double bytes_per_second = machine_of(ctx).bytes_per_second;
  LocatedText refusal;
  // Builds and tries one; false where it is not admitted.
  const auto tried = [&](const std::string& name, OperatorPtr<T, S>& M, PrecondTrial& trial) {
    try {
      M = make_precond(ctx, a, order, with_name(options, name), spmv_options);
    } catch (const InputError& e) {
      refusal = e.message();
      return false;
    } catch (const OutOfMemory& e) {
      refusal = e.what();
      return false;
    }
    trial = attempt(M.get());
    trial.name = name;
    const OperatorInfo info = M != nullptr ? M->info() : OperatorInfo{};
    if (M != nullptr) {
      trial.build_seconds = detail::build_seconds(ctx, Pattern<S>(a), find_preconditioner(name), info.nonzeros);
    }
    trial.iteration_seconds =
        use.iteration_seconds
            ? use.iteration_seconds(name)
            : (use.iteration_bytes + use.precond_products * static_cast<double>(info.bytes_per_product)) /
                  bytes_per_second;
    return true;
  };

  OperatorPtr<T, S> simple, strong;
  PrecondTrial of_simple, of_strong;
  const MatrixTraits& traits = use.traits;
  const bool divides = traits.missing_diagonal.count == 0 && traits.zero_diagonal.count == 0;
  const PrecondMethod* const cheap = automatic_preconditioner(AutoPrecond::simple);
  const bool admitted = cheap != nullptr && (divides || !cheap->divides_by_diagonal);
  const PrecondMethod* const stronger = stronger_preconditioner(traits);
  if (admitted && stronger != nullptr && use.iteration_seconds && use.expected_iterations > 0) {
    const double of_cheap = use.iteration_seconds(cheap->name), of_stronger = use.iteration_seconds(stronger->name);
    if (expected_share * of_stronger >= of_cheap) {
      return {make_precond(ctx, a, order, with_name(options, cheap->name), spmv_options),
              {cheap->name, stronger->name + " would take " + rounded(of_stronger / of_cheap) +
                                " times as long an iteration (a cost model), and saves half of them as a rule"}};
    }
  }
  if (admitted && stronger != nullptr && use.later) {
    return {make_precond(ctx, a, order, with_name(options, cheap->name), spmv_options),
            {cheap->name, "to begin with; " + stronger->name + " may follow in a long solve", true}};
  }
  if (!admitted || !tried(cheap->name, simple, of_simple)) tried("none", simple, of_simple);
  const double first = predict_iterations(of_simple, use.rel_tol);
  if (first <= few_iterations && use.expected_products <= first) {
    return {std::move(simple),
            {of_simple.name, "a trial predicts " + iterations_text(first) + ": no more is needed"}};
  }
  if (stronger == nullptr) return {std::move(simple), {of_simple.name, "there is no stronger one in the table"}};
  const std::string other = stronger->name;
  if (!tried(other, strong, of_strong)) {
    return {std::move(simple), {of_simple.name, LocatedText(other + " was refused: ").append(refusal)}};
  }
  const PrecondChoice choice = decide_precond(of_simple, of_strong, use.rel_tol, use.expected_products);
  return {std::move(choice.name == other ? strong : simple), choice};
}

#define X(T, S)                                                                                             \
  template ChosenPrecond<T, S> choose_precond(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&,  \
                                              const PrecondOptions&, const SpmvOptions&, const PrecondUse&, \
                                              const TryPrecond<T, S>&);
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin

// SPDX-License-Identifier: Apache-2.0
// What the table of preconditioners says of the incomplete factorisations.
#include <algorithm>
#include <cmath>

#include "precond/incomplete/incomplete.hpp"
#include "precond/precond_constants.hpp"

namespace newel {
namespace {

constexpr int most_level = 16;   // the fill of higher ones is close to that of exact factors
constexpr int most_sweeps = 64;  // exact solves take less

std::vector<MethodOption> factor_options() {
  return {
      choice_option("--factor-order",
                    "Order of elimination of incomplete factors: rcm (auto: reverse Cuthill-McKee),\n"
                    "natural, or colours (few parallel steps, more iterations)",
                    "factor_order", {"auto", "natural", "rcm", "colours"}, &FactorOptions::order),
      in_range(value_option("--factor-sweeps", "N",
                            "Solve with incomplete factors by N Jacobi sweeps each; default 0: exactly",
                            "factor_sweeps", &FactorOptions::sweeps),
               0, most_sweeps),
      value_option("--factor-shift", "S",
                   "Added to the diagonal before an incomplete factorisation, relative to a_ii (ic)\n"
                   "or to the row sum; default 0. Raised if the factorisation fails",
                   "factor_shift", &FactorOptions::shift),
  };
}

MethodOption level_option(MethodOption option) {
  option.shapes_pattern = true;
  return in_range(std::move(option), 0, most_level);
}

std::vector<MethodOption> with_factor_options(std::vector<MethodOption> own) {
  for (MethodOption& option : factor_options()) own.push_back(std::move(option));
  return own;
}

void check_factors(const PrecondOptions& options) {
  const auto& factors = options.of<FactorOptions>();
  require_precond_option(factors.sweeps >= 0 && factors.sweeps <= most_sweeps,
                         "the sweeps on incomplete factors must be 0 to " + std::to_string(most_sweeps));
  require_precond_option(std::isfinite(factors.shift) && factors.shift >= 0,
                         "the shift of incomplete factors must be finite and not negative");
}

void require_level(int level) {
  require_precond_option(level >= 0 && level <= most_level,
                         "the level of fill must be 0 to " + std::to_string(most_level));
}

void check_ilu(const PrecondOptions& options) {
  check_factors(options);
  require_level(options.of<IluOptions>().level);
}

void check_ic(const PrecondOptions& options) {
  check_factors(options);
  require_level(options.of<IcOptions>().level);
}

void check_ilut(const PrecondOptions& options) {
  check_factors(options);
  const auto& sizes = options.of<IlutOptions>();
  require_precond_option(std::isfinite(sizes.drop) && sizes.drop >= 0,
                         "the drop tolerance of ilut must be finite and not negative");
  require_precond_option(std::isfinite(sizes.fill) && sizes.fill > 0, "the fill of ilut must be finite and positive");
}

detail::FactorRecipe common_recipe(const std::string& name, const PrecondOptions& options) {
  detail::FactorRecipe recipe;
  recipe.name = name;
  recipe.symmetric = options.symmetric;
  recipe.factors = options.of<FactorOptions>();
  return recipe;
}

struct IluRecipe {
  static detail::FactorRecipe of(const PrecondOptions& options) {
    detail::FactorRecipe recipe = common_recipe("ilu", options);
    recipe.level = options.of<IluOptions>().level;
    recipe.text = "ILU(" + std::to_string(recipe.level) + ")";
    return recipe;
  }
};

struct IlutRecipe {
  static detail::FactorRecipe of(const PrecondOptions& options) {
    detail::FactorRecipe recipe = common_recipe("ilut", options);
    recipe.by_size = true;
    recipe.sizes = options.of<IlutOptions>();
    recipe.text =
        "ILUT(" + detail::three_digits(recipe.sizes.drop) + ", " + detail::three_digits(recipe.sizes.fill) + ")";
    return recipe;
  }
};

struct IcRecipe {
  static detail::FactorRecipe of(const PrecondOptions& options) {
    detail::FactorRecipe recipe = common_recipe("ic", options);
    recipe.symmetric = recipe.positive = true;
    recipe.level = options.of<IcOptions>().level;
    recipe.text = "IC(" + std::to_string(recipe.level) + ")";
    return recipe;
  }
};

template <class Recipe>
struct MakeFactors {
  template <class T, Space S>
  static OperatorPtr<T, S> make(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                const PrecondOptions& options, const SpmvOptions&) {
    return std::make_unique<IncompleteOperator<T, S>>(ctx, a, order, Recipe::of(options));
  }
};

// Of factors with so many entries, the diagonal included, and a copy of those values of A.
std::uint64_t factor_bytes(std::uint64_t rows, std::uint64_t entries, std::size_t value_bytes, bool symmetric) {
  const std::uint64_t of_a = symmetric ? (entries + rows) / 2 : entries;
  return entries * value_bytes + (entries - rows) * sizeof(Index) + 2 * (rows + 1) * sizeof(Offset) +
         of_a * (value_bytes + sizeof(std::uint32_t)) + rows * (3 * value_bytes + sizeof(Index)) +
         (symmetric ? (entries - rows) / 2 * sizeof(Offset) : 0);
}

// With a full diagonal and without fill.
std::uint64_t estimate_ilu_bytes(const PrecondOptions& options, const SpmvFormat&, Index rows, Offset nonzeros,
                                 std::size_t value_bytes) {
  const auto n = static_cast<std::uint64_t>(rows);
  return factor_bytes(n, std::max(n, static_cast<std::uint64_t>(nonzeros)), value_bytes, options.symmetric);
}

std::uint64_t estimate_ic_bytes(const PrecondOptions&, const SpmvFormat&, Index rows, Offset nonzeros,
                                std::size_t value_bytes) {
  const auto n = static_cast<std::uint64_t>(rows);
  return factor_bytes(n, std::max(n, static_cast<std::uint64_t>(nonzeros)), value_bytes, true);
}

// Its threshold may leave the diagonal alone.
std::uint64_t estimate_ilut_bytes(const PrecondOptions&, const SpmvFormat&, Index rows, Offset,
                                  std::size_t value_bytes) {
  const auto n = static_cast<std::uint64_t>(rows);
  return factor_bytes(n, n, value_bytes, false);
}

double iterations_with_ilut(double simple) { return detail::precond_counts.ilut_of_any * std::sqrt(simple); }

// On a host one thread finds the pattern, and one solves; on a device rows wait for each other.
PrecondCost ilut_cost(const PrecondQuestion& question) {
  PrecondCost cost;
  const auto entries = static_cast<double>(question.nonzeros);
  cost.entries = detail::precond_counts.ilut_entries * entries;
  cost.iterations = &iterations_with_ilut;
  if (question.machine.device()) {
    cost.start_seconds =
        detail::constants_of<detail::DevicePrecondConstants>(question.machine).ilut_row * question.rows;
  }
  if (question.setup == nullptr) return cost;
  const auto& on_host = detail::constants_of<detail::HostPrecondConstants>(question.machine);
  cost.setup.build = on_host.ilut_entry * entries * entries / std::max(question.rows, Index{1});
  cost.setup.refresh = on_host.ilut_refresh_share * cost.setup.build;
  return cost;
}

std::vector<SettingChange> higher_ilu_level(const PrecondOptions& options) {
  const int level = options.of<IluOptions>().level;
  if (level >= 2) return {};
  return {{"preconditioner", "ilu", true}, {"ilu_level", std::to_string(level + 1)}};
}

std::vector<SettingChange> higher_ic_level(const PrecondOptions& options) {
  const int level = options.of<IcOptions>().level;
  if (level >= 2) return {};
  return {{"preconditioner", "ic", true}, {"ic_level", std::to_string(level + 1)}};
}

std::vector<SettingChange> smaller_drop(const PrecondOptions& options) {
  const double drop = options.of<IlutOptions>().drop;
  constexpr double small_enough = 1e-6;
  if (drop <= small_enough) return {};
  return {{"preconditioner", "ilut", true}, {"ilut_drop", detail::three_digits(drop / 10)}};
}

}  // namespace

PrecondMethod ilu_method() {
  PrecondMethod ilu;
  ilu.name = "ilu";
  ilu.summary = "incomplete L U on the pattern of A, or with levels of fill, for any matrix";
  ilu.options = with_factor_options(
      {level_option(value_option("--ilu-level", "K", "ILU keeps fill of levels up to K, default 0: the pattern of A",
                                 "ilu_level", &IluOptions::level))});
  ilu.check = &check_ilu;
  ilu.estimate_bytes = &estimate_ilu_bytes;
  ilu.stronger = &higher_ilu_level;
  fill_columns<MakeFactors<IluRecipe>>(ilu.make);
  return ilu;
}

PrecondMethod ilut_method() {
  PrecondMethod ilut;
  ilut.name = "ilut";
  ilut.summary = "incomplete L U whose pattern keeps the largest entries, for hard matrices";
  ilut.options = with_factor_options(
      {value_option("--ilut-drop", "D", "ilut drops entries below D times the norm of their row of A, default 0.001",
                    "ilut_drop", &IlutOptions::drop),
       value_option("--ilut-fill", "F",
                    "The factors of ilut have at most about F times as many entries as A, default 10", "ilut_fill",
                    &IlutOptions::fill)});
  ilut.automatic = AutoPrecond::general;
  ilut.cost = &ilut_cost;
  ilut.check = &check_ilut;
  ilut.estimate_bytes = &estimate_ilut_bytes;
  ilut.stronger = &smaller_drop;
  fill_columns<MakeFactors<IlutRecipe>>(ilut.make);
  return ilut;
}

PrecondMethod ic_method() {
  PrecondMethod ic;
  ic.name = "ic";
  ic.summary = "incomplete Cholesky factors with levels of fill, for symmetric positive definite matrices";
  ic.options = with_factor_options(
      {level_option(value_option("--ic-level", "K", "ic keeps fill of levels up to K, default 0: the pattern of A",
                                 "ic_level", &IcOptions::level))});
  ic.check = &check_ic;
  ic.estimate_bytes = &estimate_ic_bytes;
  ic.stronger = &higher_ic_level;
  fill_columns<MakeFactors<IcRecipe>>(ic.make);
  return ic;
}

}  // namespace newel

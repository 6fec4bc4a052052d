// SPDX-License-Identifier: Apache-2.0
// From names and values to SystemOptions, and the tables that list them.
#include "options.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <newel/core/table.hpp>
#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/registry.hpp>
#include <newel/precond/saddle/saddle_options.hpp>
#include <newel/solver/expected_products.hpp>
#include <newel/solver/registry.hpp>
#include <newel/spmv/registry.hpp>

namespace newel::python {
namespace {

using Numbers = FlatOf<std::int64_t>;
using Values = FlatOf<double>;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

[[noreturn]] void refuse(const std::string& name, const std::string& expected, nb::handle found) {
  throw InputError(name + ": expected " + expected + ", found " + nb::cast<std::string>(nb::repr(found)));
}

int whole_number(const std::string& name, nb::handle value, int least, int most) {
  int number = 0;
  if (PyBool_Check(value.ptr()) || !nb::try_cast(value, number) || number < least || number > most) {
    refuse(name, "a whole number from " + std::to_string(least) + " to " + std::to_string(most), value);
  }
  return number;
}

OptionValue option_value(const MethodOption& option, nb::handle value) {
  const OptionValue usual = option.get({});
  if (const auto* least = std::get_if<int>(&usual)) {
    return whole_number(option.key, value, std::min(option.least, *least), option.most);
  }
  if (std::holds_alternative<bool>(usual)) {
    if (!PyBool_Check(value.ptr())) refuse(option.key, "True or False", value);
    return value.ptr() == Py_True;
  }
  if (std::holds_alternative<double>(usual)) {
    double number = 0;
    if (!nb::try_cast(value, number) || !std::isfinite(number)) refuse(option.key, "a number", value);
    return number;
  }
  std::string word;
  const bool text = nb::try_cast(value, word);
  const auto& choices = option.choices;
  if (!text || (!choices.empty() && std::find(choices.begin(), choices.end(), word) == choices.end())) {
    refuse(option.key, choices.empty() ? "a string" : "one of " + joined(choices), value);
  }
  return word;
}

void set_option(SystemOptions& options, const std::string& key, nb::handle value) {
  std::vector<std::string> keys;
  const auto set_one_of = [&](const std::vector<MethodOption>& rows, OptionBag& values) {
    for (const MethodOption& option : rows) {
      keys.push_back(option.key);
      if (option.key != key) continue;
      option.set(values, option_value(option, value));
      return true;
    }
    return false;
  };
  if (set_one_of(precond_option_list(), options.precond.methods)) return;
  if (set_one_of(solver_option_list(), options.solver.methods)) return;
  throw InputError("there is no option " + key + did_you_mean(key, keys) + "; expected one of: " + joined(keys));
}

std::shared_ptr<const NearNullVectors> near_null_of(const Rows& vectors) {
  auto result = std::make_shared<NearNullVectors>();
  result->count = static_cast<int>(vectors.shape(1));
  result->values.assign(vectors.data(), vectors.data() + vectors.size());
  return result;
}

std::shared_ptr<const std::vector<Index>> rows_of(const Numbers& numbers) {
  return std::make_shared<std::vector<Index>>(numbers.data(), numbers.data() + numbers.size());
}

// From the arrays indptr, indices and data.
std::shared_ptr<const SchurMatrix> mass_of(const nb::tuple& arrays) {
  const auto row_ptr = nb::cast<Numbers>(arrays[0]), col = nb::cast<Numbers>(arrays[1]);
  const auto val = nb::cast<Values>(arrays[2]);
  auto mass = std::make_shared<SchurMatrix>();
  mass->rows = static_cast<Index>(row_ptr.size()) - 1;
  mass->row_ptr.assign(row_ptr.data(), row_ptr.data() + row_ptr.size());
  mass->col.assign(col.data(), col.data() + col.size());
  mass->val.assign(val.data(), val.data() + val.size());
  return mass;
}

// The options of a table, with their defaults.
nb::dict defaults_of(const std::vector<MethodOption>& options) {
  nb::dict result;
  for (const MethodOption& option : options) {
    result[option.key.c_str()] = std::visit([](const auto& v) { return nb::cast(v); }, option.get({}));
  }
  return result;
}

// By option, the lines that have it.
template <class Lines>
nb::dict owners_by_option(const Lines& lines) {
  nb::dict result;
  for (const MethodOption& option : options_of(lines)) {
    nb::list owners;
    for (const auto& line : lines) {
      if (has_option(line, option.key)) owners.append(line.name);
    }
    result[option.key.c_str()] = owners;
  }
  return result;
}

}  // namespace

std::shared_ptr<const NodeCoordinates> coordinates_of(const Rows& points) {
  auto nodes = std::make_shared<NodeCoordinates>();
  nodes->dimension = static_cast<int>(points.shape(1));
  nodes->xyz.assign(points.data(), points.data() + points.size());
  return nodes;
}

StopCriterion stop_criterion(double rtol, double atol, int max_iterations, double time_limit) {
  if (!(rtol >= 0) || !(atol >= 0) || !(time_limit >= 0) || max_iterations < 0) {
    throw InputError("rtol, atol, max_iterations and time_limit are not negative");
  }
  StopCriterion stop;
  stop.rel_tol = rtol;
  stop.abs_tol = atol;
  stop.max_iterations = max_iterations;
  stop.time_limit_seconds = time_limit;
  return stop;
}

SystemOptions system_options(const nb::dict& choices, Index rows) {
  const auto has = [&](const char* name) { return choices.contains(name) && !choices[name].is_none(); };
  SystemOptions options;
  options.canonicalise = true;
  options.solver.name = nb::cast<std::string>(choices["solver"]);
  options.precond.name = nb::cast<std::string>(choices["preconditioner"]);
  options.spmv.format = nb::cast<std::string>(choices["format"]);
  options.mixed = nb::cast<bool>(choices["mixed"]);
  options.deterministic = nb::cast<bool>(choices["deterministic"]);
  options.columns = nb::cast<int>(choices["columns"]);
  options.stop.rel_tol = nb::cast<double>(choices["rtol"]);
  if (has("time_limit")) options.stop.time_limit_seconds = nb::cast<double>(choices["time_limit"]);
  if (has("null_space")) options.null_space = NullSpace::constant;
  if (has("plan_cache")) options.spmv.plan_cache = nb::cast<std::string>(choices["plan_cache"]);
  if (has("decision")) options.decision = decision_of(nb::cast<std::string>(choices["decision"]));
  if (has("coordinates")) options.spmv.coordinates = coordinates_of(nb::cast<Rows>(choices["coordinates"]));
  if (has("near_null_space")) {
    options.precond.of<AmgOptions>().vectors = near_null_of(nb::cast<Rows>(choices["near_null_space"]));
  }
  auto& saddle = options.precond.of<SaddleOptions>();
  if (has("constraints")) saddle.rows = rows_of(nb::cast<Numbers>(choices["constraints"]));
  if (has("mass")) saddle.schur_matrix = mass_of(nb::cast<nb::tuple>(choices["mass"]));
  for (const auto& [key, value] : nb::cast<nb::dict>(choices["options"])) {
    set_option(options, nb::cast<std::string>(key), value);
  }
  options.expected_products = expected_products(nb::cast<double>(choices["expected_solves"]), options, rows);
  return options;
}

void bind_tables(nb::module_& module) {
  const auto names = [](const auto& lines) {
    std::vector<std::string> result;
    for (const auto& line : lines) result.push_back(line.name);
    return result;
  };
  module.def(
      "solvers", [=] { return names(solver_methods()); }, "The names of the table of solvers.");
  module.def(
      "preconditioners", [=] { return names(preconditioners()); }, "The names of the preconditioners.");
  module.def(
      "formats", [=] { return names(spmv_formats()); }, "The names of the formats.");
  module.def("nearest_name", &nearest_name, nb::arg("given"), nb::arg("names"),
             "The one of the names that was meant; empty where none is near.");
  module.def("same_name", &same_name, nb::arg("a"), nb::arg("b"),
             "Whether they are equal up to case, hyphens and underscores.");
  module.def(
      "preconditioner_options", [] { return defaults_of(precond_option_list()); },
      "What `options` of a Solver may hold of preconditioners, with the defaults.");
  module.def(
      "solver_options", [] { return defaults_of(solver_option_list()); },
      "What `options` of a Solver may hold of solvers, with the defaults.");
  module.def(
      "solver_option_owners", [] { return owners_by_option(solver_methods()); },
      "By option of a solver: the solvers that have it.");
  module.def(
      "option_owners",
      [] {
        nb::dict result = owners_by_option(preconditioners());
        nb::list taking;
        for (const PrecondMethod& method : preconditioners()) {
          if (method.takes_coordinates) taking.append(method.name);
        }
        result["coordinates"] = result["near_null_space"] = taking;
        result["constraints"] = result["mass"] = result["saddle_constraints"];
        return result;
      },
      "By option of a preconditioner, coordinates and near-null space among them: the preconditioners that have it.");
}

}  // namespace newel::python

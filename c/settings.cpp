// SPDX-License-Identifier: Apache-2.0
// A table of names, each with what reads its value; then the options that preconditioners and solvers declare.
#include "settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/table.hpp>
#include <newel/precond/registry.hpp>
#include <newel/solver/expected_products.hpp>
#include <newel/solver/guess.hpp>
#include <newel/solver/recycle.hpp>
#include <newel/solver/registry.hpp>
#include <newel/spmv/registry.hpp>

namespace newel::c {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& expected, const std::string& found) {
  throw InputError(name + ": expected " + expected + ", found \"" + found + "\"");
}

double number(const std::string& name, const std::string& value) {
  char* end = nullptr;
  const double result = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || !std::isfinite(result)) refuse(name, "a number", value);
  return result;
}

double positive(const std::string& name, const std::string& value) {
  const double result = number(name, value);
  if (result < 0) refuse(name, "a number that is not negative", value);
  return result;
}

int whole(const std::string& name, const std::string& value, int least, int most) {
  const double result = number(name, value);
  if (result < least || result > most || result != std::floor(result)) {
    refuse(name, "a whole number from " + std::to_string(least) + " to " + std::to_string(most), value);
  }
  return static_cast<int>(result);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// The position of the value among the words.
std::size_t one_of(const std::string& name, const std::string& value, const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), value);
  if (found == words.end()) refuse(name, "one of " + joined(words), value);
  return static_cast<std::size_t>(found - words.begin());
}

template <class Lines>
std::string from_table(const std::string& name, const std::string& value, std::vector<std::string> words,
                       const Lines& lines) {
  for (const auto& line : lines) words.push_back(line.name);
  return words[one_of(name, value, words)];
}

constexpr int largest = std::numeric_limits<int>::max();

void set_precision(Settings& s, const std::string& name, const std::string& value) {
  const std::size_t which = one_of(name, value, {"double", "single", "mixed"});
  s.single = which == 1;
  s.options.mixed = which == 2;
}

void set_half(Settings& s, const std::string& name, const std::string& value) {
  const std::size_t which = one_of(name, value, {"none", "lower", "upper"});
  s.half.reset();
  if (which > 0) s.half = which == 1 ? Triangle::lower : Triangle::upper;
}

void set_format(Settings& s, const std::string& name, const std::string& value) {
  if (!is_format_choice(value)) find_spmv_format(value);  // which may name a variant, and throws
  static_cast<void>(name);
  s.options.spmv.format = value;
}

// "x" and "zero" are for each solve; past solutions are kept from the next setup on.
void set_guess(Settings& s, const std::string& name, const std::string& value) {
  const bool zero = value == "zero", plain = zero || value == "x";
  try {
    if (!plain) guess_rule(value);
  } catch (const InputError&) {
    refuse(name, "x, zero, extrapolate, project, project:M with M from 1 to 32, or auto", value);
  }
  s.guess = zero ? InitialGuess::zero : InitialGuess::in_x;
  s.options.solver.of<GuessOptions>().guess = plain ? "given" : value;
}

void set_recycle(Settings& s, const std::string& name, const std::string& value) {
  try {
    recycle_rule(value);
  } catch (const InputError&) {
    refuse(name, "a number of vectors from 0 to 32, or auto", value);
  }
  s.options.solver.of<RecycleOptions>().recycle = value;
}

void set_device(Settings& s, const std::string& name, const std::string& value) {
  s.devices.clear();
  if (value == "host") return s.device.reset();
  const bool numbered = value.rfind("cuda:", 0) == 0;
  if (value != "cuda" && !numbered) refuse(name, "host, cuda or cuda:N", value);
#if NEWEL_HAS_CUDA
  s.device = numbered ? whole(name, value.substr(5), 0, largest) : 0;
#else
  refuse(name, "host, because this library was built without CUDA", value);
#endif
}

struct Option {
  const char* name;
  void (*set)(Settings&, const std::string& name, const std::string& value);
};

using Text = const std::string&;

const Option table[] = {
    {"rtol", [](Settings& s, Text n, Text v) { s.options.stop.rel_tol = positive(n, v); }},
    {"atol", [](Settings& s, Text n, Text v) { s.options.stop.abs_tol = positive(n, v); }},
    {"max_iterations", [](Settings& s, Text n, Text v) { s.options.stop.max_iterations = whole(n, v, 0, largest); }},
    {"time_limit", [](Settings& s, Text n, Text v) { s.options.stop.time_limit_seconds = positive(n, v); }},
    {"guess", set_guess},
    {"solver",
     [](Settings& s, Text n, Text v) { s.options.solver.name = from_table(n, v, {"auto"}, solver_methods()); }},
    {"preconditioner",
     [](Settings& s, Text n, Text v) {
       s.options.precond.name = from_table(n, v, {"auto", "none"}, preconditioners());
     }},
    {"format", set_format},
    {"precision", set_precision},
    {"values",
     [](Settings& s, Text n, Text v) {
       s.complex = one_of(n, v, {"real", "complex"}) == 1;
     }},
    {"device", set_device},
    {"threads", [](Settings& s, Text n, Text v) { s.threads = whole(n, v, 0, Context<Space::host>::most_threads); }},
    {"index_base", [](Settings& s, Text n, Text v) { s.index_base = whole(n, v, 0, 1); }},
    {"stored_half", set_half},
    {"null_space",
     [](Settings& s, Text n, Text v) {
       s.options.null_space = one_of(n, v, {"none", "constant"}) == 1 ? NullSpace::constant : NullSpace::none;
     }},
    {"columns", [](Settings& s, Text n, Text v) { s.options.columns = whole(n, v, 1, largest); }},
    {"recycle", set_recycle},
    {"expected_solves", [](Settings& s, Text n, Text v) { s.expected_solves = positive(n, v); }},
    {"deterministic",
     [](Settings& s, Text n, Text v) {
       s.options.deterministic = one_of(n, v, {"no", "yes"}) == 1;
     }},
    {"plan_cache", [](Settings& s, Text, Text v) { s.options.spmv.plan_cache = v; }},
    {"decision",
     [](Settings& s, Text, Text v) {
       s.options.decision.reset();
       if (!v.empty()) s.options.decision = decision_of(v);
     }},
};

OptionValue value_of(const MethodOption& option, const std::string& text) {
  const OptionValue usual = option.get({});
  if (const auto* least = std::get_if<int>(&usual)) {
    return whole(option.key, text, std::min(option.least, *least), option.most);
  }
  if (std::holds_alternative<double>(usual)) return number(option.key, text);
  if (std::holds_alternative<bool>(usual)) return one_of(option.key, text, {"no", "yes"}) == 1;
  return option.choices.empty() ? text : option.choices[one_of(option.key, text, option.choices)];
}

}  // namespace

void Settings::set(const std::string& name, const std::string& value) {
  std::vector<std::string> names;
  for (const Option& option : table) {
    if (name == option.name) return option.set(*this, name, value);
    names.emplace_back(option.name);
  }
  const auto set_one_of = [&](const std::vector<MethodOption>& rows, OptionBag& values) {
    for (const MethodOption& option : rows) {
      names.push_back(option.key);
      if (name != option.key) continue;
      option.set(values, value_of(option, value));
      return true;
    }
    return false;
  };
  if (set_one_of(solver_option_list(), options.solver.methods)) return;
  if (set_one_of(precond_option_list(), options.precond.methods)) return;
  throw InputError("unknown option \"" + name + '"' + did_you_mean(name, names) +
                   "; expected one of: " + joined(names));
}

SystemOptions Settings::options_for(Index rows, int block) const {
  SystemOptions result = options;
  result.canonicalise = true;
  result.expected_products = expected_products(expected_solves, options, rows, block);
  return result;
}

}  // namespace newel::c

// SPDX-License-Identifier: Apache-2.0
/// MethodOption: the description of one option of a preconditioner or solver, from which command lines, bindings,
/// reports and cache keys are made.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <newel/core/option_bag.hpp>

namespace newel {

/// The value of an option.
using OptionValue = std::variant<int, double, std::string, bool>;

/// What an option needs to have an effect, besides a method that has it.
enum class OptionNeeds {
  nothing,           ///< nothing else
  preconditioner,    ///< a preconditioner M, or the null space, which acts as one
  double_precision,  ///< vectors in double precision
  sequence,          ///< several solves of one system, in its own precision
  resident_kernel,   ///< a device, with a format and a solve that a resident kernel supports
};

/// One option. Its value is stored in a struct that its method declares.
struct MethodOption {
  std::string flags;        ///< "--fsai-power"; several are separated by commas. The flag of a bool inverts the
                            ///< default
  std::string placeholder;  ///< "N"
  std::string help;         ///< one or more sentences
  std::string key;          ///< key in reports and for C and Python: "fsai_power"
  std::vector<std::string> choices = {};     ///< allowed values of a text option
  int least = 1;                             ///< minimum of a whole number; a default below it means that the method
                                             ///< chooses
  int most = 0;                              ///< maximum of a whole number
  bool shapes_pattern = false;               ///< has no meaning if the pattern is given
  bool reported = true;                      ///< listed among the requested options in solve reports
  OptionNeeds needs = OptionNeeds::nothing;  ///< what it needs to have an effect
  std::function<OptionValue(const OptionBag&)> get;         ///< reads the value
  std::function<void(OptionBag&, const OptionValue&)> set;  ///< writes the value; unchecked
};

/// An option that is a number or a bool, stored in `member` of one method's options.
template <class Options, class Value>
MethodOption value_option(std::string flags, std::string placeholder, std::string help, std::string key,
                          Value Options::*member) {
  MethodOption option;
  option.flags = std::move(flags);
  option.placeholder = std::move(placeholder);
  option.help = std::move(help);
  option.key = std::move(key);
  option.get = [member](const OptionBag& bag) { return OptionValue(bag.of<Options>().*member); };
  option.set = [member](OptionBag& bag, const OptionValue& value) {
    bag.of<Options>().*member = std::get<Value>(value);
  };
  return option;
}

/// An option that is one of a few words, in the order of the enumerators of `member`'s type.
template <class Options, class Choice>
MethodOption choice_option(std::string flags, std::string help, std::string key, std::vector<std::string> words,
                           Choice Options::*member) {
  MethodOption option;
  option.flags = std::move(flags);
  option.help = std::move(help);
  option.key = std::move(key);
  option.choices = words;
  option.get = [member, words](const OptionBag& bag) {
    return OptionValue(words[static_cast<std::size_t>(bag.of<Options>().*member)]);
  };
  option.set = [member, words](OptionBag& bag, const OptionValue& value) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == std::get<std::string>(value)) bag.of<Options>().*member = static_cast<Choice>(i);
    }
  };
  return option;
}

/// The same option, restricted to whole numbers from `least` to `most`.
inline MethodOption in_range(MethodOption option, int least, int most) {
  option.least = least;
  option.most = most;
  return option;
}

/// The options of all rows of a table, each key once, in order. If several methods share an option, setting it sets
/// it for all of them.
template <class Lines>
std::vector<MethodOption> options_of(const Lines& lines) {
  std::vector<MethodOption> all;
  for (const auto& line : lines) {
    for (const MethodOption& option : line.options) {
      const auto there = std::find_if(all.begin(), all.end(), [&](const auto& o) { return o.key == option.key; });
      if (there == all.end()) {
        all.push_back(option);
        continue;
      }
      there->set = [first = std::move(there->set), second = option.set](OptionBag& bag, const OptionValue& value) {
        first(bag, value);
        second(bag, value);
      };
    }
  }
  return all;
}

/// Whether a row of a table has the option with that key.
template <class Line>
bool has_option(const Line& line, const std::string& key) {
  return std::any_of(line.options.begin(), line.options.end(),
                     [&](const MethodOption& option) { return option.key == key; });
}

}  // namespace newel

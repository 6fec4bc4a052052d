// SPDX-License-Identifier: Apache-2.0
/// MethodOption: one option of a preconditioner or a solver, a row from which command lines, bindings, reports and
/// keys of caches are made.
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

/// What an option needs besides a method that has it, to have an effect.
enum class OptionNeeds {
  nothing,           ///< it has one always
  preconditioner,    ///< M, or the null space, which is a preconditioner
  double_precision,  ///< of the vectors
  resident_kernel,   ///< on a device, with a format and a solve for which there is one
};

/// One option. Its value lies in a struct that its method declares.
struct MethodOption {
  std::string flags;        ///< "--fsai-power"; several with a comma between them. A bool's switches the default over
  std::string placeholder;  ///< "N"
  std::string help;         ///< one or more sentences
  std::string key;          ///< in reports, and for C and Python: "fsai_power"
  std::vector<std::string> choices = {};  ///< of a text
  int least = 1;                          ///< of a whole number; a default below it leaves the number to the method
  int most = 0;                           ///< of a whole number
  bool shapes_pattern = false;            ///< has no meaning where the pattern is given
  bool reported = true;                   ///< reports of a solve have it among what was asked for
  OptionNeeds needs = OptionNeeds::nothing;                 ///< to have an effect
  std::function<OptionValue(const OptionBag&)> get;         ///< reads it
  std::function<void(OptionBag&, const OptionValue&)> set;  ///< writes it; unchecked
};

/// An option that is a number, or true or false, in the options of one method: `get` and `set` are those of `member`.
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

/// An option that is one of a few words, in the order of the values of `member`'s type.
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

/// The same option with whole numbers from `least` to `most`.
inline MethodOption in_range(MethodOption option, int least, int most) {
  option.least = least;
  option.most = most;
  return option;
}

/// The options of all lines of a table, each key once, in their order. One that several methods have is written for
/// all of them.
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

/// Whether a line of a table has the option with that key.
template <class Line>
bool has_option(const Line& line, const std::string& key) {
  return std::any_of(line.options.begin(), line.options.end(),
                     [&](const MethodOption& option) { return option.key == key; });
}

}  // namespace newel

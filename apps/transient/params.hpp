// SPDX-License-Identifier: Apache-2.0
/// ParamTable: a program's parameters by name, read from JSON with comments, each checked, and written back.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "apps/common/json_file.hpp"

namespace newel::transient {

/// Which numbers are allowed. Infinity and NaN never are.
struct NumberRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;  ///< `least` itself is not allowed
  bool below_most = false;   ///< nor `most`

  bool holds(double value) const;
  /// "a number > 0", "a number from 0 to 1"; `noun` "a whole number".
  std::string words(const std::string& noun) const;
};
inline NumberRange any_number() { return {}; }
inline NumberRange above(double least) { return {least, std::numeric_limits<double>::infinity(), true, false}; }
inline NumberRange at_least(double least) { return {least, std::numeric_limits<double>::infinity(), false, false}; }
inline NumberRange between(double least, double most) { return {least, most, false, false}; }

/// Names like "tissue.alpha" bound to the members of a struct, which holds the defaults. The members must outlive the
/// table. Every name is declared once, in the order in which it is written; names with a common first part stand
/// together.
class ParamTable {
 public:
  ParamTable& number(const std::string& name, double& value, const std::string& meaning,
                     NumberRange range = any_number());
  ParamTable& integer(const std::string& name, std::int64_t& value, const std::string& meaning,
                      NumberRange range = any_number());
  ParamTable& choice(const std::string& name, std::string& value, const std::string& meaning,
                     const std::vector<std::string>& choices);
  /// [x, y, z]
  ParamTable& point(const std::string& name, std::array<double, 3>& value, const std::string& meaning,
                    NumberRange range = any_number());
  /// A list of any length, also none.
  ParamTable& integers(const std::string& name, std::vector<std::int64_t>& value, const std::string& meaning,
                       NumberRange range = any_number());

  /// Sets what the file names; // and /* */ comments are allowed. Throws InputError "FILE: 'tissue.alpha': expected a
  /// number > 0, found ...", "FILE: unknown name 'tissue.alfa' (did you mean 'tissue.alpha'?)", for names given twice
  /// and for what is no JSON, with its line. Where it throws, members read before have changed.
  void read(const std::string& file);
  /// The same from text; `file` is for messages.
  void read_text(const std::string& file, const std::string& json);

  /// The values now, nested by the parts of their names.
  cli::Json values() const;
  /// The same as JSON with each meaning as a comment: what `read` takes.
  std::string text() const;
  /// Of the values: the same for the same parameters, however they were given.
  std::string fingerprint() const;

 private:
  struct Entry {
    std::string name, meaning;
    std::function<void(const cli::Json&, const std::string& where)> set;
    std::function<cli::Json()> get;
  };
  template <class Value, class Read>
  ParamTable& add(const std::string& name, Value& value, const std::string& meaning, Read read);
  void set_all(const std::string& file, const std::string& prefix, const cli::Json& object);

  std::vector<Entry> entries_;
};

}  // namespace newel::transient

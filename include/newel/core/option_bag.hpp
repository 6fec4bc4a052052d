// SPDX-License-Identifier: Apache-2.0
/// OptionBag: the options of several methods, each in the struct that its method declares.
#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace newel {

/// Holds at most one struct per type. A method reads only its own. A type that was never set has its default values.
/// Copies are independent.
class OptionBag {
 public:
  /// The struct of this type, to be modified.
  template <class Options>
  Options& of() {
    std::any& value = values_[std::type_index(typeid(Options))];
    if (!value.has_value()) value = Options{};
    return *std::any_cast<Options>(&value);
  }

  /// The struct of this type, read only; its defaults if it was never set.
  template <class Options>
  const Options& of() const {
    static const Options defaults{};
    const auto found = values_.find(std::type_index(typeid(Options)));
    return found == values_.end() ? defaults : *std::any_cast<Options>(&found->second);
  }

 private:
  std::map<std::type_index, std::any> values_;
};

}  // namespace newel

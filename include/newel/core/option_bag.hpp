// SPDX-License-Identifier: Apache-2.0
/// OptionBag: the options of several methods side by side, each in the struct that its method declares.
#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace newel {

/// At most one struct of each type. A method reads its own and knows of no other; a type that nobody has set is there
/// with its defaults. Copies are independent of each other.
class OptionBag {
 public:
  /// The struct of this type, to be changed.
  template <class Options>
  Options& of() {
    std::any& value = values_[std::type_index(typeid(Options))];
    if (!value.has_value()) value = Options{};
    return *std::any_cast<Options>(&value);
  }

  /// The same to be read; the defaults where nobody has set one.
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

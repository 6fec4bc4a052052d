// SPDX-License-Identifier: Apache-2.0
/// DynamicLibrary: a library that is loaded when it is first needed, and not with the program. Internal.
#pragma once

#include <string>
#include <vector>

namespace newel::detail {

class DynamicLibrary {
 public:
  /// Loads the first of `files` that there is: names, which the system looks for, or paths. Stays loaded until the
  /// program ends. Throws DeviceError, which begins with `what` and says what the system says of each.
  DynamicLibrary(std::string what, const std::vector<std::string>& files);

  /// Sets `function` to the library's function of this name. Throws DeviceError if it has none.
  template <class F>
  void find(const char* name, F*& function) const {
    function = reinterpret_cast<F*>(address_of(name));
  }

 private:
  void* address_of(const char* name) const;

  std::string what_, file_;
  void* handle_ = nullptr;
};

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
/// OptionalLibrary: the functions of a library that Newel does without if it is not there. Internal.
#pragma once

#include <optional>
#include <string>

#include <newel/core/error.hpp>
#include "core/memory/dynamic_library.hpp"

namespace newel::detail {

/// `Functions` is a struct of pointers to functions.
template <class Functions>
class OptionalLibrary {
 public:
  /// `load` throws DeviceError if the library, or a function of it, is not there.
  explicit OptionalLibrary(Functions (*load)()) {
    try {
      functions_ = load();
    } catch (const DeviceError& e) {
      missing_ = e.what();
    }
  }

  /// Null: it is not there.
  const Functions* functions() const { return functions_ ? &*functions_ : nullptr; }
  /// Why it is not there; empty: it is.
  const std::string& missing() const { return missing_; }

 private:
  std::optional<Functions> functions_;
  std::string missing_;
};

}  // namespace newel::detail

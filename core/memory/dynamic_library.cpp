// SPDX-License-Identifier: Apache-2.0
// dlopen and dlsym, with words for what is missing.
#include "core/memory/dynamic_library.hpp"

#include <dlfcn.h>

#include <newel/core/error.hpp>

namespace newel::detail {

DynamicLibrary::DynamicLibrary(std::string what, const std::vector<std::string>& files) : what_(std::move(what)) {
  std::string reasons;
  for (const std::string& file : files) {
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    file_ = file;
    if (handle_ != nullptr) return;
    const char* const reason = dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason != nullptr ? reason : file.c_str());
  }
  throw DeviceError(what_ + " cannot be loaded (" + reasons + "): add its folder to LD_LIBRARY_PATH");
}

void* DynamicLibrary::address_of(const char* name) const {
  void* const address = dlsym(handle_, name);
  if (address == nullptr)
    throw DeviceError(what_ + " in " + file_ + " has no function " + name + ": install a version that has it");
  return address;
}

}  // namespace newel::detail

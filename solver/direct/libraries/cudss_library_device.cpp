// SPDX-License-Identifier: Apache-2.0
// Where cuDSS is found: as the system finds libraries.
#include "solver/direct/libraries/cudss_library_device.hpp"

#include "solver/direct/libraries/cudss_row.hpp"
#include "solver/direct/libraries/optional_library.hpp"

namespace newel::detail {
namespace {

void require_version(const Cudss& functions) {
  int major = 0, minor = 0;
  functions.cudssGetProperty(MAJOR_VERSION, &major);
  functions.cudssGetProperty(MINOR_VERSION, &minor);
  if (major == 1) return;
  throw DeviceError("cuDSS " + std::to_string(major) + "." + std::to_string(minor) +
                    " is not supported: install version 1");
}

Cudss load_cudss() {
  const DynamicLibrary library("cuDSS", {"libcudss.so.1", "libcudss.so"});
  Cudss functions;
#define X(name) library.find(#name, functions.name);
  X(cudssGetProperty)
  X(cudssCreate)
  X(cudssDestroy)
  X(cudssSetStream)
  X(cudssConfigCreate)
  X(cudssConfigDestroy)
  X(cudssDataCreate)
  X(cudssDataDestroy)
  X(cudssDataGet)
  X(cudssMatrixCreateCsr)
  X(cudssMatrixCreateDn)
  X(cudssMatrixDestroy)
  X(cudssExecute)
#undef X
  require_version(functions);
  return functions;
}

const OptionalLibrary<Cudss>& found_cudss() {
  static const OptionalLibrary<Cudss> library(&load_cudss);
  return library;
}

}  // namespace

const Cudss* cudss() { return found_cudss().functions(); }
const std::string& cudss_missing() { return found_cudss().missing(); }

Factorisation cudss_row() {
  return {"L L^T, L D L^T or L U by cuDSS", Space::device, "LicenseRef-NVIDIA-cuDSS", "nvidia-cudss-cu13",
          cudss_missing()};
}

}  // namespace newel::detail

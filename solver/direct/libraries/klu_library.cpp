// SPDX-License-Identifier: Apache-2.0
// Where KLU is found: as the system finds libraries.
#include "solver/direct/libraries/klu_library.hpp"

#include "solver/direct/libraries/optional_library.hpp"

namespace newel::detail {
namespace {

// Of a version with another layout of its settings, the defaults stand in other places.
bool has_known_settings(const Klu& functions) {
  KluCommon common{};
  return functions.klu_defaults(&common) != 0 && common.tol == 0.001 && common.memgrow == 1.2 && common.btf == 1 &&
         common.ordering == 0 && common.scale == KluCommon::by_largest && common.halt_if_singular == 1;
}

Klu load_klu() {
  const DynamicLibrary library("KLU", {"libklu.so.2", "libklu.so.1", "libklu.so"});
  Klu functions;
#define X(name) library.find(#name, functions.name);
  X(klu_defaults)
  X(klu_analyze)
  X(klu_factor)
  X(klu_refactor)
  X(klu_solve)
  X(klu_tsolve)
  X(klu_free_symbolic)
  X(klu_free_numeric)
#undef X
  if (!has_known_settings(functions)) throw DeviceError("this version of KLU is not supported: 1 and 2 are");
  return functions;
}

const OptionalLibrary<Klu>& found_klu() {
  static const OptionalLibrary<Klu> library(&load_klu);
  return library;
}

}  // namespace

const Klu* klu() { return found_klu().functions(); }
const std::string& klu_missing() { return found_klu().missing(); }

}  // namespace newel::detail

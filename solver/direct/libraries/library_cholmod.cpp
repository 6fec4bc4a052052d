// SPDX-License-Identifier: Apache-2.0
// Where CHOLMOD is found: as the system finds libraries.
#include "solver/direct/libraries/cholmod_library.hpp"

#include "solver/direct/libraries/optional_library.hpp"

namespace newel::detail {
namespace {

// Of a version with another layout of its settings, the defaults stand in other places.
bool has_known_settings(const Cholmod& functions) {
  CholmodCommon common{};
  if (functions.cholmod_start(&common) == 0) return false;
  const bool known = common.growth.grow2 == 5 && common.supernodal_switch == 40 && common.supernodal == 1 &&
                     common.messages.print == 3 && common.error_handler == nullptr && common.nmethods == 0 &&
                     common.method[0].ordering == CholmodCommon::given &&
                     common.method[1].ordering == CholmodCommon::minimum_degree && common.postorder == 1;
  functions.cholmod_finish(&common);
  return known;
}

Cholmod load_cholmod() {
  const DynamicLibrary library("CHOLMOD", {"libcholmod.so.5", "libcholmod.so.4", "libcholmod.so.3", "libcholmod.so"});
  Cholmod functions;
#define X(name) library.find(#name, functions.name);
  X(cholmod_start)
  X(cholmod_finish)
  X(cholmod_analyze)
  X(cholmod_factorize)
  X(cholmod_solve)
  X(cholmod_free_factor)
  X(cholmod_free_dense)
#undef X
  if (!has_known_settings(functions)) throw DeviceError("this version of CHOLMOD is not supported: 3 to 5 are");
  return functions;
}

const OptionalLibrary<Cholmod>& found_cholmod() {
  static const OptionalLibrary<Cholmod> library(&load_cholmod);
  return library;
}

}  // namespace

const Cholmod* cholmod() { return found_cholmod().functions(); }
const std::string& cholmod_missing() { return found_cholmod().missing(); }

}  // namespace newel::detail

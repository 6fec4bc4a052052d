// SPDX-License-Identifier: Apache-2.0
/// The option of methods that may run in one kernel. Internal.
#pragma once

#include <newel/core/method_option.hpp>

namespace newel::detail {

/// Whether they may. Reports of a solve say whether it did.
template <class Options>
MethodOption resident_option(bool Options::*member) {
  MethodOption option = value_option(
      "--no-resident", "", "Run CG and BiCGStab in separate kernels, even if one could keep the vectors on the chip",
      "resident", member);
  option.needs = OptionNeeds::resident_kernel;
  option.reported = false;
  return option;
}

}  // namespace newel::detail

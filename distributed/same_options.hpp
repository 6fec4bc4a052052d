// SPDX-License-Identifier: Apache-2.0
/// Options that all ranks must have alike. Internal.
#pragma once

#include <string>

#include <newel/core/communicator.hpp>
#include <newel/solver/linear_system.hpp>

namespace newel::detail {

/// What all ranks must have alike, with all digits.
std::string text_of(const StopCriterion& stop);
std::string text_of(const SystemOptions& options);

/// Throws InputError, which names a rank whose text differs. All ranks call it together.
void require_same_options(Communicator& communicator, const std::string& options);

}  // namespace newel::detail

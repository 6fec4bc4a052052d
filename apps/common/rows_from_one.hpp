// SPDX-License-Identifier: Apache-2.0
/// The library counts rows from 0 and says so; files and all text of the command line count them from 1.
#pragma once

#include <string>

namespace purlin::cli {

/// "row 0 (0-based) is zero" as "row 1 is zero", "entries (0, 3) and (3, 0) (0-based)" as "entries (1, 4) and (4,
/// 1)".
std::string rows_from_one(const std::string& message);

}  // namespace purlin::cli

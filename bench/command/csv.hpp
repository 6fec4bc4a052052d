// SPDX-License-Identifier: Apache-2.0
/// The systems of a report as comma-separated values.
#pragma once

#include <string>

#include "apps/common/json_file.hpp"

namespace newel::cli {

/// A header, and a line for each entry of the array `lines` ("formats") of every system; a system that was refused
/// has one too. `columns` are names with blanks between them. The name of a column is that of its field, or is
/// followed by the field, "warm_ms=warm.milliseconds.median". Fields are those of the line, else of its system.
/// Numbers have the digits that read back to the same bits; words are quoted if they need it; true is written as the
/// name of the column. Empty are null, false, what is not finite, and what is not there.
std::string csv_of(const Json& report, const std::string& lines, const std::string& columns);

}  // namespace newel::cli

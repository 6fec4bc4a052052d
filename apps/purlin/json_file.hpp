// SPDX-License-Identifier: Apache-2.0
/// JSON reports as files: one top-level field a line group, long arrays of numbers on one line.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace purlin::cli {

using Json = nlohmann::ordered_json;

/// The text of `report`. Numbers that are not finite become null; bytes that are not UTF-8 (in file names) become
/// the replacement character.
std::string format_json(const Json& report);

}  // namespace purlin::cli

// SPDX-License-Identifier: Apache-2.0
/// Text in XML files: escapes and numbers. For the writers of results alone.
#pragma once

#include <string>
#include <string_view>

namespace newel::fem::detail {

/// With the four characters that end an attribute or an element escaped.
std::string xml_escaped(std::string_view text);
/// The way back; other entities are left as they are.
std::string xml_unescaped(std::string_view text);
/// The shortest text that reads back as the same number.
std::string exact_text(double value);

}  // namespace newel::fem::detail

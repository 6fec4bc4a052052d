// SPDX-License-Identifier: Apache-2.0
/// Printable text: names of files and options may hold any byte, and a terminal obeys some of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace newel::cli {

/// `text` with control characters written out, "\n", "\t", "\x1b"; so too bytes that are no UTF-8, and characters
/// that change the direction of what follows.
std::string without_controls(std::string_view text);

/// Names that texts may contain, such as the arguments of the program: where one of them holds a line feed, a text
/// that names it has it written out too. Replaces those of an earlier call.
void set_printed_names(const std::vector<std::string>& names);

/// A text of lines, ready for a terminal: `without_controls` but for the ends of its own lines.
std::string printable_lines(const std::string& lines);

}  // namespace newel::cli

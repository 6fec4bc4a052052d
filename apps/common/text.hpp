// SPDX-License-Identifier: Apache-2.0
/// Numbers and names as words, and as text that a terminal may have: names of files and options may hold any byte,
/// and a terminal obeys some of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace newel::cli {

/// Text that was requested instead of work: --help, --version.
struct TextOnly {
  std::string text;
};

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

/// 1234567 as "1,234,567".
std::string thousands(std::int64_t number);

/// "1 row", "1,200 rows".
std::string count_of(std::int64_t number, std::string_view singular, std::string_view plural);

/// "250 us", "1.25 ms", "3.40 s".
std::string duration(double seconds);

/// The parts of `text` between the separators, empty ones too; one part where there is none.
std::vector<std::string> split(const std::string& text, char separator);

/// "a, b, c"
std::string join(const std::vector<std::string>& names);

/// "unknown KIND 'given' (did you mean X?); there are a, b, c"
std::string unknown_name(std::string_view kind, std::string_view given, const std::vector<std::string>& names);

/// `argument` as a shell takes it: quoted where it holds more than plain characters.
std::string shell_quoted(const std::string& argument);

/// What was typed, quoted for a shell, from "newel" on.
std::string command_text(int argc, const char* const* argv);

/// "  label          value" with the labels of a report aligned.
std::string labelled(std::string_view label, const std::string& value);

/// `text` with control characters written out, "\n", "\t", "\x1b"; so too bytes that are no UTF-8, and characters
/// that change the direction of what follows.
std::string without_controls(std::string_view text);

/// Names that texts may contain, such as the arguments of the program: where one of them holds a line feed, a text
/// that names it has it written out too. Replaces those of an earlier call.
void set_printed_names(const std::vector<std::string>& names);

/// A text of lines, ready for a terminal: `without_controls` but for the ends of its own lines.
std::string printable_lines(const std::string& lines);

}  // namespace newel::cli

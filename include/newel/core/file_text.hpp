// SPDX-License-Identifier: Apache-2.0
/// FileText and parse_number: read a program's own input files like the library reads matrix files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <newel/core/context.hpp>

namespace newel {

/// The text or bytes of an input file: mapped, read from a pipe, or decompressed if it is gzip. Copies share the
/// data.
class FileText {
 public:
  /// Maps the regular file `path`, or reads a pipe, a terminal or another device to its end. Several gzip members in
  /// sequence are one text. Throws InputError if the file cannot be opened or read or is a directory, and for a
  /// damaged or truncated gzip stream or bytes after it; OutOfMemory if the text needs more than half of the
  /// available memory. A mapped file must not be truncated by another program meanwhile.
  FileText(const Context<Space::host>& ctx, const std::string& path);
  /// The same for the bytes of a file in memory, which must outlive this object; `name` is used in messages.
  FileText(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name);

  /// Valid as long as this object.
  std::string_view text() const { return text_; }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view text_;
};

/// Result of parse_number.
enum class NumberStatus { ok, not_a_number, overflow };

/// Parses a word as a decimal number, independent of the locale: digits with an optional sign (also +), point and
/// exponent (e, E, Fortran's d or D, or a sign alone before three digits). Correctly rounded; values too small become
/// subnormal or zero. Words such as nan and inf are not numbers. Sets `value` if the status is ok.
NumberStatus parse_number(std::string_view word, double& value);

}  // namespace newel

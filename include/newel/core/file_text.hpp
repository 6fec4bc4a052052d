// SPDX-License-Identifier: Apache-2.0
/// FileText and parse_number: input files of a program's own, read as the library reads those of matrices.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <newel/core/context.hpp>

namespace newel {

/// The text or bytes of an input file: mapped, read from a pipe, or inflated where they are gzip. Copies share them.
class FileText {
 public:
  /// Maps the regular file `path`, or reads a pipe, a terminal or another device to its end; several gzip members in
  /// a row are one text. Throws InputError for a file that cannot be opened or read or is a directory, for a damaged
  /// or cut gzip stream and for bytes behind it; OutOfMemory where it would take more than half of the memory that is
  /// available. A mapped file must not be shortened by somebody else meanwhile.
  FileText(const Context<Space::host>& ctx, const std::string& path);
  /// The same of the bytes of a file in memory, which must outlive this object; `name` stands for it in messages.
  FileText(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name);

  /// As long as this object lives.
  std::string_view text() const { return text_; }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view text_;
};

/// How the reading of a number went.
enum class NumberStatus { ok, not_a_number, overflow };

/// Reads a word that is a decimal number, without a locale: digits with an optional sign (also +), point and exponent
/// (e, E, and Fortran's d, D, or a sign alone before three digits). Correctly rounded; what is too small becomes a
/// subnormal number or zero. Words such as nan and inf are no numbers. `value` receives it where the status is ok.
NumberStatus parse_number(std::string_view word, double& value);

}  // namespace newel

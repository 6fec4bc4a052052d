// SPDX-License-Identifier: Apache-2.0
/// The text of an input file: mapped, read from a pipe, or inflated where its content is gzip.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <newel/core/memory.hpp>
#include "core/text/text_filter.hpp"

namespace newel::detail {

/// Which lines of a text come into memory.
enum class TextLines {
  all,
  /// Those that TextFilter keeps, where the text is inflated, comes from a pipe, or ends its lines with carriage
  /// returns alone. A file that is mapped takes no memory for its comments, and is left as it is.
  without_comments,
};

/// Looks at the first bytes of a text (at most 64 kB): throws when nothing good can follow, else says which lines a
/// reader of such a text wants. It runs before more is inflated, so that a few packed bytes of something else cannot
/// unfold to gigabytes.
using HeadCheck = TextLines (*)(std::string_view head, const std::string& name);

/// Owns the mapping or the inflated text, or borrows text in memory. Moves, never copies.
class TextSource {
 public:
  /// Maps the regular file `path`, or reads a pipe, a terminal or another device to its end; inflates what begins as
  /// gzip does (several members in a row are one text). Waits for a pipe that nobody writes to yet. Throws InputError
  /// for a file that cannot be opened or read or is a directory, for a damaged or cut gzip stream and for bytes
  /// behind it; OutOfMemory when the text would take more than half of the memory that is available.
  static TextSource open(const MemoryResource& memory, const std::string& path, HeadCheck check_head);

  /// The same for bytes in memory, which must outlive the source.
  static TextSource from_memory(const MemoryResource& memory, std::string_view bytes, const std::string& name,
                                HeadCheck check_head);

  TextSource(TextSource&&) noexcept = default;
  TextSource& operator=(TextSource&&) noexcept = default;

  std::string_view text() const { return text_; }
  /// The lines that are missing in `text`; null: none.
  const std::vector<LeftOut>* left_out() const { return left_out_.empty() ? nullptr : &left_out_; }

 private:
  TextSource() = default;

  static TextSource read_stream(const MemoryResource& memory, int descriptor, const std::string& path,
                                HeadCheck check_head);
  template <class Fill>
  static TextSource gather(const MemoryResource& memory, const std::string& name, std::size_t likely,
                           HeadCheck check_head, Fill&& fill);

  std::shared_ptr<const void> owner_;
  std::string_view text_;
  std::vector<LeftOut> left_out_;
};

}  // namespace newel::detail

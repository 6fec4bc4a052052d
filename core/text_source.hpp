// SPDX-License-Identifier: Apache-2.0
/// The text of an input file: mapped, or inflated where its content is gzip.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <purlin/core/memory.hpp>

namespace purlin::detail {

/// Looks at the first bytes of a text (at most 64 kB) and throws when nothing good can follow. It runs before more is
/// inflated, so that a few packed bytes of something else cannot unfold to gigabytes.
using HeadCheck = void (*)(std::string_view head, const std::string& name);

/// Owns the mapping or the inflated text, or borrows text in memory. Moves, never copies.
class TextSource {
 public:
  /// Maps the regular file `path`, or inflates it when it begins as gzip does (several members in a row are one
  /// text). Throws InputError for a file that cannot be opened or read, is a directory or no regular file, for a
  /// damaged or cut gzip stream and for bytes behind it; OutOfMemory when the inflated text would take more
  /// than half of the memory that is available.
  static TextSource open(const MemoryResource& memory, const std::string& path, HeadCheck check_head);

  /// The same for bytes in memory, which must outlive the source.
  static TextSource from_memory(const MemoryResource& memory, std::string_view bytes, const std::string& name,
                                HeadCheck check_head);

  TextSource(TextSource&&) noexcept = default;
  TextSource& operator=(TextSource&&) noexcept = default;

  std::string_view text() const { return text_; }

 private:
  TextSource() = default;

  std::shared_ptr<const void> owner_;
  std::string_view text_;
};

}  // namespace purlin::detail

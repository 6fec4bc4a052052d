// SPDX-License-Identifier: Apache-2.0
/// Text to a file that appears whole or not at all.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace newel::detail {

class GzipWriter;
class TemporaryFile;

/// Collects text and writes it next to `path`; `commit` gives it the name, and the permissions of the file that it
/// replaces. gzipped where `path` ends in ".gz". A path
/// that exists and is no regular file (a terminal, a pipe) is written directly. Without `commit` nothing stays.
/// Everything throws InputError, with the system's words, when the file cannot be written. A limit on the size of
/// files is such a case only in a process that ignores SIGXFSZ; else the signal ends it.
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  /// Writes to an open descriptor, which stays the caller's and open; `name` stands for it in messages.
  FileWriter(int descriptor, const std::string& name);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();

  void write(std::string_view text) {
    if (text.size() > room()) flush();
    if (text.size() > room()) {
      put(text);
    } else {
      text.copy(buffer_.get() + used_, text.size());
      used_ += text.size();
    }
  }

  /// At least `bytes` (up to 1 kB) of room for a caller that formats in place, then calls `advance`.
  char* reserve(std::size_t bytes) {
    if (bytes > room()) flush();
    return buffer_.get() + used_;
  }
  void advance(const char* end) { used_ = static_cast<std::size_t>(end - buffer_.get()); }

  /// Writes the rest, closes and renames.
  void commit();

 private:
  std::size_t room() const { return buffer_bytes - used_; }
  void flush();
  void put(std::string_view text);
  void abandon() noexcept;
  [[noreturn]] void fail(const std::string& what);

  static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

  std::string path_;                          // as the caller says it
  std::string target_;                        // behind links
  std::unique_ptr<TemporaryFile> temporary_;  // null when written directly
  std::unique_ptr<char[]> buffer_;
  std::size_t used_ = 0;
  int file_ = -1;
  std::unique_ptr<GzipWriter> packed_;
};

}  // namespace newel::detail

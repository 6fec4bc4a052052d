// SPDX-License-Identifier: Apache-2.0
/// FileWriter and TemporaryFile: files of a program's own that appear whole or not at all, as those of the library
/// do.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace newel {
namespace detail {
class GzipWriter;
}

/// Whether a file without its folder has a name that TemporaryFile gives: NAME.PROCESS-NUMBER.part.
bool is_partial_file(const std::string& name);

/// Removes the partial files of a folder that no process writes any more, and nothing else.
void remove_abandoned_parts(const std::string& folder);

/// A new file beside `target`, TARGET.PROCESS-NUMBER.part: never one that exists, and never through a link. It is
/// locked as long as this object lives (`flock`, which the system releases when a process dies), so that others know
/// that it is being written. It has the permissions of `target` where that is a file. Without `commit` it is removed.
/// Where a function returns false, errno says why.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { remove(); }

  /// Makes the file.
  bool open(const std::string& target);
  /// Open for writing; -1 before `open` and after its end.
  int descriptor() const { return descriptor_; }
  /// Writes all of it.
  bool write(const void* data, std::size_t size);
  /// Waits until the contents are on the disk.
  bool synchronize();
  /// Closes it and gives it the name of its target.
  bool commit();
  /// Closes and removes it; keeps errno.
  void remove() noexcept;

 private:
  std::string target_, name_;
  int descriptor_ = -1;
};

/// Collects text and writes it next to `path`; `commit` gives it the name, and the permissions of the file that it
/// replaces. gzipped where `path` ends in ".gz". A path
/// that exists and is no regular file (a terminal, a pipe) is written directly. Without `commit` nothing stays.
/// Everything throws InputError, with the system's words, when the file cannot be written. A limit on the size of
/// files is such a case only in a process that ignores SIGXFSZ; else the signal ends it.
class FileWriter {
 public:
  /// Begins the file that `commit` will name `path`.
  explicit FileWriter(const std::string& path);
  /// Writes to an open descriptor, which stays the caller's and open; `name` stands for it in messages.
  FileWriter(int descriptor, const std::string& name);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();

  /// Text or bytes behind what has been written.
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
  std::unique_ptr<detail::GzipWriter> packed_;
};

}  // namespace newel

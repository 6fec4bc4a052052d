// SPDX-License-Identifier: Apache-2.0
/// FileWriter and TemporaryFile: write files that appear complete or not at all, like those of the library.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace newel {
namespace detail {
class GzipWriter;
}

/// Whether a file name without folder has the form that TemporaryFile uses: NAME.PROCESS-NUMBER.part.
bool is_partial_file(const std::string& name);

/// Removes the partial files in a folder that no process is writing any more, and nothing else.
void remove_abandoned_parts(const std::string& folder);

/// A new file next to `target`, TARGET.PROCESS-NUMBER.part: never an existing file, and never through a link. It is
/// locked while this object lives (`flock`, which the system releases when a process dies), so that others know that
/// it is being written. It has the permissions of `target`, if that file exists. Without `commit` it is removed. If a
/// function returns false, errno holds the reason.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { remove(); }

  /// Creates the file.
  bool open(const std::string& target);
  /// Open for writing; -1 before `open` and after `commit` or `remove`.
  int descriptor() const { return descriptor_; }
  /// Writes all bytes.
  bool write(const void* data, std::size_t size);
  /// Waits until the contents are on disk.
  bool synchronize();
  /// Closes the file and renames it to its target.
  bool commit();
  /// Closes and removes the file; keeps errno.
  void remove() noexcept;

 private:
  std::string target_, name_;
  int descriptor_ = -1;
};

/// Writes text to a temporary file next to `path`; `commit` renames it to `path` and gives it the permissions of the
/// file that it replaces. Compressed with gzip if `path` ends in ".gz". A path that exists and is not a regular file
/// (a terminal, a pipe) is written directly. Without `commit` no file remains. All functions throw InputError with
/// the system's message if the file cannot be written. Exceeding a limit on file sizes is reported this way only in a
/// process that ignores SIGXFSZ; otherwise the signal ends the process.
class FileWriter {
 public:
  /// Starts the file that `commit` renames to `path`.
  explicit FileWriter(const std::string& path);
  /// Writes to an open descriptor, which stays open and belongs to the caller; `name` is used in messages.
  FileWriter(int descriptor, const std::string& name);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();

  /// Appends text or bytes.
  void write(std::string_view text) {
    if (text.size() > room()) flush();
    if (text.size() > room()) {
      put(text);
    } else {
      text.copy(buffer_.get() + used_, text.size());
      used_ += text.size();
    }
  }

  /// At least `bytes` (up to 1 kB) of buffer space, for a caller that formats in place and then calls `advance`.
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

// SPDX-License-Identifier: Apache-2.0
/// TemporaryFile: what will replace a file, written beside it under a name that nobody else uses. Internal.
#pragma once

#include <cstddef>
#include <string>

namespace newel::detail {

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

}  // namespace newel::detail

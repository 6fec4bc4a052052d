// SPDX-License-Identifier: Apache-2.0
/// FolderLock: a folder belongs to one run at a time.
#pragma once

#include <string>

namespace newel::transient {

/// A lock on the file `run.lock` of a folder, for as long as this object lives. The system releases it when the
/// process ends, however it ends; a file that was left is taken over.
class FolderLock {
 public:
  /// `program` is what others are told. Throws InputError that names the run that has the folder, and where the file
  /// cannot be made; a link in its place is not followed.
  FolderLock(const std::string& folder, const std::string& program);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

  /// Why the folder is not locked although this object was made, where the file system has no locks; else empty.
  const std::string& remark() const { return remark_; }

 private:
  std::string file_, remark_;
  int descriptor_ = -1;
};

}  // namespace newel::transient

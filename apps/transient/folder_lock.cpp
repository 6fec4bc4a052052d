// SPDX-License-Identifier: Apache-2.0
// The lock of a folder: flock on a file that says who has it.
#include "folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <newel/core/error.hpp>

namespace newel::transient {
namespace {

constexpr std::size_t longest_owner = 200;

// "newel-heat, process 4711 on node7"
std::string owner_text(const std::string& program) {
  std::array<char, 128> host = {};
  const bool named = ::gethostname(host.data(), host.size() - 1) == 0 && host[0] != '\0';
  return program + ", process " + std::to_string(::getpid()) + (named ? " on " + std::string(host.data()) : "");
}

// What the run that has the lock wrote into it; it may be about to.
std::string owner_in(int descriptor) {
  std::array<char, longest_owner> text = {};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  const std::string line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::string owner = line.substr(0, line.find('\n'));
  return owner.empty() ? "another run" : owner;
}

// Whether the file that was locked still is the one of that name: the run that had it removes it when it ends.
bool is_named(int descriptor, const std::string& file) {
  struct stat locked = {}, named = {};
  return ::fstat(descriptor, &locked) == 0 && ::lstat(file.c_str(), &named) == 0 && locked.st_dev == named.st_dev &&
         locked.st_ino == named.st_ino;
}

int open_lock(const std::string& folder, const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
  const std::string why = errno == ELOOP ? "it is a link" : std::strerror(errno);
  struct stat status = {};
  if (descriptor >= 0 && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) return descriptor;
  if (descriptor >= 0) ::close(descriptor);
  throw InputError("--out " + folder + ": " + file +
                   " cannot be locked: " + (descriptor >= 0 ? "it is not a regular file" : why));
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, const std::string& program)
    : file_((std::filesystem::path(folder) / "run.lock").string()) {
  for (;;) {
    descriptor_ = open_lock(folder, file_);
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      const std::string owner = owner_in(descriptor_);
      if (error == EWOULDBLOCK) {
        ::close(std::exchange(descriptor_, -1));
        throw InputError("--out " + folder + ": " + owner + ", is writing into this folder; use another folder");
      }
      ::unlink(file_.c_str());
      remark_ = "--out " + folder + ": the file system has no locks (" + std::strerror(error) +
                "): make sure that no other run writes into this folder";
      return;
    }
    if (is_named(descriptor_, file_)) break;
    ::close(std::exchange(descriptor_, -1));
  }
  const std::string owner = owner_text(program) + '\n';
  // Words for others: the lock holds without them.
  if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, owner.data(), owner.size(), 0) < 0) return;
}

FolderLock::~FolderLock() {
  if (descriptor_ < 0) return;
  if (remark_.empty()) ::unlink(file_.c_str());  // first: whoever opens it afterwards makes a new one
  ::close(descriptor_);
}

}  // namespace newel::transient

// SPDX-License-Identifier: Apache-2.0
// Exclusive creation, the lock that marks a file as being written, and the rename at the end.
#include <newel/core/file_writer.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

namespace newel {
namespace {

constexpr const char* suffix = ".part";

// Whether `descriptor` still is the file of that name, which somebody may have taken for abandoned before it was
// locked.
bool is_named(int descriptor, const std::string& name) {
  struct stat open = {}, named = {};
  return ::fstat(descriptor, &open) == 0 && ::lstat(name.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

// Removes the file unless its writer is at work. What is no file, or cannot be locked, stays.
void remove_unless_written(const std::string& name) {
  // To be written: on NFS only such a descriptor can be locked for oneself.
  const int descriptor = ::open(name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat status = {};
  const bool is_file = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  if (is_file && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_named(descriptor, name)) ::unlink(name.c_str());
  ::close(descriptor);
}

}  // namespace

bool is_partial_file(const std::string& name) {
  const std::size_t end = name.rfind(suffix), begin = end == std::string::npos ? end : name.rfind('.', end - 1);
  if (begin == std::string::npos || end + 5 != name.size() || begin == 0) return false;
  long process = 0, number = 0;
  int used = 0;
  const std::string middle = name.substr(begin + 1, end - begin - 1);
  return std::sscanf(middle.c_str(), "%ld-%ld%n", &process, &number, &used) == 2 &&
         used == static_cast<int>(middle.size());
}

void remove_abandoned_parts(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (is_partial_file(entry->path().filename().string())) found.push_back(entry->path());
  }
  for (const fs::path& file : found) remove_unless_written(file.string());
}

bool TemporaryFile::open(const std::string& target) {
  static std::atomic<unsigned> number{0};
  constexpr int most_names = 1000;  // a process of the same number may have left some
  struct stat status = {};
  const bool replaces = ::stat(target.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  const mode_t mode = replaces ? status.st_mode & 0777 : 0666;
  target_ = target;
  for (int tries = 0; tries < most_names; ++tries) {
    name_ = target + "." + std::to_string(::getpid()) + "-" + std::to_string(number++) + suffix;
    descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode | S_IWUSR);
    if (descriptor_ < 0 && errno == EEXIST) continue;
    if (descriptor_ < 0) return false;
    const bool lost = ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!lost && is_named(descriptor_, name_)) {
      if (replaces)
        static_cast<void>(::fchmod(descriptor_, mode));  // a file system without permissions has none to keep
      return true;
    }
    ::close(std::exchange(descriptor_, -1));
  }
  errno = EEXIST;
  return false;
}

bool TemporaryFile::write(const void* data, std::size_t size) {
  const char* from = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = ::write(descriptor_, from, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    from += done;
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

bool TemporaryFile::synchronize() { return ::fsync(descriptor_) == 0; }

bool TemporaryFile::commit() {
  // The name first: while it is open it is locked, and nobody takes it for abandoned. What was written late fails
  // here.
  const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0 && ::close(copy) != 0) return false;
  if (::rename(name_.c_str(), target_.c_str()) != 0) return false;
  ::close(std::exchange(descriptor_, -1));
  return true;
}

void TemporaryFile::remove() noexcept {
  if (descriptor_ < 0) return;
  const int kept = errno;
  ::unlink(name_.c_str());
  ::close(std::exchange(descriptor_, -1));
  errno = kept;
}

}  // namespace newel

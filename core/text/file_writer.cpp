// SPDX-License-Identifier: Apache-2.0
// Buffered writing to a temporary next to the target, plain or through zlib, and the rename at the end.
#include <newel/core/file_writer.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <newel/core/error.hpp>
#include "core/text/gzip.hpp"

namespace newel {
namespace {

std::string behind_links(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string result = resolved;
  std::free(resolved);
  return result;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

FileWriter::FileWriter(const std::string& path)
    : path_(path), target_(behind_links(path)), buffer_(std::make_unique<char[]>(buffer_bytes)) {
  struct stat status = {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw InputError("cannot write " + path_ + ": it is a directory");
  if (exists && !S_ISREG(status.st_mode)) {
    file_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    temporary_ = std::make_unique<TemporaryFile>();
    if (temporary_->open(target_)) file_ = ::fcntl(temporary_->descriptor(), F_DUPFD_CLOEXEC, 0);
  }
  if (file_ < 0) fail(std::strerror(errno));
  if (!ends_with(path_, ".gz")) return;
  try {
    packed_ = std::make_unique<detail::GzipWriter>(file_, path_);
  } catch (...) {
    abandon();
    throw;
  }
  file_ = -1;  // the writer closes it
}

FileWriter::FileWriter(int descriptor, const std::string& name)
    : path_(name), buffer_(std::make_unique<char[]>(buffer_bytes)), file_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) {
  if (file_ < 0) fail(std::strerror(errno));
}

FileWriter::~FileWriter() { abandon(); }

void FileWriter::abandon() noexcept {
  packed_.reset();
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  temporary_.reset();
}

void FileWriter::fail(const std::string& what) {
  abandon();
  throw InputError("cannot write " + path_ + ": " + what);
}

void FileWriter::flush() {
  put({buffer_.get(), used_});
  used_ = 0;
}

void FileWriter::put(std::string_view text) {
  constexpr std::size_t most = std::size_t{1} << 30;
  while (!text.empty()) {
    ssize_t written;
    if (packed_ != nullptr) {
      std::string error;
      written = static_cast<ssize_t>(packed_->write(text, error));
      if (written == 0) fail(error);
    } else {
      written = ::write(file_, text.data(), text.size() < most ? text.size() : most);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(std::strerror(errno));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void FileWriter::commit() {
  flush();
  if (packed_ != nullptr) {
    const std::string error = packed_->close();
    packed_.reset();
    if (!error.empty()) fail(error);
  } else {
    const int code = ::close(file_);
    file_ = -1;
    if (code != 0) fail(std::strerror(errno));
  }
  if (temporary_ == nullptr) return;
  if (!temporary_->commit()) fail(std::strerror(errno));
  temporary_.reset();
}

}  // namespace newel

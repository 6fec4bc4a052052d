// SPDX-License-Identifier: Apache-2.0
// Mapping a file, reading a pipe and inflating gzip, measured against the memory that is available.
#include "core/text/text_source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <newel/core/error.hpp>
#include "core/text/gzip.hpp"

namespace newel::detail {
namespace {

constexpr std::size_t head_bytes = std::size_t{64} << 10;

[[noreturn]] void throw_system_error(const std::string& what, const std::string& path) {
  throw InputError("cannot " + what + " " + path + ": " + std::strerror(errno));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

// A text that grows. realloc moves large blocks by remapping, so that growing does not hold two copies.
class GrowingText {
 public:
  GrowingText(const MemoryResource& memory, const std::string& name) : memory_(memory), name_(name) {}
  GrowingText(const GrowingText&) = delete;
  GrowingText& operator=(const GrowingText&) = delete;
  ~GrowingText() { std::free(data_); }

  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    // Half is left for what is made of the text. Small steps are not worth asking the system about.
    constexpr std::size_t worth_asking = std::size_t{16} << 20;
    constexpr std::uint64_t most = UINT64_MAX;  // where the resource does not know
    const std::size_t more = capacity - capacity_;
    if (more >= worth_asking && more > memory_.available_bytes().value_or(most) / 2) fail(capacity);
    void* moved = std::realloc(data_, capacity);
    if (moved == nullptr) fail(capacity);
    data_ = static_cast<char*>(moved);
    capacity_ = capacity;
  }
  char* free_begin() { return data_ + size_; }
  std::size_t free_bytes() const { return capacity_ - size_; }
  void add(std::size_t bytes) { size_ += bytes; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::string_view view() const { return {data_, size_}; }
  std::shared_ptr<const void> release() {
    std::shared_ptr<const void> owner(data_, [](const void* p) { std::free(const_cast<void*>(p)); });
    data_ = nullptr;
    return owner;
  }

 private:
  [[noreturn]] void fail(std::size_t wanted) const {
    throw OutOfMemory("host", "the text of " + name_, wanted, memory_.available_bytes());
  }

  const MemoryResource& memory_;
  const std::string& name_;
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// Reads until `room` bytes have come or the end is reached.
std::size_t read_some(int descriptor, const std::string& path, char* to, std::size_t room) {
  std::size_t size = 0;
  while (size < room) {
    const ssize_t count = ::read(descriptor, to + size, room - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_system_error("read", path);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  return size;
}

// Whether lines end with carriage returns alone, going by the first line.
bool has_lone_returns(std::string_view text) {
  const std::size_t at = text.find_first_of("\r\n");
  return at != std::string_view::npos && text[at] == '\r' && (at + 1 == text.size() || text[at + 1] != '\n');
}

}  // namespace

// Lets `fill(to, room)` write piece after piece until one is shorter than its room, and keeps the lines that the
// check asks for. `likely`: bytes in the end, for room.
template <class Fill>
TextSource TextSource::gather(const MemoryResource& memory, const std::string& name, std::size_t likely,
                              HeadCheck check_head, Fill&& fill) {
  GrowingText text(memory, name);
  TextFilter filter;
  TextLines lines = TextLines::all;
  text.reserve(head_bytes);
  bool first = true;
  for (bool more = true; more;) {
    if (text.free_bytes() < head_bytes / 2) text.reserve(std::max(likely, text.capacity() + text.capacity() / 2));
    const std::size_t room = text.free_bytes();
    const std::size_t written = fill(text.free_begin(), room);
    if (first) lines = check_head({text.free_begin(), std::min(written, head_bytes)}, name);
    first = false;
    text.add(lines == TextLines::all ? written : filter.keep(text.free_begin(), written));
    more = written == room;
  }
  TextSource source;
  source.left_out_ = filter.left_out();
  source.text_ = text.view();
  source.owner_ = text.release();
  return source;
}

TextSource TextSource::from_memory(const MemoryResource& memory, std::string_view bytes, const std::string& name,
                                   HeadCheck check_head) {
  if (begins_as_gzip(bytes)) {
    GzipReader inflater(bytes, name);
    return gather(memory, name, 4 * bytes.size(), check_head,
                  [&](char* to, std::size_t room) { return inflater.read(to, room); });
  }
  const TextLines lines = check_head(bytes.substr(0, head_bytes), name);
  if (lines == TextLines::without_comments && has_lone_returns(bytes)) {
    return gather(memory, name, bytes.size() + head_bytes, check_head, [&](char* to, std::size_t room) {
      const std::size_t size = bytes.copy(to, room);
      bytes.remove_prefix(size);
      return size;
    });
  }
  TextSource source;
  source.text_ = bytes;
  return source;
}

TextSource TextSource::read_stream(const MemoryResource& memory, int descriptor, const std::string& path,
                                   HeadCheck check_head) {
  std::array<char, 2> begin{};
  const std::size_t begin_size = read_some(descriptor, path, begin.data(), begin.size());
  const std::string_view read_already(begin.data(), begin_size);
  std::size_t used = 0;
  const auto fill = [&](char* to, std::size_t room) {
    const std::size_t size = read_already.substr(used).copy(to, room);
    used += size;
    return size + read_some(descriptor, path, to + size, room - size);
  };
  if (!begins_as_gzip(read_already)) return gather(memory, path, 0, check_head, fill);
  const auto anything = [](std::string_view, const std::string&) { return TextLines::all; };
  const TextSource packed = gather(memory, path, 0, anything, fill);
  return from_memory(memory, packed.text(), path, check_head);
}

TextSource TextSource::open(const MemoryResource& memory, const std::string& path, HeadCheck check_head) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) throw_system_error("open", path);
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) throw_system_error("read", path);
  if (S_ISDIR(status.st_mode)) throw InputError("cannot read " + path + ": expected a file, found a directory");
  const auto bytes = static_cast<std::size_t>(status.st_size);
  // Files of /proc say that they are empty.
  if (!S_ISREG(status.st_mode) || bytes == 0) return read_stream(memory, file.number(), path, check_head);
  void* mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (mapped == MAP_FAILED) throw_system_error("map", path);
  std::shared_ptr<const void> mapping(mapped, [bytes](const void* p) { ::munmap(const_cast<void*>(p), bytes); });
  ::madvise(mapped, bytes, MADV_WILLNEED);
  TextSource source = from_memory(memory, {static_cast<const char*>(mapped), bytes}, path, check_head);
  if (source.owner_ == nullptr) source.owner_ = std::move(mapping);
  return source;
}

}  // namespace newel::detail

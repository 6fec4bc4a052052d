// SPDX-License-Identifier: Apache-2.0
// zlib's streams, and what a build without zlib says instead.
#include "core/text/gzip.hpp"

#include <newel/config.hpp>
#include <newel/core/error.hpp>

#if NEWEL_HAS_ZLIB
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#endif

namespace newel::detail {

bool begins_as_gzip(std::string_view bytes) { return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

#if NEWEL_HAS_ZLIB

struct GzipReader::State {
  State(std::string_view packed, const std::string& name_) : rest(packed), name(name_) {
    constexpr int gzip_only = 15 + 16;
    if (inflateInit2(&stream, gzip_only) != Z_OK) throw OutOfMemory("host", "decompressing " + name, 1 << 16, 0);
  }
  ~State() { inflateEnd(&stream); }

  void next_member() {
    if (begins_as_gzip(rest)) {
      inflateReset(&stream);
      return;
    }
    finished = true;
    if (rest.find_first_not_of('\0') != std::string_view::npos) {  // tapes pad with zeros
      throw InputError(name + ": expected the end of the gzip stream, found " + std::to_string(rest.size()) +
                       " more bytes");
    }
  }
  [[noreturn]] void fail(int code, std::size_t written) const {
    const std::string after = " after " + std::to_string(total + written) + " bytes of text";
    if (code == Z_MEM_ERROR) throw OutOfMemory("host", "decompressing " + name, 1 << 16, 0);
    if (code == Z_BUF_ERROR) throw InputError(name + ": expected the whole gzip stream, found it cut short" + after);
    throw InputError(name + ": expected an intact gzip stream, found damage" + after +
                     (stream.msg != nullptr ? std::string(": ") + stream.msg : std::string()));
  }

  std::string_view rest;
  const std::string& name;
  z_stream stream = {};
  std::size_t total = 0;
  bool finished = false;
};

bool inflate_raw(std::string_view packed, char* to, std::size_t size, const std::string& name) {
  constexpr int no_head = -15;
  constexpr std::size_t most = std::size_t{1} << 30;  // zlib counts in 32 bits
  z_stream stream = {};
  if (inflateInit2(&stream, no_head) != Z_OK) throw OutOfMemory("host", "decompressing " + name, 1 << 16, 0);
  std::size_t written = 0;
  char beyond = 0;  // where one byte too many would go
  int code = Z_OK;
  while (code == Z_OK) {
    const std::size_t in = std::min(packed.size(), most), room = std::min(size - written, most);
    const bool full = room == 0;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(full ? &beyond : to + written);
    stream.avail_out = full ? 1 : static_cast<uInt>(room);
    code = inflate(&stream, Z_NO_FLUSH);
    packed.remove_prefix(in - stream.avail_in);
    if (full && stream.avail_out == 0) code = Z_DATA_ERROR;
    if (!full) written += room - stream.avail_out;
  }
  inflateEnd(&stream);
  return code == Z_STREAM_END && written == size && packed.empty();
}

GzipReader::GzipReader(std::string_view packed, const std::string& name)
    : state_(std::make_unique<State>(packed, name)) {}

std::size_t GzipReader::read(char* to, std::size_t room) {
  State& s = *state_;
  std::size_t written = 0;
  while (written < room && !s.finished) {
    constexpr std::size_t most = std::size_t{1} << 30;  // zlib counts in 32 bits
    const std::size_t in = std::min(s.rest.size(), most);
    const std::size_t out = std::min(room - written, most);
    s.stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(s.rest.data()));
    s.stream.avail_in = static_cast<uInt>(in);
    s.stream.next_out = reinterpret_cast<Bytef*>(to + written);
    s.stream.avail_out = static_cast<uInt>(out);
    const int code = inflate(&s.stream, Z_NO_FLUSH);
    s.rest.remove_prefix(in - s.stream.avail_in);
    written += out - s.stream.avail_out;
    if (code == Z_STREAM_END) {
      s.next_member();
    } else if (code != Z_OK) {
      s.fail(code, written);
    }
  }
  s.total += written;
  return written;
}

GzipWriter::GzipWriter(int descriptor, const std::string& path) : file_(::gzdopen(descriptor, "wb")) {
  if (file_ == nullptr) throw OutOfMemory("host", "compressing " + path, 1 << 18, 0);
}

GzipWriter::~GzipWriter() {
  if (file_ != nullptr) ::gzclose(static_cast<gzFile>(file_));
}

std::size_t GzipWriter::write(std::string_view text, std::string& error) {
  constexpr std::size_t most = std::size_t{1} << 30;
  const auto part = static_cast<unsigned>(std::min(text.size(), most));
  const int written = ::gzwrite(static_cast<gzFile>(file_), text.data(), part);
  if (written > 0) return static_cast<std::size_t>(written);
  error = errno != 0 ? std::strerror(errno) : "zlib failed";
  return 0;
}

std::string GzipWriter::close() {
  const int code = ::gzclose(static_cast<gzFile>(file_));
  file_ = nullptr;
  if (code == Z_OK) return {};
  return code == Z_ERRNO ? std::strerror(errno) : "zlib failed";
}

#else

struct GzipReader::State {};

bool inflate_raw(std::string_view, char*, std::size_t, const std::string& name) {
  throw InputError(
      name +
      " is compressed, and this build of Newel has no zlib: write it with numpy.savez, which does not compress");
}

GzipReader::GzipReader(std::string_view, const std::string& name) {
  throw InputError(name + " is gzipped, and this build of Newel has no zlib: decompress it first");
}
std::size_t GzipReader::read(char*, std::size_t) { return 0; }

GzipWriter::GzipWriter(int, const std::string& path) {
  throw InputError("cannot write " + path + ": gzip needs zlib, which this build of Newel does not have");
}
GzipWriter::~GzipWriter() = default;
std::size_t GzipWriter::write(std::string_view, std::string&) { return 0; }
std::string GzipWriter::close() { return {}; }

#endif

GzipReader::~GzipReader() = default;

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
/// Reading and writing gzip by zlib. A build without zlib refuses both with InputError. Internal.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace newel::detail {

bool begins_as_gzip(std::string_view bytes);

/// Unpacks the whole of a deflated stream without a head, as zip archives have them, into exactly `size` bytes.
/// Returns whether that is what it holds. Throws OutOfMemory, and InputError that names `name` in a build without
/// zlib.
bool inflate_raw(std::string_view packed, char* to, std::size_t size, const std::string& name);

/// The text of the gzip members that lie in memory, one after the other.
class GzipReader {
 public:
  /// `packed` and `name`, which stands for it in messages, outlive the reader. Throws OutOfMemory.
  GzipReader(std::string_view packed, const std::string& name);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Writes up to `room` bytes and returns their number; fewer than `room` mean the end of the last member. Throws
  /// InputError for a stream that is cut or damaged.
  std::size_t read(char* to, std::size_t room);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Packs what is written to a descriptor, which it owns once the constructor has returned.
class GzipWriter {
 public:
  /// Throws OutOfMemory where zlib has no memory, InputError that names `path` in a build without zlib.
  GzipWriter(int descriptor, const std::string& path);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  /// The number of bytes that were taken, at least one; or what went wrong, in `error`, and 0.
  std::size_t write(std::string_view text, std::string& error);
  /// Writes the rest and closes. What went wrong, or nothing.
  std::string close();

 private:
  void* file_ = nullptr;  // gzFile
};

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
/// A small file, text packed as gzip, and memory of a given size, for the tests of what is read.
#pragma once

#include <zlib.h>

#include <newel/core/memory.hpp>

#include "tests/core/matrix_market_support.hpp"

namespace newel::testing {

inline const std::string small = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n";

inline std::string read_error(const std::string& path) {
  return input_error([&] { read_matrix(HostContext(1), path); });
}

inline std::string pack(const std::string& text) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// Reports a given amount of memory, whatever is there.
class FixedMemory final : public MemoryResource {
 public:
  explicit FixedMemory(std::uint64_t available) : available_(available) {}
  void* allocate(std::size_t, CUstream_st*) override { return nullptr; }
  void release(void*, std::size_t, CUstream_st*) noexcept override {}
  std::optional<std::uint64_t> available_bytes() const override { return available_; }

 private:
  std::uint64_t available_;
};

}  // namespace newel::testing

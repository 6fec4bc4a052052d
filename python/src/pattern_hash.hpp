// SPDX-License-Identifier: Apache-2.0
/// A hash of integers by which two patterns are compared, the same wherever they lie and however wide they are.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <newel/core/index_span.hpp>

struct CUstream_st;

/// Marks a small function that both g++ and nvcc compile, for host and device.
#ifdef __CUDACC__
#define PYTHON_BOTH __host__ __device__ __forceinline__
#else
#define PYTHON_BOTH inline
#endif

namespace newel::python {

/// Two numbers that both differ where an integer does, but for chance.
using Hash = std::pair<std::uint64_t, std::uint64_t>;

/// The finaliser of D. Stafford's variant 13 of MurmurHash3: every bit of the input changes half of the output's.
PYTHON_BOTH std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// What integer i of an array adds to the two sums of the array. Sums of unsigned integers do not depend on their
/// order, so that as many threads may form them as there are.
PYTHON_BOTH void add_term(std::uint64_t i, std::uint64_t value, std::uint64_t& first, std::uint64_t& second) {
  const std::uint64_t both = i * 0x9e3779b97f4a7c15u + value * 0xd1342543de82ef95u;
  first += mixed(both);
  second += mixed(both ^ 0x243f6a8885a308d3u);
}

/// The sums of all integers, on the host.
Hash sums_of(const IndexSpan<Space::host>& integers);
/// The same on a device. Has the memory that the kernel needs, so that no call allocates. Defined only with CUDA on.
class DeviceSums {
 public:
  static constexpr std::size_t most = 3;  ///< arrays in a call

  /// On the device that is current, as in all calls. Throws DeviceError.
  DeviceSums();
  ~DeviceSums();
  DeviceSums(const DeviceSums&) = delete;
  DeviceSums& operator=(const DeviceSums&) = delete;

  /// Of at most `most` arrays, by one kernel. Waits for the stream.
  std::vector<Hash> of(CUstream_st* stream, const std::vector<IndexSpan<Space::device>>& arrays);

 private:
  unsigned long long* partial_ = nullptr;  // on the device, the sums so far and the number of blocks that have ended
  unsigned long long* sums_ = nullptr;     // on the host, where the last block writes them
};

/// Adds a number to a hash; the order of numbers counts.
inline void add(Hash& hash, std::uint64_t value) {
  hash.first = mixed(hash.first ^ value);
  hash.second = mixed(hash.second + value * 0x9e3779b97f4a7c15u);
}
/// Adds the sums of an array of `size` integers.
inline void add(Hash& hash, const Hash& sums, std::int64_t size) {
  add(hash, sums.first);
  add(hash, sums.second);
  add(hash, static_cast<std::uint64_t>(size));
}

}  // namespace newel::python

// SPDX-License-Identifier: Apache-2.0
/// What the tests of file formats share: matrices as lists of entries, bytes of numbers, messages.
#pragma once

#include "tests/catch.hpp"

#include <newel/io/matrix_file.hpp>

#include "tests/temporary_folder.hpp"

namespace newel::testing {

using HostContext = Context<Space::host>;

struct PlainEntry {
  Index row, col;
  double value;
  bool operator==(const PlainEntry& other) const {
    return row == other.row && col == other.col && value == other.value;
  }
};

/// All entries that are stored, row by row.
inline std::vector<PlainEntry> entries_of(const Csr<double, Space::host>& a) {
  std::vector<PlainEntry> entries;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) entries.push_back({i, a.col[k], a.val[k]});
  }
  return entries;
}

inline std::vector<double> values_of(const Array<double, Space::host>& a) { return {a.begin(), a.end()}; }

/// Numbers as their bytes in the order of PETSc, the most significant first.
class BigEndian {
 public:
  template <class T>
  BigEndian& put(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));  // on a little-endian machine the low bytes
    for (int byte = static_cast<int>(sizeof(T)) - 1; byte >= 0; --byte)
      bytes_ += static_cast<char>(bits >> 8 * byte & 0xff);
    return *this;
  }
  template <class T>
  BigEndian& put_all(const std::vector<T>& values) {
    for (const T value : values) put(value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace newel::testing

// SPDX-License-Identifier: Apache-2.0
/// Arrays of NumPy (.npy): the header that says what the bytes are, and the bytes as numbers.
/// Format: numpy.lib.format, "NEP 1: A simple file format for NumPy arrays".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <newel/core/array.hpp>
#include "io/byte_reader.hpp"

namespace newel::detail {

/// An array as its file describes it. Refers to the bytes that it was read from.
struct NpyArray {
  std::string name;    ///< of the file, and the member where it is in an archive, for messages
  char kind = 'f';     ///< as NumPy names them: b, i, u, f, c, and S or U for text
  int item_bytes = 8;  ///< of one number
  ByteOrder order = ByteOrder::little;
  bool by_columns = false;          ///< column after column, as Fortran has it
  std::vector<std::int64_t> shape;  ///< each at most 2^31 - 1, but for one dimension alone
  std::string_view data;            ///< exactly the bytes of all numbers

  std::int64_t size() const;
  bool is_complex() const { return kind == 'c'; }
};

bool begins_as_npy(std::string_view bytes);

/// Reads the header and measures the data. Throws InputError for what is no whole array, for more bytes after it,
/// and for types that are no numbers or texts: objects of Python and records are named.
NpyArray parse_npy(std::string_view bytes, const std::string& name);

/// The numbers in the order of the file. Throws InputError for text and complex numbers, and for the first number
/// that is not finite; OutOfMemory.
Array<double, Space::host> npy_doubles(const Context<Space::host>& ctx, const NpyArray& array);

/// Which parts of complex numbers.
enum class NumberPart { real, imaginary };

/// The same for one part of complex numbers.
Array<double, Space::host> npy_part(const Context<Space::host>& ctx, const NpyArray& array, NumberPart part);

/// The same for integers. Throws InputError for other numbers, and for what 64 bits with a sign cannot hold.
Array<std::int64_t, Space::host> npy_integers(const Context<Space::host>& ctx, const NpyArray& array);

/// The only text in an array of texts.
std::string npy_text(const NpyArray& array);

/// The header of an array of little-endian numbers, `descr` such as "<f8", padded as NumPy pads it.
std::string npy_header(const std::string& descr, bool by_columns, const std::vector<std::int64_t>& shape);

}  // namespace newel::detail

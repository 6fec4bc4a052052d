// SPDX-License-Identifier: Apache-2.0
/// The arrays of a matrix as newel.h takes them, and the MatrixInput that they are. Internal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/matrix_input.hpp>

#include "settings.hpp"

namespace newel::c {

/// See newel.h.
struct MatrixPointers {
  enum class Form { csr, csc, coo, bsr };
  Form form;
  std::int64_t rows;  ///< of blocks for bsr
  int block_size;
  std::int64_t entries;  ///< of coo
  int index_bits;
  const void *first, *second, *values;
};

/// Throws InputError for a null pointer.
inline void require(const void* pointer, const char* what) {
  if (pointer == nullptr) throw InputError(std::string(what) + " is a null pointer");
}

/// Integers of 32 or 64 bits; throws InputError for other widths.
template <Space S>
IndexSpan<S> indices(const void* data, std::int64_t size, int bits) {
  if (bits == 32) return {static_cast<const std::int32_t*>(data), size};
  if (bits == 64) return {static_cast<const std::int64_t*>(data), size};
  throw InputError("index_bits: expected 32 or 64, found " + std::to_string(bits));
}

/// `arrays` brings an array into S: `here(pointer, bytes, what)` is where it then is, and `index_at(pointer, i,
/// bits)` number i of indices that are there. Sizes are checked before anything is read.
template <class T, Space S, class Arrays>
MatrixInput<T, S> input_of(const Settings& settings, const MatrixPointers& m, Arrays&& arrays) {
  using Form = MatrixPointers::Form;
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  if (m.rows < 0 || m.rows > most || m.entries < 0) throw InputError("the sizes of the matrix are out of range");
  indices<S>(nullptr, 0, m.index_bits);  // which judges the bits
  require(m.first, "the first array of indices");
  const std::int64_t index_bytes = m.index_bits / 8;
  const void* first = nullptr;
  std::int64_t count = m.entries;
  if (m.form != Form::coo) {
    // Entries or blocks are as many as the pointers end with. A number that is not one of these is refused later.
    first = arrays.here(m.first, (m.rows + 1) * index_bytes, "the first array of indices");
    count = std::max<std::int64_t>(0, arrays.index_at(first, m.rows, m.index_bits) - settings.index_base);
  }
  if (count > 0) require(m.second, "the second array of indices"), require(m.values, "the array of values");
  const std::int64_t per_entry = std::int64_t{m.block_size} * m.block_size;
  constexpr std::int64_t most_values = std::numeric_limits<Offset>::max() / 8;
  if (m.block_size < 1 || m.rows > most / m.block_size || count > most_values / per_entry) {
    throw InputError("the sizes of the matrix are out of range");
  }
  if (m.form == Form::coo) first = arrays.here(m.first, count * index_bytes, "the first array of indices");
  const std::int64_t size = count * per_entry;
  const IndexSpan<S> one = indices<S>(first, m.form == Form::coo ? count : m.rows + 1, m.index_bits);
  const IndexSpan<S> two =
      indices<S>(arrays.here(m.second, count * index_bytes, "the second array of indices"), count, m.index_bits);
  const auto* const val =
      static_cast<const T*>(arrays.here(m.values, size * std::int64_t{sizeof(T)}, "the array of values"));
  const Span<const T, S> values(val, size);
  using Input = MatrixInput<T, S>;
  Input input = m.form == Form::csr   ? Input::csr(m.rows, m.rows, one, two, values)
                : m.form == Form::csc ? Input::csc(m.rows, m.rows, one, two, values)
                : m.form == Form::coo ? Input::coo(m.rows, m.rows, one, two, values)
                                      : Input::bsr(m.rows, m.rows, m.block_size, one, two, values);
  input = input.index_base(settings.index_base);
  if (settings.half) input = input.stored_half(*settings.half);
  input.check_lengths();
  return input;
}

}  // namespace newel::c

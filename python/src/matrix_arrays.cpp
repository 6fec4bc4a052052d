// SPDX-License-Identifier: Apache-2.0
// From NumPy's arrays to those of a matrix, and the hash of a pattern.
#include "matrix_arrays.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "gil.hpp"

namespace newel::python {
namespace {

// Four lanes, so that their multiplications overlap.
template <class I>
Hash sums_of(const I* from, std::int64_t size) {
  std::array<Hash, 4> lanes{};
  std::int64_t i = 0;
  const auto add_to = [&](Hash& lane, std::int64_t k) {
    add_term(static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(from[k]), lane.first, lane.second);
  };
  for (; i + 4 <= size; i += 4) {
    for (std::int64_t lane = 0; lane < 4; ++lane) add_to(lanes[static_cast<std::size_t>(lane)], i + lane);
  }
  for (; i < size; ++i) add_to(lanes[0], i);
  Hash sums{0, 0};
  for (const Hash& lane : lanes) sums.first += lane.first, sums.second += lane.second;
  return sums;
}

}  // namespace

Hash sums_of(const IndexSpan<Space::host>& from) {
  switch (from.kind) {
    case IndexKind::int32:
      return sums_of(static_cast<const std::int32_t*>(from.data), from.size);
    case IndexKind::uint32:
      return sums_of(static_cast<const std::uint32_t*>(from.data), from.size);
    case IndexKind::int64:
      return sums_of(static_cast<const std::int64_t*>(from.data), from.size);
    case IndexKind::uint64:
      break;
  }
  return sums_of(static_cast<const std::uint64_t*>(from.data), from.size);
}

IndexSpan<host> indices_of(const Flat& array) {
  const auto size = static_cast<std::int64_t>(array.shape(0));
  const nb::dlpack::dtype type = array.dtype();
  if (type == nb::dtype<std::int32_t>()) return {static_cast<const std::int32_t*>(array.data()), size};
  if (type == nb::dtype<std::int64_t>()) return {static_cast<const std::int64_t*>(array.data()), size};
  if (type == nb::dtype<std::uint32_t>()) return {static_cast<const std::uint32_t*>(array.data()), size};
  if (type == nb::dtype<std::uint64_t>()) return {static_cast<const std::uint64_t*>(array.data()), size};
  throw nb::type_error("indices are integers of 32 or 64 bits");
}

Hash MatrixForm::pattern_hash(const Hash& first, std::int64_t first_size, const Hash& second,
                              std::int64_t second_size) const {
  Hash hash{0x243f6a8885a308d3u, 0x13198a2e03707344u};
  for (const char c : form) add(hash, static_cast<std::uint64_t>(c));
  for (const std::int64_t size : {rows, cols, block_size}) add(hash, static_cast<std::uint64_t>(size));
  add(hash, first, first_size);
  add(hash, second, second_size);
  return hash;
}

Hash MatrixArrays::hash() const {
  const IndexSpan<host> one = indices_of(first), other = indices_of(second);
  const WithoutGil released;
  return pattern_hash(sums_of(one), one.size, sums_of(other), other.size);
}

namespace {

std::int64_t number(const IndexSpan<host>& from, std::int64_t i) {
  switch (from.kind) {
    case IndexKind::int32:
      return static_cast<const std::int32_t*>(from.data)[i];
    case IndexKind::uint32:
      return static_cast<const std::uint32_t*>(from.data)[i];
    case IndexKind::int64:
      return static_cast<const std::int64_t*>(from.data)[i];
    case IndexKind::uint64:
      break;
  }
  return static_cast<std::int64_t>(static_cast<const std::uint64_t*>(from.data)[i]);
}

}  // namespace

std::pair<std::int64_t, std::int64_t> MatrixArrays::place(std::int64_t k) const {
  const IndexSpan<host> lines = indices_of(first), indices = indices_of(second);
  const bool blocks = form == "bsr", entries = form == "coo";
  const std::int64_t block = blocks ? block_size : 1, item = k / (block * block), inside = k % (block * block);
  if (item >= indices.size || (entries && item >= lines.size)) return {-1, -1};
  std::int64_t line = 0;
  if (entries) {
    line = number(lines, item);
  } else {
    while (line + 2 < lines.size && number(lines, line + 1) <= item) ++line;
  }
  const std::int64_t index = number(indices, item);
  if (form == "csc") return {index, line};
  return {line * block + inside / block, index * block + inside % block};
}

namespace {

// Every bit of the exponent is set in infinities and NaN alone: integers, so that the loop needs no order of sums.
template <class Bits>
bool all_finite(const Bits* from, std::int64_t size, Bits exponent) {
  bool finite = true;
  for (std::int64_t i = 0; i < size; ++i) finite &= (from[i] & exponent) != exponent;
  return finite;
}

template <class T, class Bits>
std::int64_t first_not_finite(const Flat& array, Bits exponent) {
  const auto size = static_cast<std::int64_t>(array.shape(0));
  const auto* const from = static_cast<const T*>(array.data());
  constexpr std::int64_t block = 4096;
  for (std::int64_t begin = 0; begin < size; begin += block) {
    const std::int64_t end = std::min(begin + block, size);
    std::array<Bits, block> bits;
    std::memcpy(bits.data(), from + begin, static_cast<std::size_t>(end - begin) * sizeof(T));
    if (all_finite(bits.data(), end - begin, exponent)) continue;
    return std::find_if(from + begin, from + end, [](T value) { return !std::isfinite(value); }) - from;
  }
  return -1;
}

std::int64_t first_not_finite(const Flat& array) {
  const bool single = array.dtype() == nb::dtype<float>();
  if (!single && array.dtype() != nb::dtype<double>()) throw nb::type_error("values are float32 or float64");
  const WithoutGil released;
  if (single) return first_not_finite<float>(array, std::uint32_t{0x7f800000});
  return first_not_finite<double>(array, std::uint64_t{0x7ff0000000000000});
}

// The memory of an object with Python's buffer protocol, in one piece.
class Memory {
 public:
  explicit Memory(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~Memory() { PyBuffer_Release(&view_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  bool equals(const Memory& other) const {
    return view_.len == other.view_.len &&
           (view_.len == 0 || std::memcmp(view_.buf, other.view_.buf, static_cast<std::size_t>(view_.len)) == 0);
  }

 private:
  Py_buffer view_;
};

}  // namespace

void bind_matrix_arrays(nb::module_& module) {
  module.def(
      "first_not_finite", [](const Flat& array) { return first_not_finite(array); }, nb::arg("array"),
      "The position of the first NaN or infinity; -1: none.");
  module.def(
      "same_bytes", [](nb::handle one, nb::handle other) { return Memory(one).equals(Memory(other)); },
      nb::arg("one"), nb::arg("other"), "Whether two contiguous arrays of the host have the same bytes.");
  nb::class_<MatrixArrays>(module, "MatrixArrays", "The arrays of a matrix, borrowed as long as this object lives.")
      .def(
          "__init__",
          [](MatrixArrays* self, std::string form, std::int64_t rows, std::int64_t cols, std::int64_t block_size,
             Flat first, Flat second, Flat values) {
            new (self) MatrixArrays({std::move(form), rows, cols, block_size}, std::move(first), std::move(second),
                                    std::move(values));
          },
          nb::arg("form"), nb::arg("rows"), nb::arg("cols"), nb::arg("block_size"), nb::arg("first"),
          nb::arg("second"), nb::arg("values"))
      .def(
          "addresses",
          [](const MatrixArrays& m) {
            const auto address = [](const Flat& a) { return reinterpret_cast<std::uintptr_t>(a.data()); };
            return nb::make_tuple(address(m.first), address(m.second), address(m.values));
          },
          "Where the library reads: pointers or rows, indices or columns, values.")
      .def("place", &MatrixArrays::place, nb::arg("k"), "Row and column of value k.");
}

}  // namespace newel::python

// SPDX-License-Identifier: Apache-2.0
// From Python's arrays to a MatrixInput, and the hash of a pattern.
#include "matrix_arrays.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <array>

#include <purlin/core/error.hpp>

namespace purlin::python {
namespace {

using Hash = std::pair<std::uint64_t, std::uint64_t>;

// The finaliser of D. Stafford's variant 13 of MurmurHash3: every bit of the input changes half of the output's.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

void add(Hash& hash, std::uint64_t value) {
  hash.first = mixed(hash.first ^ value);
  hash.second = mixed(hash.second + value * 0x9e3779b97f4a7c15u);
}

// Four lanes, so that their multiplications overlap.
template <class I>
void add_numbers(Hash& hash, const void* data, std::int64_t size) {
  const I* const from = static_cast<const I*>(data);
  std::array<Hash, 4> lanes;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] = {hash.first + lane, hash.second - lane};
  std::int64_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) add(lanes[lane], static_cast<std::uint64_t>(from[i + lane]));
  }
  for (; i < size; ++i) add(lanes[0], static_cast<std::uint64_t>(from[i]));
  for (const Hash& lane : lanes) {
    add(hash, lane.first);
    add(hash, lane.second);
  }
  add(hash, static_cast<std::uint64_t>(size));
}

void add_numbers(Hash& hash, const IndexSpan<host>& from) {
  switch (from.kind) {
    case IndexKind::int32:
      return add_numbers<std::int32_t>(hash, from.data, from.size);
    case IndexKind::uint32:
      return add_numbers<std::uint32_t>(hash, from.data, from.size);
    case IndexKind::int64:
      return add_numbers<std::int64_t>(hash, from.data, from.size);
    case IndexKind::uint64:
      return add_numbers<std::uint64_t>(hash, from.data, from.size);
  }
}

}  // namespace

IndexSpan<host> indices_of(const Flat& array) {
  const auto size = static_cast<std::int64_t>(array.shape(0));
  const nb::dlpack::dtype type = array.dtype();
  if (type == nb::dtype<std::int32_t>()) return {static_cast<const std::int32_t*>(array.data()), size};
  if (type == nb::dtype<std::int64_t>()) return {static_cast<const std::int64_t*>(array.data()), size};
  if (type == nb::dtype<std::uint32_t>()) return {static_cast<const std::uint32_t*>(array.data()), size};
  if (type == nb::dtype<std::uint64_t>()) return {static_cast<const std::uint64_t*>(array.data()), size};
  throw nb::type_error("indices are integers of 32 or 64 bits");
}

template <class T>
MatrixInput<T, host> MatrixArrays::input() const {
  using Input = MatrixInput<T, host>;
  const IndexSpan<host> one = indices_of(first), other = indices_of(second);
  const Span<const T, host> v = values_of<T>(values);
  if (form == "csr") return Input::csr(rows, cols, one, other, v);
  if (form == "csc") return Input::csc(rows, cols, one, other, v);
  if (form == "coo") return Input::coo(rows, cols, one, other, v);
  if (form == "bsr") return Input::bsr(rows, cols, block_size, one, other, v);
  throw InputError("a matrix is handed over as csr, csc, coo or bsr, not as " + form);
}
template MatrixInput<float, host> MatrixArrays::input() const;
template MatrixInput<double, host> MatrixArrays::input() const;

Hash MatrixArrays::pattern_hash() const {
  const IndexSpan<host> one = indices_of(first), other = indices_of(second);
  const nb::gil_scoped_release released;
  Hash hash{0x243f6a8885a308d3u, 0x13198a2e03707344u};
  for (const char c : form) add(hash, static_cast<std::uint64_t>(c));
  for (const std::int64_t size : {rows, cols, block_size}) add(hash, static_cast<std::uint64_t>(size));
  add_numbers(hash, one);
  add_numbers(hash, other);
  return hash;
}

void bind_matrix_arrays(nb::module_& module) {
  nb::class_<MatrixArrays>(module, "MatrixArrays", "The arrays of a matrix, borrowed as long as this object lives.")
      .def(
          "__init__",
          [](MatrixArrays* self, std::string form, std::int64_t rows, std::int64_t cols, std::int64_t block_size,
             Flat first, Flat second, Flat values) {
            new (self) MatrixArrays{std::move(form),  rows, cols, block_size, std::move(first), std::move(second),
                                    std::move(values)};
          },
          nb::arg("form"), nb::arg("rows"), nb::arg("cols"), nb::arg("block_size"), nb::arg("first"),
          nb::arg("second"), nb::arg("values"))
      .def("pattern_hash", &MatrixArrays::pattern_hash)
      .def(
          "addresses",
          [](const MatrixArrays& m) {
            const auto address = [](const Flat& a) { return reinterpret_cast<std::uintptr_t>(a.data()); };
            return nb::make_tuple(address(m.first), address(m.second), address(m.values));
          },
          "Where the library reads: pointers or rows, indices or columns, values.");
}

}  // namespace purlin::python

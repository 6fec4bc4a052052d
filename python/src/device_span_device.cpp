// SPDX-License-Identifier: Apache-2.0
// Descriptions of device memory, those that Python makes and those that come as DLPack.
#include "device_span.hpp"

#include <cuda_runtime.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <vector>

namespace newel::python {
namespace {

// What a DLPack capsule holds, kept as long as this object. Of any device.
struct DlpackArray {
  nb::ndarray<nb::ro> array;

  std::vector<std::int64_t> shape() const {
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i < array.ndim(); ++i) result.push_back(static_cast<std::int64_t>(array.shape(i)));
    return result;
  }
  std::vector<std::int64_t> strides() const {  // in bytes, as in Python
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i < array.ndim(); ++i) {
      result.push_back(array.stride(i) * static_cast<std::int64_t>(array.itemsize()));
    }
    return result;
  }
  std::string type() const {
    const nb::dlpack::dtype type = array.dtype();
    const char* const kinds = "iuf__cb";  // in the order of DLPack's codes; no NumPy type is a bfloat
    const char kind = type.code < 7 && type.lanes == 1 ? kinds[type.code] : '_';
    return kind + std::to_string(type.bits / 8);
  }
};

}  // namespace

IndexSpan<device> DeviceSpan::indices() const {
  if (type == "i4") return {reinterpret_cast<const std::int32_t*>(address), size};
  if (type == "i8") return {reinterpret_cast<const std::int64_t*>(address), size};
  if (type == "u4") return {reinterpret_cast<const std::uint32_t*>(address), size};
  if (type == "u8") return {reinterpret_cast<const std::uint64_t*>(address), size};
  throw nb::type_error("indices are integers of 32 or 64 bits");
}

bool DeviceSpan::is_settled() const {
  const cudaError_t status = cudaStreamQuery(cuda_stream());
  if (status != cudaSuccess) cudaGetLastError();  // or the next launch check would report it
  return status == cudaSuccess;
}

void bind_device_span(nb::module_& module) {
  nb::class_<DeviceSpan>(module, "DeviceSpan", "Values in the memory of a device, and the stream that orders them.")
      .def(
          "__init__",
          [](DeviceSpan* self, nb::object owner, std::uintptr_t address, std::int64_t size, std::string type,
             std::uintptr_t stream) {
            new (self) DeviceSpan{std::move(owner), address, size, std::move(type), stream};
          },
          nb::arg("owner"), nb::arg("address"), nb::arg("size"), nb::arg("type"), nb::arg("stream"))
      .def_ro("address", &DeviceSpan::address)
      .def_ro("size", &DeviceSpan::size)
      .def_ro("stream", &DeviceSpan::stream);
  nb::class_<DeviceMatrixArrays>(module, "DeviceMatrixArrays", "The arrays of a matrix in the memory of a device.")
      .def(
          "__init__",
          [](DeviceMatrixArrays* self, std::string form, std::int64_t rows, std::int64_t cols,
             std::int64_t block_size, const DeviceSpan& first, const DeviceSpan& second, const DeviceSpan& values) {
            new (self) DeviceMatrixArrays({std::move(form), rows, cols, block_size}, first, second, values);
          },
          nb::arg("form"), nb::arg("rows"), nb::arg("cols"), nb::arg("block_size"), nb::arg("first"),
          nb::arg("second"), nb::arg("values"))
      .def(
          "addresses",
          [](const DeviceMatrixArrays& m) {
            return nb::make_tuple(m.first.address, m.second.address, m.values.address);
          },
          "Where the library reads: pointers or rows, indices or columns, values.");
  nb::class_<DlpackArray>(module, "DlpackArray", "What a DLPack capsule holds.")
      .def(
          "__init__",
          [](DlpackArray* self, nb::ndarray<nb::ro> capsule) { new (self) DlpackArray{std::move(capsule)}; },
          nb::arg("capsule"))
      .def_prop_ro("address", [](const DlpackArray& a) { return reinterpret_cast<std::uintptr_t>(a.array.data()); })
      .def_prop_ro("shape", &DlpackArray::shape)
      .def_prop_ro("strides", &DlpackArray::strides)
      .def_prop_ro("type", &DlpackArray::type);
}

}  // namespace newel::python

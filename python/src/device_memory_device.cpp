// SPDX-License-Identifier: Apache-2.0
// Memory of a device that Python owns, and questions about devices.
#include "device_memory.hpp"

#include <cuda_runtime.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include <newel/core/cuda_interop.hpp>
#include <newel/core/error.hpp>

#include "arrays.hpp"
#include "device_span.hpp"
#include "gil.hpp"
#include "pattern_hash.hpp"

#define CHECK_CUDA(call) check_cuda((call), #call)

namespace newel::python {
namespace {

cudaStream_t stream_of(std::uintptr_t stream) { return reinterpret_cast<cudaStream_t>(stream); }

// Makes a device current as long as this object lives: null streams are those of the device that is current.
class OnDevice {
 public:
  explicit OnDevice(int device) { CHECK_CUDA(cudaSetDevice(device)); }

 private:
  KeptDevice kept_;
};

void download(std::uintptr_t address, std::uintptr_t to, std::size_t bytes, std::uintptr_t stream) {
  if (bytes == 0) return;
  const WithoutGil released;
  const OnDevice here(device_of(reinterpret_cast<const void*>(address)).value_or(0));
  CHECK_CUDA(cudaMemcpyAsync(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(address), bytes,
                             cudaMemcpyDeviceToHost, stream_of(stream)));
  CHECK_CUDA(cudaStreamSynchronize(stream_of(stream)));
}

// From pageable memory, which CUDA has read when the call returns.
void upload(std::uintptr_t from, std::uintptr_t address, std::size_t bytes, std::uintptr_t stream) {
  if (bytes == 0) return;
  const WithoutGil released;
  const OnDevice here(device_of(reinterpret_cast<const void*>(address)).value_or(0));
  CHECK_CUDA(cudaMemcpyAsync(reinterpret_cast<void*>(address), reinterpret_cast<const void*>(from), bytes,
                             cudaMemcpyHostToDevice, stream_of(stream)));
}

// The bits of values as integers.
IndexSpan<device> bits_of(const DeviceSpan& array) {
  if (array.type == "f8") return {reinterpret_cast<const std::uint64_t*>(array.address), array.size};
  if (array.type == "f4") return {reinterpret_cast<const std::uint32_t*>(array.address), array.size};
  return array.indices();
}

// DeviceSums of one device.
class ArraySums {
 public:
  explicit ArraySums(int device) : device_(device) {
    const OnDevice here(device_);
    sums_ = std::make_unique<DeviceSums>();
  }

  std::vector<Hash> of(const std::vector<const DeviceSpan*>& arrays) {
    std::vector<IndexSpan<device>> bits;
    for (const DeviceSpan* const array : arrays) {
      bits.push_back(bits_of(*array));
      if (array->stream != arrays.front()->stream) throw InputError("expected arrays of one stream");
    }
    CUstream_st* const stream = arrays.empty() ? nullptr : arrays.front()->cuda_stream();
    const WithoutGil released;
    const OnDevice here(device_);
    return sums_->of(stream, bits);
  }

 private:
  int device_;
  std::unique_ptr<DeviceSums> sums_;
};

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  const int count = device_count();
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties;
    CHECK_CUDA(cudaGetDeviceProperties(&properties, i));
    names.emplace_back(properties.name);
  }
  return names;
}

// Bytes on a device. Freeing them waits for whoever still uses them, which memory of a pool would not.
class DeviceMemory {
 public:
  DeviceMemory(int device, std::size_t bytes) : device_(device), bytes_(bytes) {
    if (bytes == 0) return;
    const OnDevice here(device_);
    const cudaError_t status = cudaMalloc(&data_, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw OutOfMemory("device", "a result", bytes, std::nullopt);
    }
    check_cuda(status, "cudaMalloc");
  }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(data_); }

  // Both are ordered by a stream, null being the legacy default stream.
  void clear(std::uintptr_t stream) {
    if (bytes_ == 0) return;
    const OnDevice here(device_);
    CHECK_CUDA(cudaMemsetAsync(data_, 0, bytes_, stream_of(stream)));
  }
  void copy_from(std::uintptr_t address, std::uintptr_t stream) {
    if (bytes_ == 0) return;
    const OnDevice here(device_);
    const auto* const from = reinterpret_cast<const void*>(address);
    const auto kind = device_of(from) ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
    CHECK_CUDA(cudaMemcpyAsync(data_, from, bytes_, kind, stream_of(stream)));
  }

 private:
  int device_;
  std::size_t bytes_;
  void* data_ = nullptr;
};

}  // namespace

void bind_device_memory(nb::module_& module) {
  nb::class_<DeviceMemory>(module, "DeviceMemory", "Bytes on a device, freed with this object.")
      .def(nb::init<int, std::size_t>(), nb::arg("device"), nb::arg("bytes"))
      .def_prop_ro("address", &DeviceMemory::address)
      .def("clear", &DeviceMemory::clear, nb::arg("stream"))
      .def("copy_from", &DeviceMemory::copy_from, nb::arg("address"), nb::arg("stream"),
           "As many bytes from memory of the host or of the device.");
  nb::class_<ArraySums>(module, "ArraySums", "By which arrays on a device are compared with those of earlier calls.")
      .def(nb::init<int>(), nb::arg("device"))
      .def("of", &ArraySums::of, nb::arg("arrays"),
           "For each of up to three DeviceSpans of one stream two numbers, which differ where its bits do, but for "
           "chance. Waits for them. For one thread at a time.");
  module.def("device_names", &device_names, "Of the devices that answer; none also where the driver is missing.");
  module.def("download", &download, nb::arg("address"), nb::arg("to"), nb::arg("bytes"), nb::arg("stream"),
             "Copies memory of a device to the host, and waits for that.");
  module.def("upload", &upload, nb::arg("from_"), nb::arg("address"), nb::arg("bytes"), nb::arg("stream"),
             "Copies memory of the host, which is pageable and may change after the call, to a device.");
  module.def(
      "device_of", [](std::uintptr_t address) { return device_of(reinterpret_cast<void*>(address)); },
      nb::arg("address"), "The number of the device that has this memory; None for memory of the host.");
  module.def(
      "wait_for_stream",
      [](std::uintptr_t stream, int device) {
        const WithoutGil released;
        const OnDevice here(device);
        CHECK_CUDA(cudaStreamSynchronize(stream_of(stream)));
      },
      nb::arg("stream"), nb::arg("device"), "Waits until a stream of that device has finished.");
}

}  // namespace newel::python

// SPDX-License-Identifier: Apache-2.0
// The system on a device.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "device_memory.hpp"
#include "device_side.hpp"

namespace newel::python {
namespace {

template <class Arrays>
std::unique_ptr<System> system_of_matrix(const Arrays& arrays, bool single, const nb::dict& choices, int number,
                                         std::optional<std::uintptr_t> stream, const nb::object& stream_owner,
                                         const nb::object& preconditioner) {
  return new_system<device>(single, arrays, SystemRequest{choices, preconditioner, 0, number, stream, stream_owner});
}

std::unique_ptr<System> system_of_operator(Index n, const nb::object& product, bool single, const nb::dict& choices,
                                           int number, std::optional<std::uintptr_t> stream,
                                           const nb::object& stream_owner, const nb::object& preconditioner) {
  const SystemRequest request{choices, preconditioner, 0, number, stream, stream_owner};
  return new_system<device>(single, n, product, request);
}

}  // namespace

void bind_device(nb::module_& module) {
  bind_device_span(module);
  bind_device_memory(module);
  const auto def = [&](auto* function) {
    module.def("device_system_of_matrix", function, nb::arg("arrays"), nb::arg("single"), nb::arg("choices"),
               nb::arg("device"), nb::arg("stream").none(), nb::arg("stream_owner").none(),
               nb::arg("preconditioner").none());
  };
  def(&system_of_matrix<DeviceMatrixArrays>);
  def(&system_of_matrix<MatrixArrays>);
  module.def("device_system_of_operator", &system_of_operator, nb::arg("n"), nb::arg("product"), nb::arg("single"),
             nb::arg("choices"), nb::arg("device"), nb::arg("stream").none(), nb::arg("stream_owner").none(),
             nb::arg("preconditioner").none());
}

}  // namespace newel::python

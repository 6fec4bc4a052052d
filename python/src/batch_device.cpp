// SPDX-License-Identifier: Apache-2.0
// Batches on a device.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include "batch_in.hpp"
#include "device_side.hpp"

namespace newel::python {

void bind_device_batch(nb::module_& module) {
  module.def(
      "batch_on_device",
      [](const MatrixArrays& pattern, bool single, const nb::dict& choices, int number,
         std::optional<std::uintptr_t> stream, const nb::object& stream_owner) {
        return new_batch<device>(single, pattern,
                                 SystemRequest{choices, nb::none(), 0, number, stream, stream_owner});
      },
      nb::arg("pattern"), nb::arg("single"), nb::arg("choices"), nb::arg("device"), nb::arg("stream").none(),
      nb::arg("stream_owner").none());
}

}  // namespace newel::python

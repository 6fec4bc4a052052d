// SPDX-License-Identifier: Apache-2.0
/// What Python needs of a device besides systems: which there are, and memory for results of no library's kind.
#pragma once

#include <nanobind/nanobind.h>

namespace newel::python {

void bind_device_memory(nanobind::module_& module);

}  // namespace newel::python

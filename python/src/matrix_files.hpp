// SPDX-License-Identifier: Apache-2.0
/// Matrix Market files, read by the library into NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>

namespace purlin::python {

void bind_matrix_market(nanobind::module_& module);

}  // namespace purlin::python

// SPDX-License-Identifier: Apache-2.0
/// Files of matrices and vectors, read by the library into NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>

namespace newel::python {

void bind_matrix_files(nanobind::module_& module);

}  // namespace newel::python

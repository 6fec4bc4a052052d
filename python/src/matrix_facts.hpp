// SPDX-License-Identifier: Apache-2.0
/// What the library finds out about a matrix, for `newel.info`.
#pragma once

#include <nanobind/nanobind.h>

namespace newel::python {

void bind_matrix_facts(nanobind::module_& module);

}  // namespace newel::python

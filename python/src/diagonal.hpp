// SPDX-License-Identifier: Apache-2.0
/// Diagonal matrices, which need no system: x is b over the diagonal.
#pragma once

#include <nanobind/nanobind.h>

namespace newel::python {

void bind_diagonal(nanobind::module_& module);

}  // namespace newel::python

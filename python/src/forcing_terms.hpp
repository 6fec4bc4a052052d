// SPDX-License-Identifier: Apache-2.0
/// Forcing terms of Newton's method.
#pragma once

#include <nanobind/nanobind.h>

namespace newel::python {

void bind_forcing_terms(nanobind::module_& module);

}  // namespace newel::python

// SPDX-License-Identifier: Apache-2.0
/// The library's reports as dictionaries, from which `purlin.Report` is made.
#pragma once

#include <nanobind/nanobind.h>

#include <purlin/solver/linear_system.hpp>

namespace purlin::python {

namespace nb = nanobind;

/// The history moves into the dictionary.
nb::dict report_dict(SolveReport report);
nb::dict operator_dict(const OperatorInfo& info);
nb::dict system_dict(const SystemInfo& info);

}  // namespace purlin::python

// SPDX-License-Identifier: Apache-2.0
/// The library's reports as dictionaries, from which `newel.Report` is made.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include <newel/solver/linear_system.hpp>

namespace newel::python {

namespace nb = nanobind;

/// What is said of a solve that failed beyond its report; empty for one that converged.
struct Explanation {
  std::string defect;  ///< what is wrong with the matrix itself
  std::string advice;  ///< what to try
};

/// "count" and "first", which is None where there is none.
nb::dict rows_dict(const RowCount& rows);
/// The history moves into the dictionary.
nb::dict report_dict(SolveReport report, const Explanation& explanation);
nb::dict operator_dict(const OperatorInfo& info);
nb::dict system_dict(const SystemInfo& info);

}  // namespace newel::python

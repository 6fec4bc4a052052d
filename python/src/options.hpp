// SPDX-License-Identifier: Apache-2.0
/// The choices that Python makes, by name and value, as the structs of the library.
#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include <newel/solver/linear_system.hpp>

#include "arrays.hpp"

namespace newel::python {

namespace nb = nanobind;

/// From a dictionary in which `newel.Solver` puts what it was given. Throws InputError for names that there are not
/// and for values out of range.
SystemOptions system_options(const nb::dict& choices, Index rows);

/// Points x 1, 2 or 3.
std::shared_ptr<const NodeCoordinates> coordinates_of(const Rows& points);

/// (rtol, atol, max_iterations, time_limit)
StopCriterion stop_criterion(double rtol, double atol, int max_iterations, double time_limit);

/// The names of the tables and the options of the preconditioners with their defaults.
void bind_tables(nb::module_& module);

}  // namespace newel::python

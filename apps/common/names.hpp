// SPDX-License-Identifier: Apache-2.0
/// Names that the tables decide: formats, preconditioners, solvers. What exists here is what the library was built
/// with; nothing is listed twice.
#pragma once

#include <string>
#include <vector>

#include <newel/core/types.hpp>

namespace newel::cli {

std::vector<std::string> format_names();
/// The same behind "auto" and "measure".
std::vector<std::string> format_choices();
std::vector<std::string> preconditioner_names();  ///< with "none"
/// Of those that take every symmetric positive definite matrix; with "none".
std::vector<std::string> definite_preconditioner_names();
/// The same behind "auto".
std::vector<std::string> preconditioner_choices();
std::vector<std::string> solver_choices();  ///< with "auto"

/// The name as the table has it. Throw UsageError that lists what there is and suggests the nearest.
std::string check_format(const std::string& given);
/// One of the table itself, neither "auto" nor "measure".
std::string check_table_format(const std::string& given, const std::string& option);
std::string check_preconditioner(const std::string& given, const std::vector<std::string>& names);
std::string check_solver(const std::string& given);

/// The one of `names` that `given` is up to case, '-' and '_'; else throws UsageError that names the option.
std::string check_name(const std::string& given, const std::string& option, const std::vector<std::string>& names);

/// `given`, where it is one of `names`; else throws UsageError that names the option.
std::string check_choice(const std::string& given, const std::string& option, const std::vector<std::string>& names);

/// Throws UsageError when the format or the preconditioner does not exist for the precision in the space, or not in
/// this build.
void check_available(const std::string& format, const std::string& preconditioner, Space space,
                     bool single_precision);

}  // namespace newel::cli

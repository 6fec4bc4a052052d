// SPDX-License-Identifier: Apache-2.0
/// Reports on operators and preconditioners: as JSON, in a line, and, where one is refused, in the terms of the
/// file.
#pragma once

#include <optional>
#include <string>

#include <newel/core/error.hpp>
#include <newel/solver/linear_system.hpp>

#include "json_file.hpp"
#include "precond_files.hpp"

namespace newel::cli {

/// Name, detail, sizes, a format's or preconditioner's own figures, bytes by part and seconds by phase.
Json operator_json(const OperatorInfo& info);

/// The value of an option as JSON, and back; `like` has the type.
Json option_json(const OptionValue& value);
OptionValue option_value(const Json& json, const OptionValue& like);
/// What was asked for of the solvers' options; null for a number that is left to the method.
Json solver_options_json(const SolverOptions& options);

/// The choices that a preconditioner was made with; `files` are those that it was given.
Json precond_options_json(const PrecondOptions& options, const PrecondFiles& files);

/// {"norm", "relative", "probes"}: see InverseResidual; null where it was not measured.
Json residual_json(const std::optional<InverseResidual>& residual);

/// "12.3, 0.045 of |I|_F (estimated with 32 vectors)"
std::string inverse_residual_text(const InverseResidual& residual);

/// "fsai, 1.20 MB, G as csr, power 1, density 1.00"
std::string precond_text(const OperatorInfo& info);

/// A line for each level of a hierarchy: "level 1  rows 27,000, entries 371,634, ..."; empty where there is none.
std::string levels_text(const OperatorInfo& info);

/// Settings of the library as options: "--solver gmres --restart 100".
std::string settings_text(const std::vector<SettingChange>& settings);

/// What to try for a matrix with zeros on its diagonal where `--precond none` does not suffice.
std::string strong_precond();

/// The library counts rows from 0; files and reports from 1.
std::string in_words_of_the_file(const ZeroDiagonal& error, const std::string& precond);
std::string in_words_of_the_file(const NotSymmetric& error, const std::string& precond);
std::string in_words_of_the_file(const NotPositiveDefinite& error, const std::string& precond);

}  // namespace newel::cli

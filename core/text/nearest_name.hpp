// SPDX-License-Identifier: Apache-2.0
/// The name that somebody meant: for errors about names of formats, preconditioners, solvers and options. Internal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace newel::detail {

/// The one of `names` that is `given` up to case, '-' and '_'; else what other packages call so (`maxiter`, `ilu`,
/// `-b`); else the one that differs by the fewest edits; else one that begins like it. Empty where none is near.
std::string nearest_name(std::string_view given, const std::vector<std::string>& names);

/// " (did you mean X?)", or an empty text where no name is near.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& names);

/// Throws InputError "there is no KIND 'given' (did you mean X?); there are: a, b, c" with `more` behind.
[[noreturn]] void refuse_unknown(const std::string& kind, std::string_view given,
                                 const std::vector<std::string>& names, const std::string& more = {});

}  // namespace newel::detail

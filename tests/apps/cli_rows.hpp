// SPDX-License-Identifier: Apache-2.0
/// A table of what the command line says: command, exit status, and words that must or must not be there.
#pragma once

#include <string>

#include "tests/apps/process.hpp"

namespace newel::cli_testing {

/// Runs the rows of a table in `folder`, in order. A row is
///
///     file NAME TEXT                    writes a file; {general} is the banner of a matrix
///     STATUS COMMAND -> WORDS           runs a line of bash in which `newel` is the program; WORDS have to be on
///                                       stderr for a STATUS of 2 or more, else on stdout
///         SUBJECT has WORDS             indented: more about the command above
///         SUBJECT lacks WORDS
///         SUBJECT is TEXT
///
/// WORDS are texts between " | "; \n, \r and \e are characters in them and in TEXT. A subject is out, err, files (the
/// names in the folder), the name of a file (its content), or the pointer of a field in r.json, such as
/// /seconds/solve. A row that has {a,b,c} in its command is run for each of them, and {} in its words is the one. For
/// a status of 2 or more, stdout has to be empty (unless the row has a line on it), and stderr one to three lines
/// that begin with the program's name.
void check_rows(const TemporaryFolder& folder, const std::string& table);

}  // namespace newel::cli_testing

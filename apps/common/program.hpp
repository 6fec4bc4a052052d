// SPDX-License-Identifier: Apache-2.0
/// What the main function of every program does around its work, and the texts that it prints.
#pragma once

#include <cstdio>
#include <string>

namespace newel::cli {

/// Prints lines at once, without control characters. That they cannot be written (a full disk, a closed pipe) ends
/// nothing: `run_program` reports it when the work is done.
void print_text(std::FILE* stream, const std::string& lines);

/// Runs `work(argc, argv)` and returns the exit status: its own, that of the exception it threw, which is printed, or
/// that of bad input where a text could not be written.
int run_program(const char* program, int argc, char* argv[], int (*work)(int argc, char* argv[]));

}  // namespace newel::cli

// SPDX-License-Identifier: Apache-2.0
/// ExitStatus: what `newel` returns to the shell, and the one place where exceptions become it.
#pragma once

#include <newel/core/error.hpp>

namespace newel::cli {

enum ExitStatus : int {
  exit_converged = 0,      ///< also --help, --version, `newel info`, and `newel bench` with right products
  exit_not_converged = 1,  ///< also `newel bench solve`, where none of ours did
  exit_wrong_product = 1,  ///< `newel bench`: a format multiplied wrongly
  exit_bad_input = 2,      ///< bad files, bad usage, files that cannot be written, too little host memory
  exit_device_failure = 3,
};

/// The command line itself is wrong; printed with a pointer to the help.
class UsageError : public InputError {
 public:
  using InputError::InputError;
};

/// A CUDA device was requested by name and there is none, in this build or on this machine.
class NoDevice : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Prints `PROGRAM: message` on stderr, at most three lines.
void print_error(const std::string& message, const char* program = "newel");

/// What an exception says, with rows and columns counted from 1, as files count them.
std::string message_from_one(const std::exception& error);

/// To be called in a catch block: prints the exception in flight and returns its exit status.
[[nodiscard]] int report_exception(const char* program = "newel");

}  // namespace newel::cli

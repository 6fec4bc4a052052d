// SPDX-License-Identifier: Apache-2.0
// Exceptions to words on stderr and an exit status.
#include "exit_status.hpp"

#include <cstdio>
#include <new>
#include <sstream>

#include "text.hpp"

namespace newel::cli {

void print_error(const std::string& message, const char* program) {
  constexpr int most_lines = 3;
  std::istringstream lines(printable_lines(message));
  std::string line;
  for (int i = 0; i < most_lines && std::getline(lines, line); ++i) {
    std::fprintf(stderr, "%s%s%s\n", i == 0 ? program : "", i == 0 ? ": " : "  ", line.c_str());
  }
  std::fflush(stderr);
}

std::string message_from_one(const std::exception& error) {
  const auto* located = dynamic_cast<const InputError*>(&error);
  return located != nullptr ? located->message().text(1) : error.what();
}

int report_exception(const char* program) {
  try {
    throw;
  } catch (const OutOfMemory& error) {
    print_error(error.what(), program);
    return error.on_device() ? exit_device_failure : exit_bad_input;
  } catch (const DeviceError& error) {
    print_error(error.what(), program);
    return exit_device_failure;
  } catch (const std::bad_alloc&) {
    print_error("out of host memory: the operating system refused an allocation", program);
    return exit_bad_input;
  } catch (const std::exception& error) {
    print_error(message_from_one(error), program);
    return exit_bad_input;
  }
}

}  // namespace newel::cli

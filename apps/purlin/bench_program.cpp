// SPDX-License-Identifier: Apache-2.0
// Finds the program next to this one.
#include "bench_program.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <purlin/core/error.hpp>

namespace purlin::cli {

void become_bench(char* argv[]) {
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string program = (self.parent_path() / "purlin-bench").string();
  execv(program.c_str(), argv);
  if (errno != ENOENT) throw InputError(program + ": " + std::strerror(errno));
  throw InputError("`purlin bench` is the program purlin-bench, which is not in " + self.parent_path().string() +
                   ": build it with cmake --build BUILD --target purlin_bench");
}

}  // namespace purlin::cli

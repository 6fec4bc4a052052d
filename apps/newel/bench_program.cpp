// SPDX-License-Identifier: Apache-2.0
// Finds the program next to this one.
#include "bench_program.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <newel/core/error.hpp>

namespace newel::cli {

void become_bench(char* argv[]) {
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string program = (self.parent_path() / "newel-bench").string();
  execv(program.c_str(), argv);
  if (errno != ENOENT) throw InputError(program + ": " + std::strerror(errno));
  throw InputError("`newel bench` is the program newel-bench, which is not in " + self.parent_path().string() +
                   ": build it with cmake --build BUILD --target newel_bench");
}

}  // namespace newel::cli

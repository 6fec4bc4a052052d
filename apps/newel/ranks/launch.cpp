// SPDX-License-Identifier: Apache-2.0
// The variables that launchers set.
#include "launch.hpp"

#include <charconv>
#include <cstdlib>

namespace newel::cli {
namespace {

struct Launcher {
  const char* size;
  const char* rank;
};

// Open MPI; PMI; Slurm with PMIx, whose own variable has no size.
constexpr Launcher launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                  {"PMI_SIZE", "PMI_RANK"},
                                  {"SLURM_STEP_NUM_TASKS", "PMIX_RANK"}};

std::optional<int> number_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  int number = 0;
  const char* const end = text->data() + text->size();
  const auto parsed = std::from_chars(text->data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional<int>(number) : std::nullopt;
}

}  // namespace

Launch launch_from(const std::function<std::optional<std::string>(const char*)>& variable) {
  for (const Launcher& launcher : launchers) {
    const std::optional<int> size = number_of(variable(launcher.size)), rank = number_of(variable(launcher.rank));
    if (size && rank && *rank >= 0 && *rank < *size) return {*size, *rank};
  }
  return {};
}

Launch launch_of_process() {
  return launch_from([](const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

}  // namespace newel::cli

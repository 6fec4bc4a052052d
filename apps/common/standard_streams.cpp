// SPDX-License-Identifier: Apache-2.0
// Standard input is read once.
#include "standard_streams.hpp"

#include "exit_status.hpp"

namespace newel::cli {

void check_inputs(const std::vector<NamedFile>& inputs) {
  const std::string* first = nullptr;
  for (const auto& [input, file] : inputs) {
    if (!is_standard_stream(file)) continue;
    if (first != nullptr) {
      throw UsageError("standard input (-) is the " + *first + " already and cannot also be the " + input);
    }
    first = &input;
  }
}

}  // namespace newel::cli

// SPDX-License-Identifier: Apache-2.0
// The numbers in front of "(0-based)", each one larger.
#include "rows_from_one.hpp"

#include <algorithm>
#include <cstdlib>

namespace purlin::cli {
namespace {

constexpr const char* digits = "0123456789";

std::string one_more(const std::string& places) {
  std::string result;
  for (std::size_t at = 0; at < places.size();) {
    const std::size_t number = std::min(places.find_first_of(digits, at), places.size());
    result.append(places, at, number - at);
    at = std::min(places.find_first_not_of(digits, number), places.size());
    if (at > number) result += std::to_string(std::atoll(places.c_str() + number) + 1);
  }
  return result;
}

}  // namespace

std::string rows_from_one(const std::string& message) {
  const std::string mark = " (0-based)";
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = message.find(mark); at != std::string::npos; at = message.find(mark, done)) {
    // A number, or pairs of them: "(3, 7) and (7, 3)".
    const std::size_t word = message.find_last_not_of("0123456789(), and", at == 0 ? 0 : at - 1);
    const std::size_t first = word == std::string::npos || word < done ? done : word + 1;
    result += message.substr(done, first - done) + one_more(message.substr(first, at - first));
    done = at + mark.size();
  }
  return result + message.substr(done);
}

}  // namespace purlin::cli

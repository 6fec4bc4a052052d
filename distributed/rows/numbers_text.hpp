// SPDX-License-Identifier: Apache-2.0
/// Numbers as the bytes that ranks send to each other in setups. Internal.
#pragma once

#include <cstring>
#include <string>
#include <vector>

namespace newel::detail {

template <class Number>
std::string text_of_numbers(const std::vector<Number>& numbers) {
  return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
}

template <class Number>
std::vector<Number> numbers_of(const std::string& bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

}  // namespace newel::detail

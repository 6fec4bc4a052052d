// SPDX-License-Identifier: Apache-2.0
// What a system begins its solves with: the row of the option, and what its text means.
#include <newel/solver/guess.hpp>

#include <charconv>

#include <newel/core/error.hpp>
#include <newel/core/table.hpp>

namespace newel {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw InputError("guess: expected given, zero, extrapolate, project, project:M with M from 1 to " +
                   std::to_string(GuessRule::most_vectors) + ", or auto, found \"" + text + "\"");
}

int vectors_of(const std::string& text, std::string_view number) {
  int vectors = 0;
  const char* const end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, vectors);
  if (error != std::errc() || stop != end || vectors < 1 || vectors > GuessRule::most_vectors) refuse(text);
  return vectors;
}

}  // namespace

GuessRule guess_rule(const std::string& text) {
  using Kind = GuessRule::Kind;
  constexpr std::string_view with_number = "project:";
  const std::string name = canonical_name(text);
  if (name == "given") return {Kind::given, 0};
  if (name == "zero") return {Kind::zero, 0};
  if (name == "extrapolate") return {Kind::extrapolate, 2};
  if (name == "project") return {Kind::project, GuessRule::usual_vectors};
  if (name == "auto") return {Kind::automatic, GuessRule::usual_vectors};
  if (name.rfind(with_number, 0) != 0) refuse(text);
  return {Kind::project, vectors_of(text, std::string_view(name).substr(with_number.size()))};
}

std::vector<MethodOption> guess_option_list() {
  return {value_option("--initial-guess", "given|zero|extrapolate|project[:M]|auto",
                       "What the solves of a sequence start from: the values in x, zero, an extrapolation, the best\n"
                       "combination of the last M solutions (8), or that while it saves more than it costs",
                       "guess", &GuessOptions::guess)};
}

}  // namespace newel

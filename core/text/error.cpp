// SPDX-License-Identifier: Apache-2.0
// Texts of the exceptions.
#include <newel/core/error.hpp>

#include <array>
#include <cstdio>

namespace newel {

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 6> units = {"B", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  char text[32];
  const int digits = unit == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  std::snprintf(text, sizeof text, "%.*f %s", digits, value, units[unit]);
  return text;
}

namespace {

LocatedText zero_diagonal_text(std::int64_t row, std::int64_t count, double value) {
  char number[32];
  std::snprintf(number, sizeof number, "%g", value);
  return LocatedText("the diagonal entry of row ")
      .at(row)
      .counted()
      .add(" is ")
      .add(value == 0 ? "zero or missing" : std::string(number) + ", which has no finite inverse")
      .add(count > 1 ? ", and so are " + std::to_string(count - 1) + " more" : "")
      .add(": this preconditioner divides by it; use the preconditioner none");
}

LocatedText not_symmetric_text(std::int64_t row, std::int64_t col, double entry, double opposite) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%g and %g", entry, opposite);
  return LocatedText("the matrix is not symmetric: entries (")
      .at(row)
      .add(", ")
      .at(col)
      .add(") and (")
      .at(col)
      .add(", ")
      .at(row)
      .add(")")
      .counted()
      .add(std::string(" are ") + numbers + "; use the preconditioner spai or jacobi");
}

LocatedText not_positive_definite_text(std::int64_t row, std::int64_t count) {
  return LocatedText("the matrix is not positive definite: the local problem of row ")
      .at(row)
      .counted()
      .add(" has a pivot that is not positive")
      .add(count > 1 ? ", and the same holds for " + std::to_string(count - 1) + " more" : "")
      .add("; use the preconditioner spai or jacobi");
}

}  // namespace

std::string LocatedText::text(int first) const {
  std::string result;
  for (const auto& piece : pieces_) {
    if (const auto* words = std::get_if<std::string>(&piece)) {
      result += *words;
    } else if (const auto* index = std::get_if<std::int64_t>(&piece)) {
      result += std::to_string(*index + first);
    } else if (first == 0) {
      result += " (0-based)";
    }
  }
  return result;
}

InUse::InUse()
    : InputError(
          "an asynchronous solve is still running on this context: call get() on it first, or give the other system "
          "its own context") {}

NotSymmetric::NotSymmetric(std::int64_t row, std::int64_t col, double entry, double opposite)
    : InputError(not_symmetric_text(row, col, entry, opposite)),
      row_(row),
      col_(col),
      entry_(entry),
      opposite_(opposite) {}

NotPositiveDefinite::NotPositiveDefinite(std::int64_t row, std::int64_t count)
    : InputError(not_positive_definite_text(row, count)), row_(row), count_(count) {}

ZeroDiagonal::ZeroDiagonal(std::int64_t row, std::int64_t count, double value)
    : InputError(zero_diagonal_text(row, count, value)), row_(row), count_(count), value_(value) {}

OutOfMemory::OutOfMemory(std::string_view space, std::string_view purpose, std::uint64_t wanted_bytes,
                         std::optional<std::uint64_t> available_bytes)
    : Error("out of " + std::string(space) + " memory for " + std::string(purpose) + ": " +
            human_bytes(wanted_bytes) + " needed" +
            (available_bytes ? ", " + human_bytes(*available_bytes) + " available" : "")),
      wanted_bytes_(wanted_bytes),
      available_bytes_(available_bytes),
      on_device_(space == "device") {}

}  // namespace newel

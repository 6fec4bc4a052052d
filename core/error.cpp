// SPDX-License-Identifier: Apache-2.0
// Texts of the exceptions.
#include <purlin/core/error.hpp>

#include <array>
#include <cstdio>

namespace purlin {

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

std::string zero_diagonal_text(std::int64_t row, std::int64_t count, double value) {
  char number[32];
  std::snprintf(number, sizeof number, "%g", value);
  return "the diagonal entry of row " + std::to_string(row) + " (0-based) is " +
         (value == 0 ? "zero or missing" : std::string(number) + ", which has no finite inverse") +
         (count > 1 ? ", and so are " + std::to_string(count - 1) + " more" : "") +
         ": this preconditioner divides by it; use the preconditioner none";
}

std::string not_symmetric_text(std::int64_t row, std::int64_t col, double entry, double opposite) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%g and %g", entry, opposite);
  const std::string i = std::to_string(row), j = std::to_string(col);
  return "the matrix is not symmetric: entries (" + i + ", " + j + ") and (" + j + ", " + i + ") (0-based) are " +
         numbers + "; use the preconditioner spai or jacobi";
}

std::string not_positive_definite_text(std::int64_t row, std::int64_t count) {
  return "the matrix is not positive definite: the local problem of row " + std::to_string(row) +
         " (0-based) has a pivot that is not positive" +
         (count > 1 ? ", and so have those of " + std::to_string(count - 1) + " more" : "") +
         "; use the preconditioner spai or jacobi";
}

}  // namespace

InUse::InUse()
    : InputError(
          "an asynchronous solve is pending on this context: take its report first (get), or use a system with a "
          "context of its own") {}

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
            human_bytes(wanted_bytes) + " wanted" +
            (available_bytes ? ", " + human_bytes(*available_bytes) + " available" : "")),
      wanted_bytes_(wanted_bytes),
      available_bytes_(available_bytes),
      on_device_(space == "device") {}

}  // namespace purlin

// SPDX-License-Identifier: Apache-2.0
/// LocatedText: a message with numbers of rows and columns in it, which are written as its reader counts them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace newel {

/// The library counts from 0 and says so; a program that reads files with rows from 1 prints `text(1)`.
class LocatedText {
 public:
  LocatedText() = default;
  /// A text without a row or column in it.
  LocatedText(std::string text) { add(std::move(text)); }
  LocatedText(const char* text) : LocatedText(std::string(text)) {}

  /// What follows at the end: a text, or another text with its numbers.
  LocatedText& add(std::string text) {
    if (!text.empty()) pieces_.emplace_back(std::move(text));
    return *this;
  }
  LocatedText& append(const LocatedText& other) {
    pieces_.insert(pieces_.end(), other.pieces_.begin(), other.pieces_.end());
    return *this;
  }
  /// A row or column, counted from 0.
  LocatedText& at(std::int64_t index) {
    pieces_.emplace_back(index);
    return *this;
  }
  /// Behind the last number of a group: " (0-based)", unless the reader counts from elsewhere.
  LocatedText& counted() {
    pieces_.emplace_back(Counted{});
    return *this;
  }

  /// Whether there is nothing in it.
  bool empty() const { return pieces_.empty(); }
  /// The text with rows and columns counted from `first`.
  std::string text(int first = 0) const;
  operator std::string() const { return text(); }

 private:
  struct Counted {};
  std::vector<std::variant<std::string, std::int64_t, Counted>> pieces_;
};

}  // namespace newel

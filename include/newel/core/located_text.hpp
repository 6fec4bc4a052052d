// SPDX-License-Identifier: Apache-2.0
/// LocatedText: a message that contains row and column numbers, written with the index base of its reader.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace newel {

/// The library counts from 0 and says so; a program that reads files with 1-based rows prints `text(1)`.
class LocatedText {
 public:
  LocatedText() = default;
  /// A text without row or column numbers.
  LocatedText(std::string text) { add(std::move(text)); }
  LocatedText(const char* text) : LocatedText(std::string(text)) {}

  /// Appends a text, or another text with its numbers.
  LocatedText& add(std::string text) {
    if (!text.empty()) pieces_.emplace_back(std::move(text));
    return *this;
  }
  LocatedText& append(const LocatedText& other) {
    pieces_.insert(pieces_.end(), other.pieces_.begin(), other.pieces_.end());
    return *this;
  }
  /// Appends a row or column, counted from 0.
  LocatedText& at(std::int64_t index) {
    pieces_.emplace_back(index);
    return *this;
  }
  /// Call this after the last number of a group: adds " (0-based)" if the text is written with base 0.
  LocatedText& counted() {
    pieces_.emplace_back(Counted{});
    return *this;
  }

  /// Whether the text is empty.
  bool empty() const { return pieces_.empty(); }
  /// The text with rows and columns counted from `first`.
  std::string text(int first = 0) const;
  operator std::string() const { return text(); }

 private:
  struct Counted {};
  std::vector<std::variant<std::string, std::int64_t, Counted>> pieces_;
};

}  // namespace newel

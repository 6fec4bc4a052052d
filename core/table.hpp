// SPDX-License-Identifier: Apache-2.0
/// Table: the lines of one kind of part (formats, preconditioners, solvers), to which a program may add its own.
#pragma once

#include <functional>
#include <list>
#include <utility>

namespace purlin {

/// Keeps a line in its table; the line leaves with this object.
class [[nodiscard]] Registration {
 public:
  Registration() = default;
  explicit Registration(std::function<void()> remove) : remove_(std::move(remove)) {}
  Registration(Registration&& other) noexcept { remove_.swap(other.remove_); }
  Registration& operator=(Registration&& other) noexcept {
    remove_.swap(other.remove_);
    return *this;
  }
  ~Registration() {
    if (remove_) remove_();
  }

 private:
  std::function<void()> remove_;
};

/// Lines stay where they are as long as they are in the table. Lines are added and removed while no other thread uses
/// the library.
template <class Line>
class Table {
 public:
  Table(std::initializer_list<Line> lines) : lines_(lines) {}

  const std::list<Line>& lines() const { return lines_; }

  Registration add(Line line) {
    const auto at = lines_.insert(lines_.end(), std::move(line));
    return Registration([this, at] { lines_.erase(at); });
  }

 private:
  std::list<Line> lines_;
};

}  // namespace purlin

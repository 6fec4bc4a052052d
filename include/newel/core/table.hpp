// SPDX-License-Identifier: Apache-2.0
/// Table: the rows for one kind of component (formats, preconditioners, solvers), to which a program may add its own;
/// and suggestions for misspelt names in errors.
#pragma once

#include <functional>
#include <initializer_list>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace newel {

/// Lower case, without '-' and '_': the form in which names are compared.
std::string canonical_name(std::string_view name);

/// Whether the canonical names are equal. Allocates nothing, because one choice compares dozens of names.
bool same_name(std::string_view a, std::string_view b);

/// The name in `names` that is closest to `given`. First one that is equal up to case, '-' and '_'; then the synonym
/// used by other packages (`maxiter`, `ilu`, `-b`); then the one with the fewest edits; then one with the same
/// beginning. Empty if none is near.
std::string nearest_name(std::string_view given, const std::vector<std::string>& names);

/// " (did you mean X?)", or an empty text if no name is near.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& names);

/// Throws InputError "there is no KIND 'given' (did you mean X?); there are: a, b, c", followed by `more`.
[[noreturn]] void refuse_unknown(const std::string& kind, std::string_view given,
                                 const std::vector<std::string>& names, const std::string& more = {});

/// Throws InputError: a row with that name exists already.
[[noreturn]] void refuse_second_line(const std::string& kind, const std::string& name);

/// Keeps a row in its table; destroying this object removes the row.
class [[nodiscard]] Registration {
 public:
  Registration() = default;
  /// `remove` is called on destruction.
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

/// Rows keep their address while they are in the table. Rows must be added and removed while no other thread uses the
/// library.
template <class Line>
class Table {
 public:
  /// `kind` is the word for a row in errors ("format"); `reserved` are canonical names that no row may have.
  Table(std::string kind, std::vector<std::string> reserved, std::initializer_list<Line> lines)
      : kind_(std::move(kind)), reserved_(std::move(reserved)), lines_(lines) {}

  /// All rows, those of the library first.
  const std::list<Line>& lines() const { return lines_; }

  /// The row with this name; null if there is none.
  const Line* find(std::string_view name) const {
    for (const Line& line : lines_) {
      if (same_name(line.name, name)) return &line;
    }
    return nullptr;
  }

  /// Throws InputError if the name is in use.
  Registration add(Line line) {
    for (const std::string& name : reserved_) {
      if (name == canonical_name(line.name)) refuse_second_line(kind_, line.name);
    }
    if (find(line.name) != nullptr) refuse_second_line(kind_, line.name);
    const auto at = lines_.insert(lines_.end(), std::move(line));
    return Registration([this, at] { lines_.erase(at); });
  }

 private:
  std::string kind_;
  std::vector<std::string> reserved_;
  std::list<Line> lines_;
};

}  // namespace newel

// SPDX-License-Identifier: Apache-2.0
/// Table: the lines of one kind of part (formats, preconditioners, solvers), to which a program may add its own; and
/// the name that somebody meant, for errors about names of parts and options.
#pragma once

#include <functional>
#include <initializer_list>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace newel {

/// Lower case, without '-' and '_': how the names of lines are compared.
std::string canonical_name(std::string_view name);

/// Whether the canonical names are equal. Allocates nothing: a choice looks names up dozens of times.
bool same_name(std::string_view a, std::string_view b);

/// The one of `names` that is `given` up to case, '-' and '_'; else what other packages call so (`maxiter`, `ilu`,
/// `-b`); else the one that differs by the fewest edits; else one that begins like it. Empty where none is near.
std::string nearest_name(std::string_view given, const std::vector<std::string>& names);

/// " (did you mean X?)", or an empty text where no name is near.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& names);

/// Throws InputError "there is no KIND 'given' (did you mean X?); there are: a, b, c" with `more` behind.
[[noreturn]] void refuse_unknown(const std::string& kind, std::string_view given,
                                 const std::vector<std::string>& names, const std::string& more = {});

/// Throws InputError: there is a line of that name.
[[noreturn]] void refuse_second_line(const std::string& kind, const std::string& name);

/// Keeps a line in its table; the line leaves with this object.
class [[nodiscard]] Registration {
 public:
  Registration() = default;
  /// `remove` is called when this object goes.
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
  /// `kind` is the word for a line in errors ("format"); `reserved` are names, canonical, that no line may have.
  Table(std::string kind, std::vector<std::string> reserved, std::initializer_list<Line> lines)
      : kind_(std::move(kind)), reserved_(std::move(reserved)), lines_(lines) {}

  /// All lines, those of the library first.
  const std::list<Line>& lines() const { return lines_; }

  /// The line of that name; null where there is none.
  const Line* find(std::string_view name) const {
    for (const Line& line : lines_) {
      if (same_name(line.name, name)) return &line;
    }
    return nullptr;
  }

  /// Throws InputError where the name is in use.
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

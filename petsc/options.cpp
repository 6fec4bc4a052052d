// SPDX-License-Identifier: Apache-2.0
// The options of PETSc's database, given to the settings of the C interface, which has the same texts.
#include "options.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include <newel/core/table.hpp>
#include <newel/precond/registry.hpp>
#include <newel/solver/registry.hpp>

#include "petsc_calls.hpp"

namespace newel::petsc {
namespace {

struct Named {
  const char* name;     // in PETSc's database
  const char* setting;  // of c::Settings
  const char* usual;
  const char* help;
  bool of_solver;  // not of a preconditioner alone
};

const Named table[] = {
    {"solver", "solver", "auto", "Solver: auto or a name of Newel's table", true},
    {"precond", "preconditioner", "auto", "Preconditioner: auto, none or a name of Newel's table", false},
    {"format", "format", "auto", "Format of the matrix: auto, measure or a name of Newel's table", false},
    {"precision", "precision", "double", "double, or mixed: iterate in single precision", true},
    {"device", "device", "host", "host, cuda or cuda:N; several processes: host or cuda", false},
    {"threads", "threads", "0",
     "Threads of a process; 0: all of its processors, and one if there are several processes", false},
    {"time_limit", "time_limit", "0", "Seconds for a solve; 0: no limit", true},
    {"expected_solves", "expected_solves", "0", "Solves that this setup will serve; 0: unknown", false},
    {"deterministic", "deterministic", "no", "yes: the same bits on every run", false},
    {"plan_cache", "plan_cache", "", "Folder that keeps row orders for later runs", false},
};

std::string text_of(const OptionValue& value) {
  std::ostringstream text;
  if (const bool* choice = std::get_if<bool>(&value)) {
    text << (*choice ? "yes" : "no");
  } else {
    std::visit([&](const auto& v) { text << v; }, value);
  }
  return text.str();
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// PETSc's words for a choice; others stay as they are.
std::string yes_or_no(const std::string& value) {
  const std::string word = lower_case(value);
  if (word.empty() || word == "1" || word == "true" || word == "on") return "yes";
  if (word == "0" || word == "false" || word == "off") return "no";
  return word;
}

// Reads options one after the other, and remembers their names.
class Reader {
 public:
  Reader(PetscOptionItems* items, std::string stem, Options& options)
      : items_(items), stem_(std::move(stem)), options_(options) {}

  void read(const std::string& name, const std::string& setting, const std::string& usual, std::string help) {
    std::replace(help.begin(), help.end(), '\n', ' ');
    names_.push_back(name);
    char value[PETSC_MAX_PATH_LEN] = "";
    PetscBool set = PETSC_FALSE;
    // The name that PETSc's macro expects.
    PetscOptionItems* PetscOptionsObject = items_;
    const std::string option = '-' + stem_ + name;
    check(PetscOptionsString(option.c_str(), help.c_str(), "newel", usual.c_str(), value, sizeof value, &set));
    if (set != PETSC_TRUE) return;
    try {
      options_.settings.set(setting, usual == "yes" || usual == "no" ? yes_or_no(value) : value);
    } catch (const InputError& e) {
      throw InputError(option + ' ' + value + ": " + e.what());
    }
    options_.given += option + ' ' + value + '\n';
  }

  template <class Rows>
  void read_rows(const Rows& rows) {
    for (const MethodOption& row : rows) {
      const OptionValue usual = row.get({});
      const bool* choice = std::get_if<bool>(&usual);  // its help is that of a flag which inverts it
      read(row.key, row.key, text_of(usual), (choice == nullptr ? "" : *choice ? "no: " : "yes: ") + row.help);
    }
  }

  // Options with the stem that were not read.
  void refuse_others() const {
    const std::string prefix = items_->prefix == nullptr ? "" : items_->prefix;
    const std::string start = lower_case('-' + prefix + stem_);
    char* all = nullptr;
    check(PetscOptionsGetAll(items_->options, &all));
    std::istringstream words(all);
    PetscFree(all);
    for (std::string word; words >> word;) {
      word = lower_case(word);
      if (word.rfind(start, 0) != 0) continue;
      const std::string name = word.substr(start.size());
      for (const std::string& known : names_) {
        if (known == name) word.clear();
      }
      if (!word.empty()) throw InputError("there is no option " + word + did_you_mean(name, names_));
    }
  }

 private:
  PetscOptionItems* items_;
  std::string stem_;
  Options& options_;
  std::vector<std::string> names_;
};

}  // namespace

void read_options(PetscOptionItems* items, const std::string& stem, OptionsOf which, Options& options) {
  Reader reader(items, stem, options);
  options.given.clear();
  for (const Named& line : table) {
    if (which == OptionsOf::solver || !line.of_solver) reader.read(line.name, line.setting, line.usual, line.help);
  }
  if (options.settings.single) {
    throw InputError("-" + stem + "precision single: PETSc's vectors are in double; expected double or mixed");
  }
  if (which == OptionsOf::solver) reader.read_rows(solver_option_list());
  reader.read_rows(precond_option_list());
  reader.refuse_others();
}

}  // namespace newel::petsc

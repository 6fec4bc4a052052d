// SPDX-License-Identifier: Apache-2.0
// Names looked up in the library's tables.
#include "names.hpp"

#include <algorithm>

#include <newel/precond/registry.hpp>
#include <newel/solver/registry.hpp>
#include <newel/spmv/format_choice.hpp>

#include "exit_status.hpp"
#include "text.hpp"

namespace newel::cli {
namespace {

// The entry of `names` that equals `given` up to case, '-' and '_'.
std::string find_name(std::string_view kind, std::string_view given, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (canonical_name(name) == canonical_name(given)) return name;
  }
  throw UsageError(unknown_name(kind, given, names));
}

template <class Entry>
bool exists_for(const Entry& entry, Space space, bool single_precision) {
  if (space == Space::host)
    return single_precision ? entry.make.host_float != nullptr : entry.make.host_double != nullptr;
  return single_precision ? entry.make.device_float != nullptr : entry.make.device_double != nullptr;
}

template <class Entry>
void require_exists(const char* option, const Entry& entry, Space space, bool single_precision) {
  if (exists_for(entry, space, single_precision)) return;
  throw UsageError(std::string(option) + ' ' + entry.name + ": not available in " +
                   (single_precision ? "single" : "double") + " precision on the " + std::string(name_of(space)));
}

}  // namespace

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const SpmvFormat& format : spmv_formats()) names.push_back(format.name);
  return names;
}

std::vector<std::string> preconditioner_names() {
  std::vector<std::string> names{"none"};
  for (const PrecondMethod& entry : preconditioners()) names.push_back(entry.name);
  return names;
}

std::vector<std::string> definite_preconditioner_names() {
  std::vector<std::string> names{"none"};
  for (const PrecondMethod& entry : preconditioners()) {
    if (entry.automatic != AutoPrecond::saddle) names.push_back(entry.name);
  }
  return names;
}

std::vector<std::string> preconditioner_choices() {
  std::vector<std::string> names{"auto"};
  for (const std::string& name : preconditioner_names()) names.push_back(name);
  return names;
}

std::vector<std::string> solver_choices() {
  std::vector<std::string> names{"auto"};
  for (const std::string& name : solver_names()) {
    if (name != "auto") names.push_back(name);
  }
  return names;
}

std::vector<std::string> format_choices() {
  std::vector<std::string> names{"auto", "measure"};
  for (const std::string& name : format_names()) names.push_back(name);
  return names;
}

namespace {

std::string check_variant(const std::string& given, const std::string& option,
                          const std::vector<std::string>& choices) {
  const std::size_t colon = given.find(':');
  const std::string name = find_name(option, given.substr(0, colon), choices);
  if (colon == std::string::npos) return name;
  const std::vector<std::string>& variants = find_spmv_format(name).variants;
  if (variants.empty()) throw UsageError(option + ' ' + given + ": " + name + " has no variants");
  return name + ':' + find_name("variant of " + name, given.substr(colon + 1), variants);
}

}  // namespace

std::string check_format(const std::string& given) {
  if (is_format_choice(given)) return canonical_name(given);
  return check_variant(given, "--format", format_choices());
}

std::string check_table_format(const std::string& given, const std::string& option) {
  return check_variant(given, option, format_names());
}

std::string check_preconditioner(const std::string& given, const std::vector<std::string>& names) {
  return find_name("--precond", given, names);
}

std::string check_solver(const std::string& given) { return find_name("--solver", given, solver_choices()); }

std::string check_name(const std::string& given, const std::string& option, const std::vector<std::string>& names) {
  return find_name(option, given, names);
}

std::string check_choice(const std::string& given, const std::string& option, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name == given) return name;
  }
  throw UsageError(unknown_name(option, given, names));
}

void check_available(const std::string& format, const std::string& preconditioner, Space space,
                     bool single_precision) {
  if (!is_format_choice(format)) require_exists("--format", find_spmv_format(format), space, single_precision);
  for (const PrecondMethod& entry : preconditioners()) {
    if (entry.name == preconditioner) require_exists("--precond", entry, space, single_precision);
  }
}

}  // namespace newel::cli

// SPDX-License-Identifier: Apache-2.0
// Operators and preconditioners for people and for programs.
#include "precond_report.hpp"

#include <newel/precond/registry.hpp>
#include <newel/solver/registry.hpp>

#include "precond_options.hpp"
#include "text.hpp"

namespace newel::cli {
Json operator_json(const OperatorInfo& info) {
  Json levels = Json::array();
  for (const auto& level : info.levels) levels.push_back(object_of(level));
  Json result = {{"name", info.name},
                 {"detail", info.detail},
                 {"stored_slots", info.stored_slots},
                 {"cached_share", info.cached_share},
                 {"bytes_per_product", info.bytes_per_product},
                 {"figures", object_of(info.figures)},
                 {"bytes", object_of(info.bytes)},
                 {"setup_phases", object_of(info.setup_seconds)}};
  if (!levels.empty()) result["levels"] = levels;
  return result;
}

Json option_json(const OptionValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

OptionValue option_value(const Json& json, const OptionValue& like) {
  return std::visit([&](const auto& v) { return OptionValue(json.get<std::decay_t<decltype(v)>>()); }, like);
}

Json solver_options_json(const SolverOptions& options) {
  Json result = Json::object();
  for (const MethodOption& option : solver_option_list()) {
    if (!option.reported) continue;
    const OptionValue value = option.get(options.methods);
    const auto* number = std::get_if<int>(&value);
    result[option.key] = number != nullptr && *number < option.least ? Json() : option_json(value);
  }
  return result;
}

Json precond_options_json(const PrecondOptions& o, const PrecondFiles& files) {
  Json result = Json::object();
  for (const MethodOption& option : precond_option_list()) result[option.key] = option_json(option.get(o.methods));
  result["pattern"] = or_null(files.pattern);
  result["amg_vectors"] = or_null(files.vectors);
  result["saddle_rows"] = or_null(files.constraints);
  result["saddle_mass"] = or_null(files.mass);
  result["format"] = or_null(o.format);
  return result;
}

Json residual_json(const std::optional<InverseResidual>& residual) {
  if (!residual) return Json();
  return {{"norm", residual->norm}, {"relative", residual->relative}, {"probes", residual->probes}};
}

std::string inverse_residual_text(const InverseResidual& residual) {
  const std::string how = residual.probes == 0 ? "exact" : text("estimated with %d vectors", residual.probes);
  return text("%.3g, %.3g of |I|_F (%s)", residual.norm, residual.relative, how.c_str());
}

std::string precond_text(const OperatorInfo& info) {
  if (info.bytes.empty()) return info.name;
  std::string line = info.name + ", " + human_bytes(info.total_bytes());
  if (!info.detail.empty()) line += ", " + info.detail;
  for (const auto& [name, value] : info.figures) {
    if (name != local_operations) line += text(", %s %.3g", name.c_str(), value);
  }
  return line;
}

std::string levels_text(const OperatorInfo& info) {
  std::string lines;
  for (std::size_t l = 0; l < info.levels.size(); ++l) {
    std::string line;
    for (const auto& [name, value] : info.levels[l]) {
      const bool whole = value == static_cast<double>(static_cast<std::int64_t>(value));
      const std::string number = whole ? thousands(static_cast<std::int64_t>(value)) : text("%.3g", value);
      line += (line.empty() ? "" : ", ") + name + ' ' + number;
    }
    lines += labelled("level " + std::to_string(l + 1), line);
  }
  return lines;
}

std::string settings_text(const std::vector<SettingChange>& settings) {
  const auto flag_of = [](const std::string& key) {
    for (const std::vector<MethodOption>& options : {precond_option_list(), solver_option_list()}) {
      for (const MethodOption& option : options) {
        if (option.key == key) return first_flag(option);
      }
    }
    std::string flag = "--" + (key == "preconditioner" ? "precond" : key);
    for (char& c : flag) c = c == '_' ? '-' : c;
    return flag;
  };
  std::string result;
  for (const SettingChange& change : settings) {
    result += (result.empty() ? "" : " ") + flag_of(change.key) + ' ' + change.value;
  }
  return result;
}

std::string strong_precond() {
  const PrecondMethod* general = automatic_preconditioner(AutoPrecond::general);
  return general == nullptr || general->stronger == nullptr ? "--precond auto" : settings_text(general->stronger({}));
}

std::string in_words_of_the_file(const ZeroDiagonal& error, const std::string& precond) {
  return "expected a diagonal entry that " + precond + " can divide by, found " +
         (error.value() == 0 ? "zero or none" : text("%g", error.value())) + " in row " +
         std::to_string(error.row() + 1) +
         (error.count() > 1 ? " and " + count_of(error.count() - 1, "other", "others") : "") +
         ": try --precond none, then " + strong_precond();
}

std::string in_words_of_the_file(const NotSymmetric& error, const std::string& precond) {
  const std::string i = std::to_string(error.row() + 1), j = std::to_string(error.col() + 1);
  return "expected a symmetric matrix, as " + precond + " needs it, found " +
         text("%g in row %s, column %s, and %g in row %s, column %s", error.entry(), i.c_str(), j.c_str(),
              error.opposite(), j.c_str(), i.c_str()) +
         ": try --precond spai or jacobi";
}

std::string in_words_of_the_file(const NotPositiveDefinite& error, const std::string& precond) {
  return "expected a positive definite matrix, as " + precond +
         " needs it, found a pivot that is not positive in row " + std::to_string(error.row() + 1) +
         (error.count() > 1 ? " and " + count_of(error.count() - 1, "other", "others") : "") +
         ": try --precond spai or jacobi";
}

}  // namespace newel::cli

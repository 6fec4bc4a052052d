// SPDX-License-Identifier: Apache-2.0
/// The JSON report that a command wrote.
#pragma once

#include <nlohmann/json.hpp>

#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"
#include "tests/catch.hpp"

namespace newel::cli_testing {

using Json = nlohmann::json;

inline Json report_in(const TemporaryFolder& folder, const std::string& name = "r.json") {
  return Json::parse(file_content(folder.file(name)));
}

/// What a solve left: x and the report are there for the exit status 0 and 1.
struct Solved {
  Outcome outcome;
  Json report;
  std::vector<double> x;
};

/// `newel solve` of a system from files, with `more` options.
inline Solved solved(const System& s, const std::vector<double>& b, const Words& more = {}) {
  const TemporaryFolder folder;
  const Words words = {"solve",    folder.write("A.mtx", s.text()),
                       "--rhs",    folder.write("b.mtx", vector_text(b)),
                       "--out",    folder.file("x.mtx"),
                       "--report", folder.file("r.json")};
  Solved result{run_newel(joined(words, more)), {}, {}};
  INFO(result.outcome.out << result.outcome.err);
  REQUIRE((result.outcome.status == 0 || result.outcome.status == 1));
  result.report = report_in(folder);
  result.x = parse_array(file_content(folder.file("x.mtx")));
  return result;
}

/// Whether a report begins as docs/reports.md says: schema, program, version.
inline bool begins_as_report(const std::string& text, const std::string& program) {
  const auto report = nlohmann::ordered_json::parse(text);
  auto field = report.begin();
  if (report.size() < 3 || field.key() != "schema" || field.value() != 1) return false;
  if ((++field).key() != "program" || field.value() != program) return false;
  return (++field).key() == "version" && field.value().is_string();
}

}  // namespace newel::cli_testing

// SPDX-License-Identifier: Apache-2.0
// Reading and running a table of commands.
#include "tests/apps/cli_rows.hpp"

#include "apps/common/text.hpp"
#include "tests/apps/cli_report.hpp"
#include "tests/catch.hpp"

namespace newel::cli_testing {
namespace {

using testing::contains;

struct Expectation {
  std::string subject, verb, words;
};

struct Row {
  int status = 0;
  std::string command;
  std::vector<Expectation> expected;
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string unescaped(const std::string& text) {
  return replaced(replaced(replaced(text, "\\n", "\n"), "\\r", "\r"), "\\e", "\x1b");
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string& word : cli::split(replaced(text, " | ", "\x1f"), '\x1f')) {
    words.push_back(unescaped(word));
  }
  return words;
}

std::set<std::string> names_in(const TemporaryFolder& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

std::string subject_text(const TemporaryFolder& folder, const std::string& subject, const Outcome& outcome) {
  if (subject == "out") return outcome.out;
  if (subject == "err") return outcome.err;
  if (subject == "files") {
    const std::set<std::string> names = names_in(folder);
    return cli::join({names.begin(), names.end()});
  }
  if (subject.front() != '/') return file_content(folder.file(subject));
  const Json report = report_in(folder), value = report.value(Json::json_pointer(subject), Json("absent"));
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// The first word that begins so: newel, newel-heat.
std::string program_of(const std::string& command) {
  const std::size_t begin = command.find("newel");
  return command.substr(begin, command.find(' ', begin) - begin);
}

void check_row(const TemporaryFolder& folder, const Row& row) {
  const Outcome outcome = shell(folder, row.command);
  INFO(row.command << '\n' << outcome.out << outcome.err);
  CHECK(outcome.status == row.status);
  if (row.status >= 2) {
    const auto about_out = [](const Expectation& e) { return e.subject == "out"; };
    if (std::none_of(row.expected.begin(), row.expected.end(), about_out)) CHECK(outcome.out.empty());
    CHECK(outcome.err.rfind(program_of(row.command) + ": ", 0) == 0);
    const auto lines = std::count(outcome.err.begin(), outcome.err.end(), '\n');
    CHECK((lines >= 1 && lines <= 3));
  }
  for (const Expectation& e : row.expected) {
    const std::string text = subject_text(folder, e.subject, outcome);
    INFO(e.subject << ": " << text);
    if (e.verb == "is") CHECK(text == unescaped(e.words));
    for (const std::string& word : e.verb == "is" ? std::vector<std::string>() : words_of(e.words)) {
      INFO(e.subject << ' ' << e.verb << ' ' << word);
      CHECK(contains(text, word) == (e.verb == "has"));
    }
  }
}

// Of {a,b,c} in the command, each; a brace without a comma is none.
void check_each(const TemporaryFolder& folder, const Row& row) {
  std::size_t begin = row.command.find('{');
  const std::size_t end = row.command.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return check_row(folder, row);
  for (const std::string& one : cli::split(row.command.substr(begin + 1, end - begin - 1), ',')) {
    Row each = row;
    each.command.replace(begin, end + 1 - begin, one);
    for (Expectation& e : each.expected) {
      e.words = replaced(e.words, "{}", one);
      if (e.subject == "{}") e.subject = one;
    }
    check_each(folder, each);
  }
}

Expectation expectation_of(const std::string& line) {
  std::istringstream in(line);
  Expectation e;
  in >> e.subject >> e.verb;
  std::getline(in >> std::ws, e.words);
  if (e.verb != "has" && e.verb != "lacks" && e.verb != "is") FAIL("not understood: " << line);
  return e;
}

Row row_of(const std::string& line) {
  Row row;
  const std::size_t space = line.find(' '), arrow = line.find(" -> ");
  row.status = std::stoi(line.substr(0, space));
  row.command = line.substr(space + 1, arrow == std::string::npos ? arrow : arrow - space - 1);
  if (arrow != std::string::npos) {
    row.expected.push_back({row.status >= 2 ? "err" : "out", "has", line.substr(arrow + 4)});
  }
  return row;
}

}  // namespace

void check_rows(const TemporaryFolder& folder, const std::string& table) {
  std::vector<std::string> lines = cli::split(table, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    if (lines[i].rfind("file ", 0) == 0) {
      const std::size_t name_end = lines[i].find(' ', 5);
      const std::string text =
          replaced(lines[i].substr(name_end + 1), "{general}", "%%MatrixMarket matrix coordinate real general\\n");
      folder.write(lines[i].substr(5, name_end - 5), unescaped(text));
      continue;
    }
    Row row = row_of(lines[i]);
    while (i + 1 < lines.size() && lines[i + 1].rfind("    ", 0) == 0) {
      row.expected.push_back(expectation_of(lines[++i]));
    }
    check_each(folder, row);
  }
}

}  // namespace newel::cli_testing

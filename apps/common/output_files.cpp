// SPDX-License-Identifier: Apache-2.0
// Checking and writing output files.
#include "output_files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <newel/core/error.hpp>
#include <newel/core/file_writer.hpp>

#include "exit_status.hpp"

namespace newel::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& option, const std::string& file, const std::string& why) {
  throw InputError(option + ' ' + file + ": cannot be written: " + why);
}

// The file that a link stands for: it is the one to be replaced.
fs::path behind_links(const std::string& file) {
  std::error_code error;
  const fs::path target = fs::canonical(file, error);
  return error ? fs::path(file) : target;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (fs::equivalent(a, b, ignored)) return true;
  return fs::absolute(a, ignored).lexically_normal() == fs::absolute(b, ignored).lexically_normal();
}

void check_output(const std::string& option, const std::string& file) {
  const fs::path target = behind_links(file);
  std::error_code ignored;
  if (fs::is_directory(target, ignored)) cannot_write(option, file, "it is a directory");
  if (target.filename().empty()) cannot_write(option, file, "expected a file name after the last '/'");
  if (is_special_file(target)) {
    if (access(target.c_str(), W_OK) != 0) cannot_write(option, file, std::strerror(errno));
    return;
  }
  const fs::path folder = target.parent_path().empty() ? fs::path(".") : target.parent_path();
  std::string probe = (folder / ".newel-XXXXXX").string();
  const int descriptor = mkstemp(probe.data());
  if (descriptor < 0) cannot_write(option, file, std::strerror(errno));
  close(descriptor);
  unlink(probe.c_str());
}

}  // namespace

bool is_special_file(const std::string& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [option, file] = outputs[i];
    if (file.empty() || is_standard_stream(file)) continue;
    check_output(option, file);
    if (is_special_file(file)) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (!outputs[j].second.empty() && same_file(file, outputs[j].second)) {
        cannot_write(option, file, outputs[j].first + " names the same file");
      }
    }
    for (const auto& [input, input_file] : inputs) {
      if (!input_file.empty() && same_file(file, input_file)) cannot_write(option, file, "it is the " + input);
    }
  }
}

void write_text_file(const std::string& option, const std::string& file, const std::string& content) {
  try {
    FileWriter writer(file);
    writer.write(content);
    writer.commit();
  } catch (const InputError& error) {
    throw InputError(option + ": " + error.what());
  }
}

void check_inputs(const std::vector<NamedFile>& inputs) {
  const std::string* first = nullptr;
  for (const auto& [input, file] : inputs) {
    if (!is_standard_stream(file)) continue;
    if (first != nullptr) {
      throw UsageError("standard input (-) is the " + *first + " already and cannot also be the " + input);
    }
    first = &input;
  }
}

}  // namespace newel::cli

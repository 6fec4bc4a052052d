// SPDX-License-Identifier: Apache-2.0
// Checking and writing output files.
#include "output_files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <purlin/core/error.hpp>

namespace purlin::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& option, const std::string& file, const std::string& why) {
  throw InputError(option + ' ' + file + ": cannot be written: " + why);
}

fs::path folder_of(const std::string& file) {
  const fs::path parent = fs::path(file).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

// A file or pipe that is written into rather than replaced.
bool is_special(const std::string& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (fs::equivalent(a, b, ignored)) return true;
  return fs::absolute(a, ignored).lexically_normal() == fs::absolute(b, ignored).lexically_normal();
}

void check_output(const std::string& option, const std::string& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) cannot_write(option, file, "it is a directory");
  if (is_special(file)) {
    // A solution is replaced whole, which would put a plain file where the device or pipe was.
    if (option == "--out") cannot_write(option, file, "it is not a plain file");
    if (access(file.c_str(), W_OK) != 0) cannot_write(option, file, std::strerror(errno));
    return;
  }
  if (fs::path(file).filename().empty()) cannot_write(option, file, "expected a file name after the last '/'");
  std::string probe = (folder_of(file) / ".purlin-XXXXXX").string();
  const int descriptor = mkstemp(probe.data());
  if (descriptor < 0) cannot_write(option, file, std::strerror(errno));
  close(descriptor);
  unlink(probe.c_str());
}

void write_all(const std::string& option, const std::string& file, const std::string& into,
               const std::string& content) {
  std::FILE* out = std::fopen(into.c_str(), "wb");
  if (out == nullptr) cannot_write(option, file, std::strerror(errno));
  const bool written = std::fwrite(content.data(), 1, content.size(), out) == content.size();
  const int write_error = errno;
  if (std::fclose(out) != 0 || !written) {
    const int error = written ? errno : write_error;
    if (into != file) unlink(into.c_str());
    cannot_write(option, file, std::strerror(error));
  }
}

}  // namespace

void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [option, file] = outputs[i];
    if (file.empty()) continue;
    check_output(option, file);
    if (is_special(file)) continue;
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
  if (is_special(file)) return write_all(option, file, file, content);
  const std::string beside = file + ".part" + std::to_string(getpid());
  write_all(option, file, beside, content);
  if (std::rename(beside.c_str(), file.c_str()) != 0) {
    const int error = errno;
    unlink(beside.c_str());
    cannot_write(option, file, std::strerror(error));
  }
}

}  // namespace purlin::cli

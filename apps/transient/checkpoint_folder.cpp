// SPDX-License-Identifier: Apache-2.0
// The checkpoints of a run: which stay, which is the last.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <newel/core/error.hpp>

#include "apps/common/text.hpp"
#include "checkpoint.hpp"

namespace newel::transient {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kept = 2;

// Step numbers of the checkpoints in a folder, ascending.
std::vector<std::int64_t> steps_in(const std::string& folder) {
  std::vector<std::int64_t> result;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    long long steps = -1;
    int used = 0;
    if (std::sscanf(name.c_str(), "checkpoint-%18lld.bin%n", &steps, &used) == 1 && steps >= 0 &&
        used == static_cast<int>(name.size())) {
      result.push_back(steps);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

// The program that its header names, which stands first: also of one that is torn behind it. Empty for none.
std::string program_of(const std::string& file) {
  const cli::Json header = read_checkpoint_header(file);
  const cli::Json program = header.is_object() ? header.value("program", cli::Json()) : cli::Json();
  return program.is_string() ? program.get<std::string>() : "";
}

std::string name_of_steps(const std::string& folder, std::int64_t steps) {
  return (fs::path(folder) / cli::text("checkpoint-%09lld.bin", static_cast<long long>(steps))).string();
}

}  // namespace

void CheckpointFolder::write(std::int64_t steps, Checkpoint checkpoint) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw InputError(folder_ + ": the folder for checkpoints cannot be created: " + error.message());
  checkpoint.header["program"] = program_;
  write_checkpoint(name_of_steps(folder_, steps), checkpoint);
  const std::vector<std::int64_t> old = own_steps();
  const auto behind = std::upper_bound(old.begin(), old.end(), steps);
  const auto keep = behind - old.begin() > static_cast<std::ptrdiff_t>(kept) ? behind - kept : old.begin();
  for (auto it = old.begin(); it != old.end(); ++it) {
    if (it < keep || it >= behind) fs::remove(name_of_steps(folder_, *it), error);
  }
}

std::vector<std::int64_t> CheckpointFolder::own_steps() const {
  std::vector<std::int64_t> steps = steps_in(folder_);
  const auto foreign = [&](std::int64_t step) { return program_of(name_of_steps(folder_, step)) != program_; };
  steps.erase(std::remove_if(steps.begin(), steps.end(), foreign), steps.end());
  return steps;
}

int CheckpointFolder::remove_all() const {
  int removed = 0;
  for (const std::int64_t steps : own_steps()) {
    const std::string file = name_of_steps(folder_, steps);
    std::error_code error;
    if (fs::remove(file, error)) ++removed;
    if (error) throw InputError(file + ": a checkpoint of an earlier run cannot be removed: " + error.message());
  }
  return removed;
}

std::string CheckpointFolder::other_program() const {
  for (const std::int64_t steps : steps_in(folder_)) {
    const std::string program = program_of(name_of_steps(folder_, steps));
    if (!program.empty() && program != program_) return program;
  }
  return "";
}

Checkpoint CheckpointFolder::latest(std::string& remark) const {
  remark.clear();
  const std::vector<std::int64_t> steps = steps_in(folder_);
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    try {
      Checkpoint checkpoint = read_checkpoint(name_of_steps(folder_, *it));
      const cli::Json program = checkpoint.header.value("program", cli::Json());
      if (program != program_) {
        throw InputError(checkpoint.file + ": expected a checkpoint of " + program_ + ", found one of " +
                         program.dump());
      }
      return checkpoint;
    } catch (const InputError& error) {
      remark += (remark.empty() ? "" : "\n") + std::string(error.what());
    }
  }
  throw InputError(folder_ + ": no valid checkpoint to resume from" +
                   (remark.empty() ? std::string(": the folder holds none") : "\n" + remark));
}

}  // namespace newel::transient

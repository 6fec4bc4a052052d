// SPDX-License-Identifier: Apache-2.0
/// Checkpoints: the state of a run in one file that is either whole or not there.
///
/// Layout, little-endian: the magic "NEWEL_CP", a version (uint32), the count of sections (uint32); then per section
/// its kind (uint32: 1 JSON header, 2 doubles, 3 int64, 4 bytes), the length of its name (uint32), its length in
/// bytes (uint64) and its checksum (uint64, over kind, name and content), the name, the content, each padded to 8
/// bytes; last the magic again. Numbers are kept as they are in memory: bits survive.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/common/json_file.hpp"

namespace newel::transient {

/// A header and named arrays. The header holds at least "program"; `CheckpointFolder` checks it.
struct Checkpoint {
  cli::Json header;  ///< program, version, time, format, threads, hash of the parameters, ...
  std::map<std::string, std::vector<double>> doubles;
  std::map<std::string, std::vector<std::int64_t>> integers;
  std::map<std::string, std::string> bytes;
  std::string file;  ///< where it was read from; errors name it

  /// The array of that name. Throws InputError that names the file where it is missing or, for `size` >= 0, of
  /// another length.
  const std::vector<double>& doubles_of(const std::string& name, std::int64_t size = -1) const;
  const std::vector<std::int64_t>& integers_of(const std::string& name, std::int64_t size = -1) const;
};

/// Writes next to the name, waits until it is on the disk, renames. Throws InputError where that fails.
void write_checkpoint(const std::string& file, const Checkpoint& checkpoint);

/// Reads and checks everything: throws InputError "FILE: ..." for a file that is torn, damaged, of another version or
/// no checkpoint at all.
Checkpoint read_checkpoint(const std::string& file);

/// The header alone; null where it cannot be read or is damaged. What stands behind it is not inspected.
cli::Json read_checkpoint_header(const std::string& file);

/// The checkpoints of a run: FOLDER/checkpoint-STEPS.bin, of which the last two stay. Those of
/// another program in the same folder are left alone, unless one of the same step takes the name.
class CheckpointFolder {
 public:
  /// `program`: what the header's "program" must be, "newel-heat".
  CheckpointFolder(std::string folder, std::string program)
      : folder_(std::move(folder)), program_(std::move(program)) {}

  /// Writes the one of that step, then removes all but the two of the highest steps that do not lie behind it: those
  /// behind it belong to a run that was resumed from before them. Makes the folder where it is missing. Throws
  /// InputError.
  void write(std::int64_t steps, Checkpoint checkpoint) const;

  /// The last sound one. `remark` receives one line for each that was passed over, and why; else "". Throws
  /// InputError where there is none, which names what is wrong with each, or where it is of another program.
  Checkpoint latest(std::string& remark) const;

  /// Removes those of the program, nothing else, so that a run that begins anew is never gone on with from an earlier
  /// one. Returns how many. Throws InputError where one cannot be removed.
  int remove_all() const;

  /// The name of another program that has left a checkpoint in the folder; "" where there is none.
  std::string other_program() const;

 private:
  std::vector<std::int64_t> own_steps() const;

  std::string folder_;
  std::string program_;
};

/// A fingerprint of bytes, 16 hexadecimal digits (FNV-1a over words of 64 bits): for "are these the parameters of
/// that run".
std::string fingerprint(const char* data, std::size_t size);
inline std::string fingerprint(const std::string& bytes) { return fingerprint(bytes.data(), bytes.size()); }

}  // namespace newel::transient

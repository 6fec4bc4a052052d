// SPDX-License-Identifier: Apache-2.0
/// Zip archives, as far as NumPy uses them: members that are stored or deflated, with sizes of 32 or 64 bits.
/// Format: PKWARE, "APPNOTE.TXT - .ZIP File Format Specification".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <newel/core/array.hpp>
#include <newel/core/file_writer.hpp>

namespace newel::detail {

bool begins_as_zip(std::string_view bytes);

/// The members of an archive in memory, which must outlive it, as its directory lists them.
class ZipArchive {
 public:
  /// Throws InputError for what is no whole archive.
  ZipArchive(std::string_view bytes, const std::string& name);

  /// Their names, in the order of the directory.
  std::vector<std::string> names() const;

  /// The bytes of a member; unpacked ones belong to the archive. Throws InputError for a member that is missing,
  /// damaged, encrypted or packed otherwise, and for a size that its packed bytes cannot hold; OutOfMemory.
  std::string_view member(const Context<Space::host>& ctx, const std::string& name);

 private:
  struct Entry {
    std::string name;
    std::uint16_t flags = 0, method = 0;
    std::uint32_t crc = 0;
    std::uint64_t packed = 0, size = 0, offset = 0;
  };
  void read_entry(std::size_t& at);
  std::string_view packed_bytes(const Entry& entry) const;

  std::string_view bytes_;
  const std::string& name_;
  std::vector<Entry> entries_;
  std::vector<Array<char, Space::host>> unpacked_;
};

/// Writes an archive of members that are stored as they are.
class ZipWriter {
 public:
  explicit ZipWriter(FileWriter& file) : file_(file) {}

  /// A member whose bytes are `head` and then `data`.
  void add(const std::string& name, std::string_view head, std::string_view data);
  /// The directory. The file is the caller's to commit.
  void finish();

 private:
  void write(const std::string& bytes);

  FileWriter& file_;
  std::uint64_t offset_ = 0;
  std::uint64_t members_ = 0;
  std::string directory_;
};

/// The checksum that archives have, of `bytes` behind those that gave `before`.
std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before = 0);

}  // namespace newel::detail

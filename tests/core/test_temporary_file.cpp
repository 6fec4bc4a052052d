// SPDX-License-Identifier: Apache-2.0
// Files that are being written: names of their own, permissions, and what others leave alone.
#include "tests/catch.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <newel/core/file_writer.hpp>

using newel::FileWriter;
using newel::is_partial_file;
using newel::remove_abandoned_parts;
using newel::TemporaryFile;

namespace {

namespace fs = std::filesystem;

int count_files(const TemporaryFolder& folder) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path())) ++count;
  return count;
}

fs::path only_partial_file(const TemporaryFolder& folder) {
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    if (is_partial_file(entry.path().filename().string())) return entry.path();
  }
  return {};
}

unsigned mode_of(const std::string& file) {
  struct stat status = {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  return status.st_mode & 0777u;
}

}  // namespace

TEST_IN_FOLDER("A file appears under its name when it is whole, and before that beside it", "[files]") {
  folder.write("x", "old");
  TemporaryFile file;
  REQUIRE(file.open(folder.file("x")));
  REQUIRE(file.write("new text", 8));
  CHECK(file_content(folder.file("x")) == "old");
  CHECK(count_files(folder) == 2);
  REQUIRE(file.synchronize());
  REQUIRE(file.commit());
  CHECK(file_content(folder.file("x")) == "new text");
  CHECK(count_files(folder) == 1);
}

TEST_IN_FOLDER("A file that is not committed goes, and two of one target do not meet", "[files]") {
  {
    TemporaryFile one, other;
    REQUIRE(one.open(folder.file("x")));
    REQUIRE(other.open(folder.file("x")));
    REQUIRE(one.write("one", 3));
    REQUIRE(other.write("other", 5));
    CHECK(count_files(folder) == 2);
    REQUIRE(other.commit());
  }
  CHECK(file_content(folder.file("x")) == "other");
  CHECK(count_files(folder) == 1);
}

TEST_IN_FOLDER("A link with the name of a partial file is not followed, and what it names stays", "[files]") {
  folder.write("precious", "kept");
  // The names that this process gives next.
  std::string next;
  {
    TemporaryFile probe;
    REQUIRE(probe.open(folder.file("x")));
    next = only_partial_file(folder).string();
  }
  const std::size_t dash = next.rfind('-'), end = next.rfind(".part");
  const long number = std::stol(next.substr(dash + 1, end - dash - 1));
  for (long k = number; k < number + 5; ++k) {
    fs::create_symlink(folder.file("precious"), next.substr(0, dash + 1) + std::to_string(k) + ".part");
  }
  FileWriter writer(folder.file("x"));
  writer.write("text");
  writer.commit();
  CHECK(file_content(folder.file("x")) == "text");
  CHECK(file_content(folder.file("precious")) == "kept");
}

TEST_IN_FOLDER("A file that is replaced keeps its permissions", "[files]") {
  for (const unsigned mode : {0600u, 0664u, 0755u}) {
    const std::string file = folder.write("x.mtx", "old");
    REQUIRE(::chmod(file.c_str(), mode) == 0);
    FileWriter writer(file);
    writer.write("new");
    CHECK(mode_of(only_partial_file(folder).string()) == mode);  // while it is written, too
    writer.commit();
    CHECK(file_content(file) == "new");
    CHECK(mode_of(file) == mode);
  }
}

TEST_IN_FOLDER("Partial files that nobody writes are removed, and no others", "[files]") {
  folder.write("frame.vtu.4711-0.part", "left by a process that was killed");
  folder.write("notes.part", "a user's");
  folder.write("frame.vtu.4711-0.part.txt", "another one's");
  folder.write("elsewhere", "kept");
  fs::create_symlink(folder.file("elsewhere"), folder.file("link.4711-1.part"));
  fs::create_directory(folder.file("folder.4711-2.part"));
  TemporaryFile written;
  REQUIRE(written.open(folder.file("x")));
  remove_abandoned_parts(folder.path().string());
  CHECK_FALSE(fs::exists(folder.file("frame.vtu.4711-0.part")));
  CHECK(count_files(folder) == 6);
  REQUIRE(written.write("text", 4));
  REQUIRE(written.commit());
  CHECK(file_content(folder.file("x")) == "text");
}

TEST_IN_FOLDER("A folder that does not exist is reported by errno", "[files]") {
  TemporaryFile file;
  CHECK_FALSE(file.open(folder.file("none/x")));
  CHECK(errno == ENOENT);
}

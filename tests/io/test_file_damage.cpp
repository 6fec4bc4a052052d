// SPDX-License-Identifier: Apache-2.0
// Files that are cut or changed are refused or read; they never crash the reader or make it take much memory.
#include "tests/io/io_support.hpp"

namespace {

std::vector<std::string> files_of_numpy() {
  std::vector<std::string> contents;
  for (const auto& entry : std::filesystem::directory_iterator(NEWEL_IO_FILES)) {
    // Files of PETSc may end behind any object, and tables anywhere.
    const std::string suffix = entry.path().extension().string();
    if (suffix == ".npy" || suffix == ".npz") contents.push_back(file_content(entry.path().string()));
  }
  std::sort(contents.begin(), contents.end());
  return contents;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

std::string complaint(const std::string& bytes) {
  return message_of<InputError>([&] { parse_matrix_file(HostContext(1), bytes, "f"); });
}

}  // namespace

TEST_CASE("a file that is cut anywhere is refused", "[io][damage]") {
  for (const std::string& good : files_of_numpy()) {
    for (std::size_t length = 0; length < good.size(); length += 1 + good.size() / 97) {
      CHECK(!complaint(good.substr(0, length)).empty());
    }
    CHECK(!complaint(good.substr(0, good.size() - 1)).empty());
  }
}

TEST_CASE("changed bytes never crash the reader", "[io][damage]") {
  const HostContext ctx(1);
  std::mt19937 random(5);
  for (const std::string& good : files_of_numpy()) {
    for (int trial = 0; trial < 200; ++trial) {
      std::string bad = good;
      for (int change = 0; change < 3; ++change) bad[random() % bad.size()] = static_cast<char>(random());
      try {
        const MatrixFile found = parse_matrix_file(ctx, bad, "f");
        CHECK(found.a.row_ptr[found.a.rows] == found.a.nnz());
      } catch (const InputError&) {
      } catch (const OutOfMemory&) {
      }
    }
  }
}

TEST_CASE("a lying array of NumPy is refused with its place", "[io][npy]") {
  const std::string good = file_content(std::string(NEWEL_IO_FILES) + "/vector.npy");
  CHECK(complaint(replaced(good, "(3,)", "(4,)")) ==
        "f: byte 128: expected 32 bytes of numbers, found 24 at the end of the file");
  CHECK(complaint(replaced(good, "(3,)", "(2,)")) ==
        "f: byte 144: expected the end of the array, found 8 more bytes");
  CHECK(contains(complaint(replaced(good, "(3,), }            ", "(9999999999999999,)}")), "the end of the file"));
  CHECK(contains(complaint(replaced(good, "(3,), }              ", "(99999999999999999999)")), "64 bits can hold"));
  CHECK(contains(complaint(replaced(good, "'shape'", "'shade'")), "the keys descr, fortran_order and shape"));
  CHECK(contains(complaint(replaced(good, "False", "Maybe")), "expected True or False in the header"));
  CHECK(contains(complaint(replaced(good, "<f8", "<f3")), "found the type '<f3'"));
  CHECK(contains(complaint(replaced(good, "\x93NUMPY\x01", "\x93NUMPY\x09")), "version 1, 2 or 3"));
}

TEST_CASE("a lying archive of SciPy is refused with its member", "[io][npz]") {
  const auto packed = [](const std::string& name) { return file_content(std::string(NEWEL_IO_FILES) + "/" + name); };
  const std::string good = packed("csr.npz");
  // A stored value is changed, which the checksum shows.
  std::string changed = good;
  changed[changed.find("data.npy") + 8 + 20 + 128] ^= 1;
  CHECK(complaint(changed) == "f: member 'data.npy': expected intact data, found a wrong checksum");
  CHECK(complaint(replaced(replaced(good, "indptr.npy", "indptX.npy"), "indptr.npy", "indptX.npy")) ==
        "f: member 'indptr.npy': missing from this archive");
  CHECK(contains(complaint(packed("csr_packed.npz").substr(0, 300)), "the file is cut short"));
}

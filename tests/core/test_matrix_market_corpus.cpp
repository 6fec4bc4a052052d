// SPDX-License-Identifier: Apache-2.0
// The fuzzer's corpus, replayed: each file parses or is refused as the table says, and what parses is written and
// read back alike.
#include "tests/core/matrix_market_support.hpp"

#include <cctype>

#include "io/matrix_market/matrix_market_read.hpp"

#include "tests/core/matrix_market_verdicts.hpp"

namespace {

// "line 3" of "PATH:3: expected ...", "no line" of a message without one.
std::string place_of(const std::string& message, const std::string& path) {
  if (message.rfind(path + ":", 0) != 0) return "no line";
  const std::string rest = message.substr(path.size() + 1);
  std::size_t digits = 0;
  while (digits < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits])) != 0) ++digits;
  return digits == 0 ? "no line" : "line " + rest.substr(0, digits);
}

template <class Read>
std::string verdict_of(const std::string& path, Read&& read) {
  try {
    return read();
  } catch (const InputError& error) {
    CHECK(contains(std::string(error.what()), "expected"));
    return place_of(error.what(), path);
  } catch (const OutOfMemory&) {
    return "memory";
  }
}

std::string read_as_matrix(const HostContext& ctx, const std::string& path, const TemporaryFolder& folder) {
  const auto a = read_matrix(ctx, path);
  CHECK(same_bits(plain(parse_matrix(ctx, file_content(path), path)), plain(a)));
  write_matrix<double>(folder.file("a.mtx"), a);
  const std::string name = "a.mtx";
  const std::string text = file_content(folder.file(name));
  detail::ReadLimits limits;
  limits.piece_bytes = 8;
  CHECK(same_bits(plain(detail::parse_plain_matrix(ctx, {text, name}, nullptr, limits)), plain(a)));
  return std::to_string(a.rows) + " x " + std::to_string(a.cols) + ", " + std::to_string(a.nnz());
}

std::string read_as_vector(const HostContext& ctx, const std::string& path, const TemporaryFolder& folder) {
  const Array<double, Space::host> x = read_vector(ctx, path);
  write_vector<double>(folder.file("x.mtx"), x);
  CHECK(same_bits(plain(read_vector(ctx, folder.file("x.mtx"))), plain(x)));
  return std::to_string(x.size());
}

}  // namespace

TEST_IN_FOLDER("each file of the fuzzer's corpus parses or is refused as its table says", "[matrix_market]") {
  const HostContext ctx(2);
  std::set<std::string> expected, found;
  for (const CorpusVerdict& verdict : corpus_verdicts) {
    const std::string path = std::string(NEWEL_FUZZ_CORPUS) + "/" + verdict.file;
    INFO(path);
    REQUIRE(std::filesystem::exists(path));
    CHECK(expected.insert(verdict.file).second);
    CHECK(verdict_of(path, [&] { return read_as_matrix(ctx, path, folder); }) == verdict.as_matrix);
    CHECK(verdict_of(path, [&] { return read_as_vector(ctx, path, folder); }) == verdict.as_vector);
  }
  // A file that the fuzzer adds gets a verdict too.
  for (const auto& entry : std::filesystem::directory_iterator(NEWEL_FUZZ_CORPUS)) {
    found.insert(entry.path().filename().string());
  }
  CHECK(found == expected);
}

// SPDX-License-Identifier: Apache-2.0
// The fuzzer's corpus, replayed: every file parses or is refused, and what parses is written and read back alike.
#include "tests/core/matrix_market_support.hpp"

#include <purlin/core/matrix_market_read.hpp>

using namespace purlin;
using namespace purlin::testing;

TEST_CASE("each file of the fuzzer's corpus parses or is refused", "[matrix_market]") {
  const TemporaryFolder folder;
  const HostContext ctx(2);
  int files = 0;
  int matrices = 0;
  int vectors = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PURLIN_FUZZ_CORPUS)) {
    const std::string path = entry.path().string();
    INFO(path);
    ++files;
    try {
      const HostCsr a = read_matrix(ctx, path);
      ++matrices;
      CHECK(same_bits(plain(parse_matrix(ctx, file_content(path), path)), plain(a)));
      write_matrix<double>(folder.file("a.mtx"), a);
      const std::string name = "a.mtx";
      const std::string text = file_content(folder.file(name));
      detail::ReadLimits limits;
      limits.piece_bytes = 8;
      CHECK(same_bits(plain(detail::parse_plain_matrix(ctx, {text, name}, nullptr, limits)), plain(a)));
    } catch (const InputError& error) {
      CHECK(std::string(error.what()).find("expected") != std::string::npos);
    } catch (const OutOfMemory&) {
    }
    try {
      const Array<double, Space::host> x = read_vector(ctx, path);
      ++vectors;
      write_vector<double>(folder.file("x.mtx"), x);
      CHECK(same_bits(plain(read_vector(ctx, folder.file("x.mtx"))), plain(x)));
    } catch (const InputError&) {
    } catch (const OutOfMemory&) {
    }
  }
  CHECK(files > 30);
  CHECK(matrices > 10);
  CHECK(vectors >= 3);
}

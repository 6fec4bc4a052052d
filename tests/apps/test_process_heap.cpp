// SPDX-License-Identifier: Apache-2.0
// The heap of the programs, by the figures of the C library.
#include "apps/common/process_heap.hpp"
#include "tests/catch.hpp"

#include <malloc.h>

#include <cstdlib>

// Memory checkers have a malloc of their own, which counts nothing.
TEST_CASE("The heap of a program takes large arrays, and keeps their pages when they are freed", "[cli][heap]") {
  constexpr std::size_t bytes = std::size_t{8} << 20;
  cli::prepare_heap();
  const struct mallinfo2 before = mallinfo2();
  if (before.arena == 0) return;
  void* volatile large = std::malloc(bytes);
  const struct mallinfo2 during = mallinfo2();
  std::free(large);
  const struct mallinfo2 after = mallinfo2();
  CHECK(during.hblkhd == before.hblkhd);  // not mapped alone
  CHECK(during.uordblks >= before.uordblks + bytes);
  CHECK(after.arena == during.arena);
}

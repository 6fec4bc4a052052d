// SPDX-License-Identifier: Apache-2.0
// How malloc takes pages from the system and returns them.
#include "process_heap.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace newel::cli {

void prepare_heap() {
#ifdef __GLIBC__
  constexpr int megabyte = 1 << 20;
  constexpr std::uintptr_t huge_page = std::uintptr_t{2} << 20;
  mallopt(M_MMAP_THRESHOLD, 32 * megabyte);
  mallopt(M_TRIM_THRESHOLD, 256 * megabyte);
  mallopt(M_TOP_PAD, 64 * megabyte);
  const auto before = reinterpret_cast<std::uintptr_t>(sbrk(0));
  const std::uintptr_t first = (before + huge_page - 1) / huge_page * huge_page;
  void* volatile larger_than_what_is_free = std::malloc(megabyte / 4);  // not volatile, the call would be left out
  std::free(larger_than_what_is_free);
  const auto after = reinterpret_cast<std::uintptr_t>(sbrk(0));
  if (after > first) madvise(reinterpret_cast<void*>(first), (after - first) / huge_page * huge_page, MADV_HUGEPAGE);
  mallopt(M_TOP_PAD, megabyte);
#endif
}

}  // namespace newel::cli

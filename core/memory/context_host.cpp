// SPDX-License-Identifier: Apache-2.0
// The host context.
#include <newel/core/context.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include <newel/core/array.hpp>
#include <newel/core/communicator.hpp>
#include <newel/core/error.hpp>
#include "core/memory/context_lock.hpp"
#include "core/threads/thread_team.hpp"

namespace newel {
namespace {

// The one variable of the environment that the library reads: what runs several processes on a machine shares out its
// processors by it. A list for nested regions ("4,2") begins with the number that is meant.
int default_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  const long wanted = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
  const long threads = wanted > 0 ? wanted : detail::available_processors();
  return static_cast<int>(std::min<long>(threads, Context<Space::host>::most_threads));
}

}  // namespace

Context<Space::host>::Context(int threads) : Context(threads, detail::host_memory()) {}

Context<Space::host>::Context(int threads, std::shared_ptr<MemoryResource> memory)
    : threads_(threads == 0 ? default_threads() : threads),
      memory_(std::make_shared<ContextMemory>(Space::host, std::move(memory))) {
  if (threads < 0 || threads > most_threads) {
    throw InputError("the number of threads must be 0 (all) or 1 to " + std::to_string(most_threads) + ", not " +
                     std::to_string(threads));
  }
  team_ = std::make_shared<detail::ThreadTeam>(threads_);
  lock_ = std::make_shared<detail::ContextLock>();
}

Context<Space::host> Context<Space::host>::with_ranks(Ranks ranks) const {
  if (ranks.communicator == nullptr) throw InputError("ranks need a communicator, not a null pointer");
  Context of_rank = *this;
  of_rank.ranks_ = std::make_shared<const Ranks>(std::move(ranks));
  return of_rank;
}

namespace detail {

const std::shared_ptr<ContextLock>& lock_of(const Context<Space::host>& ctx) { return ctx.lock_; }

void throw_copy_size_mismatch(std::int64_t from, std::int64_t to) {
  throw InputError("cannot copy " + std::to_string(from) + " values into an array of " + std::to_string(to));
}

}  // namespace detail
}  // namespace newel

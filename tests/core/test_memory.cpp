// SPDX-License-Identifier: Apache-2.0
// Memory resources of the caller's: what is asked of them, and what becomes of their failures.
#include "tests/catch.hpp"
#include "tests/core/memory_support.hpp"

#include "core/memory/available_memory.hpp"

namespace {

// Returns what it is told to.
template <Space S>
class BrokenMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes, CUstream_st* stream) override {
    if (null) return nullptr;
    asked = bytes + offset;
    return static_cast<char*>(below_->allocate(asked, stream)) + offset;
  }
  void release(void* pointer, std::size_t bytes, CUstream_st* stream) noexcept override {
    ++releases;
    below_->release(static_cast<char*>(pointer) - offset, bytes + offset, stream);
  }
  bool null = false;
  std::size_t offset = 0, asked = 0;
  int releases = 0;

 private:
  std::shared_ptr<MemoryResource> below_ = built_in_memory<S>();
};

struct OwnFailure : std::runtime_error {
  OwnFailure() : std::runtime_error("the arena is closed") {}
};

CUstream_st* stream_of(const Context<Space::host>&) { return nullptr; }
#if NEWEL_HAS_CUDA
CUstream_st* stream_of(const Context<Space::device>& ctx) { return ctx.stream(); }
#endif

}  // namespace

TEST_BOTH("A caller's memory resource gives and takes back what arrays hold", "[memory]") {
  const auto memory = std::make_shared<ObservedMemory<S>>();
  {
    const Context<S> ctx(usual, memory);
    const std::uint64_t before = memory->live_bytes();
    CHECK(ctx.memory()->use().bytes == before);
    {
      const Array<double, S> a = upload(ctx, std::vector<double>{1, 2, 3});
      CHECK(memory->last_stream == stream_of(ctx));
      CHECK(memory->holds(a.data(), 24));
      CHECK(memory->live_bytes() == before + 24);
      CHECK(ctx.memory()->use().bytes == before + 24);
      CHECK(download(ctx, a) == std::vector<double>{1, 2, 3});
      const std::uint64_t allocations = memory->allocations;
      const Array<double, S> none(ctx, 0);
      CHECK(memory->allocations == allocations);
    }
    CHECK(memory->live_bytes() == before);
    CHECK(ctx.memory()->use().bytes == before);
    CHECK(ctx.memory()->use().allocations == memory->allocations);
  }
  CHECK(memory->live.empty());
  CHECK(memory->wrong_releases == 0);
}

TEST_BOTH("Only the host's own memory is taken to have a little without being asked", "[memory]") {
  constexpr std::uint64_t little = std::uint64_t{16} << 20;
  const Context<S> own, callers(usual, std::make_shared<ObservedMemory<S>>());
  CHECK(detail::is_negligible(*own.memory(), little) == (S == Space::host));
  CHECK(!detail::is_negligible(*own.memory(), little + 1));
  CHECK(!detail::is_negligible(*callers.memory(), 1));
}

TEST_BOTH("Arrays and copies of a context keep the caller's resource alive", "[memory]") {
  std::weak_ptr<MemoryResource> watched;
  {
    Array<int, S> kept;
    {
      auto memory = std::make_shared<ObservedMemory<S>>();
      watched = memory;
      auto ctx = std::make_unique<Context<S>>(usual, std::move(memory));
      const Context<S> copy_of_it = *ctx;
      ctx.reset();
      kept = upload(copy_of_it, std::vector<int>{7});
    }
    CHECK(!watched.expired());
  }
  CHECK(watched.expired());
}

TEST_BOTH("A context without its resource is refused", "[memory]") {
  const std::shared_ptr<MemoryResource> none;
  CHECK(contains(message_of<InputError>([&] { Context<S>(usual, none); }), "found a null pointer"));
}

TEST_BOTH("std::bad_alloc of a resource is OutOfMemory, with the available bytes where they are known", "[memory]") {
  const auto memory = std::make_shared<ObservedMemory<S>>();
  const Context<S> ctx(usual, memory);
  const std::uint64_t before = memory->live_bytes();
  memory->left = 0;
  const auto allocate = [&] { Array<double, S>(ctx, 1000); };
  const std::string where = "out of " + std::string(name_of(S)) + " memory for an array: ";
  CHECK(message_of<OutOfMemory>(allocate) == where + "8.00 kB needed");
  memory->available = 4000;
  CHECK(message_of<OutOfMemory>(allocate) == where + "8.00 kB needed, 4.00 kB available");
  CHECK(ctx.memory()->use().bytes == before);
  memory->left = 1;
  CHECK(download(ctx, upload(ctx, std::vector<int>{7})) == std::vector<int>{7});
}

TEST_BOTH("An exception of the resource's own reaches the caller as it is", "[memory]") {
  const auto memory = std::make_shared<ObservedMemory<S>>();
  const Context<S> ctx(usual, memory);
  memory->fail = [] { throw OwnFailure(); };
  memory->left = 0;
  CHECK_THROWS_AS((Array<double, S>(ctx, 10)), OwnFailure);
}

TEST_BOTH("A resource that returns null or misaligned memory is told so", "[memory]") {
  const auto memory = std::make_shared<BrokenMemory<S>>();
  const Context<S> ctx(usual, memory);
  const MemoryUse before = ctx.memory()->use();
  memory->null = true;
  CHECK(contains(message_of<InputError>([&] { Array<double, S>(ctx, 10); }), "returned null for 80 bytes"));
  memory->null = false;
  memory->offset = memory_alignment(S) / 2;
  const int releases = memory->releases;
  CHECK(contains(message_of<InputError>([&] { Array<double, S>(ctx, 10); }), "returned misaligned memory"));
  CHECK(memory->releases == releases + 1);
  memory->offset = 0;
  CHECK(ctx.memory()->use().bytes == before.bytes);
  CHECK(ctx.memory()->use().allocations == before.allocations);
}

TEST_BOTH("Unused memory is given back on request, and what arrays hold stays", "[memory]") {
  const auto memory = std::make_shared<ObservedMemory<S>>();
  const Context<S> theirs(usual, memory);
  theirs.release_unused_memory();
  CHECK(memory->releases_of_unused == 1);

  const auto ctx = make_context<S>();
  const std::vector<double> x = random_vector<double>(100003);
  const Array<double, S> kept = upload(ctx, x);
  { const Array<double, S> gone = upload(ctx, x); }
  ctx.release_unused_memory();
  CHECK(same_bits(download(ctx, kept), x));
  CHECK(same_bits(download(ctx, upload(ctx, x)), x));
}

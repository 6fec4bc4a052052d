// SPDX-License-Identifier: Apache-2.0
// Where pointers lead, and streams that wait for each other.
#include "tests/catch.hpp"

#include <cuda_runtime.h>
#include <newel/core/cuda_interop.hpp>

namespace {

constexpr int n = 1000;

struct Stream {
  cudaStream_t handle = nullptr;
  Stream() { REQUIRE(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking) == cudaSuccess); }
  ~Stream() { cudaStreamDestroy(handle); }
};

// Page-locked, so that copies are queued.
struct Locked {
  double* data = nullptr;
  explicit Locked(double value) {
    REQUIRE(cudaMallocHost(&data, n * sizeof(double)) == cudaSuccess);
    for (int i = 0; i < n; ++i) data[i] = value;
  }
  ~Locked() { cudaFreeHost(data); }
};

void queue_copy(double* to, const double* from, cudaMemcpyKind kind, cudaStream_t stream) {
  REQUIRE(cudaMemcpyAsync(to, from, n * sizeof(double), kind, stream) == cudaSuccess);
}

}  // namespace

TEST_ON_DEVICE("Memory of the device is distinguished from that of the host", "[stream_order][device]") {
  const Array<double, Space::device> there(ctx, n);
  const Locked locked(0);
  std::vector<double> here(n);
  CHECK(device_of(there.data()) == ctx.device());
  CHECK(device_of(there.data() + n - 1) == ctx.device());
  CHECK_FALSE(device_of(locked.data).has_value());
  CHECK_FALSE(device_of(here.data()).has_value());
  CHECK_FALSE(device_of(nullptr).has_value());
}

TEST_ON_DEVICE("a context's stream waits for another one and lets it wait", "[stream_order][device]") {
  const Stream stream;
  const Locked from(3), to(0);
  for (const cudaStream_t other : {stream.handle, cudaStream_t{}, ctx.stream()}) {
    StreamOrder order(ctx);
    Array<double, Space::device> first(ctx, n), second(ctx, n);
    ctx.synchronize();
    for (int round = 1; round <= 2; ++round) {
      for (int i = 0; i < n; ++i) from.data[i] = 3 * round, to.data[i] = 0;
      queue_copy(first.data(), from.data, cudaMemcpyHostToDevice, other);
      order.wait_for(other);
      queue_copy(second.data(), first.data(), cudaMemcpyDeviceToDevice, ctx.stream());
      order.let_wait(other);
      queue_copy(to.data, second.data(), cudaMemcpyDeviceToHost, other);
      REQUIRE(cudaStreamSynchronize(other) == cudaSuccess);
      CHECK(to.data[0] == 3 * round);
      CHECK(to.data[n - 1] == 3 * round);
    }
  }
}

TEST_ON_DEVICE("a grid has a thread for each element, and at most so many blocks on a multiprocessor",
               "[stream_order][device]") {
  const auto of_device = static_cast<unsigned>(ctx.multiprocessors());
  CHECK(blocks_to_share(ctx, 0, 256, 8) == 1);
  CHECK(blocks_to_share(ctx, 256, 256, 8) == 1);
  CHECK(blocks_to_share(ctx, 257, 256, 8) == 2);
  CHECK(blocks_to_share(ctx, std::int64_t{1} << 40, 256, 8) == 8 * of_device);
  CHECK(blocks_to_share(ctx, std::int64_t{256} * 8 * of_device - 256, 256, 8) == 8 * of_device - 1);
}

TEST_CASE("the current device is kept", "[stream_order][device]") {
  int before = -1, after = -2;
  REQUIRE(cudaGetDevice(&before) == cudaSuccess);
  {
    const KeptDevice kept;
    int count = 0;
    REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
    REQUIRE(cudaSetDevice(count - 1) == cudaSuccess);
  }
  REQUIRE(cudaGetDevice(&after) == cudaSuccess);
  CHECK(after == before);
}

TEST_ON_DEVICE("a copy to the host does not depend on which device is the current one", "[stream_order][device]") {
  const std::vector<int> few = {3, 1, 4, 1, 5};
  const auto there = make_array(ctx, few);
  const KeptDevice kept;
  int count = 0;
  REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
  REQUIRE(cudaSetDevice(count - 1) == cudaSuccess);  // another one where there are several
  CHECK(to_vector(ctx, there.cspan()) == few);
}

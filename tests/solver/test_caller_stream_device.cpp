// SPDX-License-Identifier: Apache-2.0
// A device context on a stream that the caller owns: work queued before and after a solve keeps its order.
#include "tests/solver/systems.hpp"

#include <cuda_runtime.h>

namespace {

struct Stream {
  cudaStream_t handle = nullptr;
  Stream() { REQUIRE(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking) == cudaSuccess); }
  ~Stream() { cudaStreamDestroy(handle); }
};

}  // namespace

TEST_CASE("a solve joins the work of the caller's stream", "[system][device]") {
  const Rows a = laplacian(40);
  const auto n = static_cast<std::size_t>(a.size());
  const auto b = a.rhs_for(noise(a.size()));
  const Stream stream;
  double *pinned_b = nullptr, *pinned_x = nullptr;
  REQUIRE(cudaMallocHost(&pinned_b, n * sizeof(double)) == cudaSuccess);
  REQUIRE(cudaMallocHost(&pinned_x, n * sizeof(double)) == cudaSuccess);
  std::copy(b.begin(), b.end(), pinned_b);
  {
    const Context<Space::device> ctx(0, stream.handle);
    CHECK(ctx.stream() == stream.handle);
    const Arrays<double, Space::device> arrays(ctx, a);
    LinearSystem<double, Space::device> system(ctx, arrays.view());
    Array<double, Space::device> bs(ctx, a.size()), xs(ctx, a.size());
    // Nothing waits between these: order on the stream is enough.
    REQUIRE(cudaMemcpyAsync(bs.data(), pinned_b, n * sizeof(double), cudaMemcpyHostToDevice, stream.handle) ==
            cudaSuccess);
    REQUIRE(cudaMemsetAsync(xs.data(), 0, n * sizeof(double), stream.handle) == cudaSuccess);
    CHECK(system.solve(bs.cspan(), xs.span()).converged());
    REQUIRE(cudaMemcpyAsync(pinned_x, xs.data(), n * sizeof(double), cudaMemcpyDeviceToHost, stream.handle) ==
            cudaSuccess);
    REQUIRE(cudaStreamSynchronize(stream.handle) == cudaSuccess);
  }
  CHECK(true_residual<double>(a, b, std::vector<double>(pinned_x, pinned_x + n)) <= 1e-8 * norm(b) * (1 + 1e-6));
  // The stream is the caller's: it outlives the context.
  CHECK(cudaStreamSynchronize(stream.handle) == cudaSuccess);
  cudaFreeHost(pinned_b);
  cudaFreeHost(pinned_x);
}

TEST_CASE("a device that is not there is named", "[device]") {
  try {
    const Context<Space::device> ctx(4711);
    FAIL("device 4711 answered");
  } catch (const DeviceError& e) {
    CHECK(contains(std::string(e.what()), "4711"));
  }
}

TEST_ON_DEVICE("a system too large for the device says how much was wanted and how much was there",
               "[system][device]") {
  // Two billion empty rows: the estimate alone refuses it, before the row pointers are inspected.
  const CsrView<double, Space::device> huge(2000000000, 2000000000,
                                            Span<const Offset, Space::device>(nullptr, 2000000001), {}, {});
  SystemOptions options = system_options("gmres");
  try {
    LinearSystem<double, Space::device> system(ctx, huge, options);
    FAIL("600 GB were found");
  } catch (const OutOfMemory& e) {
    CHECK(e.on_device());
    CHECK(e.wanted_bytes() > e.available_bytes());
    CHECK(e.available_bytes() > 0);
  }
}

// SPDX-License-Identifier: Apache-2.0
// Devices that send each other rows and sums, each by a thread of its own: peers DEVICES
// [unawaited | unsummed | lost | alone]. The second argument breaks the protocol: rows are read before they have come,
// sent again before all have been read, one device sends nothing, or one block tells, which others do not let begin.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "core/ranks/peer_rows_device.cuh"
#include "core/ranks/peer_sums_device.cuh"

using namespace newel;
using namespace newel::detail;

namespace {

constexpr int rows = 300, rounds = 40, blocks = 5, threads = 64;

__host__ __device__ double value_of(int device, int round, int row) {
  return 1e6 * device + 1e3 * round + 1e-3 * row + 1e-12;
}

// Row i is value_of(...), and goes to the devices that want it. Blocks deal out the rows.
__global__ void __launch_bounds__(threads) send_kernel(const PeerRows<double> to, int device, int round) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < rows; i += blocks * threads) {
    if (i >= to.first) send_row(to, i, value_of(device, round, i));
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) count_round(to);
}

// Ghost k of the device before is row 2 k, of the one after row 3 k.
__global__ void __launch_bounds__(threads)
    read_kernel(const PeerArrivals from, const double* ghosts, int count, int before, int after, int round, bool waits,
                bool all_tell, unsigned* wrong) {
  if (threadIdx.x == 0 && (all_tell || blockIdx.x == blocks / 2)) tell_readers(from);
  if (waits) await_rows(from);
  for (int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); k < 2 * count; k += blocks * threads) {
    const double expected = k < count ? value_of(before, round, 2 * k) : value_of(after, round, 3 * (k - count));
    if (ghosts[k] != expected) *wrong += 1;
  }
}

__global__ void __launch_bounds__(threads) sum_kernel(const PeerSums peers, int round, unsigned* wrong) {
  __shared__ double mine[3], all[3 * PeerSums::most_ranks];
  if (threadIdx.x < 3) mine[threadIdx.x] = value_of(peers.rank, round, static_cast<int>(threadIdx.x));
  __syncthreads();
  gather_from_peers(peers, mine, 3, all);
  for (int k = static_cast<int>(threadIdx.x); k < 3 * peers.size; k += threads) {
    if (all[k] != value_of(k / 3, round, k % 3)) *wrong += 1;
  }
}

template <class T>
T* zeros(std::size_t count) {
  T* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemset(memory, 0, count * sizeof(T));
  return memory;
}
template <class T>
const T* on_device(const std::vector<T>& values) {
  T* const memory = zeros<T>(values.size());
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

constexpr int ghosts = rows / 3;  // of each neighbour

// What every device shows to the others.
struct Shared {
  double* ghosts;
  std::uint64_t* told;
  PeerPacket* inbox;
};

unsigned run_device(int device, int devices, const std::vector<Shared>& shared, const std::string& fault) {
  cudaSetDevice(device);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const int before = (device + devices - 1) % devices, after = (device + 1) % devices;
  // The device after has this one before it, and wants its even rows; the one before wants every third.
  std::vector<Index> place(rows, -1);
  std::vector<std::uint64_t> target;
  for (int i = 0; i < rows; ++i) {
    const auto add = [&](double* at) {
      if (place[i] < 0)
        place[i] = static_cast<Index>(target.size());
      else
        target.back() |= 1;
      target.push_back(reinterpret_cast<std::uint64_t>(at));
    };
    if (i % 2 == 0 && i / 2 < ghosts) add(shared[after].ghosts + i / 2);
    if (i % 3 == 0) add(shared[before].ghosts + ghosts + i / 3);
  }
  std::uint64_t* const round_count = zeros<std::uint64_t>(1);
  unsigned* const failed = zeros<unsigned>(1);
  unsigned* const wrong = zeros<unsigned>(1);
  const std::vector<std::uint64_t*> there = {shared[after].told + device, shared[before].told + device};
  const std::vector<const std::uint64_t*> here = {shared[device].told + before, shared[device].told + after};
  const PeerRows<double> to{0, on_device(place), on_device(target), round_count};
  const PeerArrivals from{2, on_device(there), 2, on_device(here), round_count, failed};
  PeerSums peers{};
  for (int r = 0; r < devices; ++r) peers.inbox[r] = shared[r].inbox;
  peers.packets_of_rank = 6;
  peers.packets = peers.packets_of_rank * devices;
  peers.gatherings = zeros<unsigned>(1);
  peers.failed = failed;
  peers.rank = device;
  peers.size = devices;
  for (int round = 0; round < rounds; ++round) {
    if (fault == "lost" && device == 0 && round == rounds / 2) break;
    send_kernel<<<blocks, threads, 0, stream>>>(to, device, round);
    read_kernel<<<blocks, threads, 0, stream>>>(from, shared[device].ghosts, ghosts, before, after, round,
                                                fault != "unawaited", fault != "alone", wrong);
    if (fault != "unsummed") sum_kernel<<<1, threads, 0, stream>>>(peers, round, wrong);
  }
  unsigned found = 0;
  cudaMemcpyAsync(&found, wrong, sizeof(found), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  return found;
}

}  // namespace

int main(int count, char** arguments) {
  const int devices = std::atoi(arguments[1]);
  const std::string fault = count > 2 ? arguments[2] : "";
  std::vector<Shared> shared;
  for (int d = 0; d < devices; ++d) {
    cudaSetDevice(d);
    shared.push_back({zeros<double>(2 * ghosts), zeros<std::uint64_t>(devices), zeros<PeerPacket>(2 * 6 * devices)});
  }
  std::vector<unsigned> wrong(devices);
  std::vector<std::thread> ranks;
  for (int d = 0; d < devices; ++d) {
    ranks.emplace_back([&, d] { wrong[d] = run_device(d, devices, shared, fault); });
  }
  for (std::thread& rank : ranks) rank.join();
  unsigned all = 0;
  for (const unsigned of_rank : wrong) all += of_rank;
  std::printf("%s\n", all == 0 ? "right" : "wrong");
}

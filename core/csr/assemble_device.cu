// SPDX-License-Identifier: Apache-2.0
// Assembly on the device: a key of row and column for each entry, CUB's stable radix sort of keys with the positions
// of their values, and a scan that counts different keys. One thread an element throughout.
#include <algorithm>
#include <utility>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "core/memory/context_device.hpp"
#include "core/csr/input_entries.hpp"

namespace newel::detail {
namespace {

using DeviceContext = Context<Space::device>;
using Key = std::uint64_t;
template <class T>
using DeviceArray = Array<T, Space::device>;

constexpr int block_threads = 256;
constexpr unsigned long long none = ~0ull;

// Calls f(i) for i in [0, n), one thread an element.
template <class F>
__device__ __forceinline__ void for_each_element(std::int64_t n, F&& f) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) f(i);
}

unsigned grid_for(const DeviceContext& ctx, std::int64_t n) { return blocks_to_share(ctx, n, block_threads, 16); }

__global__ void bad_line_kernel(InputEntries e, std::int64_t lines, unsigned long long* first) {
  for_each_element(lines, [&](std::int64_t i) {
    const std::int64_t begin = e.lines[i], end = e.lines[i + 1];
    if (begin < 0 || begin > end || end > e.items) atomicMin(first, static_cast<unsigned long long>(i));
  });
}

__global__ void bad_item_kernel(InputEntries e, unsigned long long* first) {
  for_each_element(e.items, [&](std::int64_t k) {
    if (e.fault(e.line_of(k), e.indices[k]) != EntryFault::none) atomicMin(first, static_cast<unsigned long long>(k));
  });
}

// The least number that `find` leaves, -1 for none.
template <class Find>
std::int64_t first_found(const DeviceContext& ctx, Find&& find) {
  DeviceArray<unsigned long long> first(ctx, 1);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(first.data(), 0xff, first.bytes(), ctx.stream()));
  find(first.data());
  NEWEL_CHECK_LAUNCH();
  const unsigned long long found = to_vector(ctx, first.cspan())[0];
  return found == none ? -1 : static_cast<std::int64_t>(found);
}

// How rows and columns lie in a key; what `nowhere` marks is sorted behind all of them.
struct Keys {
  int col_bits, row_bits;

  NEWEL_HD Key of(Index row, Index col) const { return (static_cast<Key>(row) << col_bits) | static_cast<Key>(col); }
  NEWEL_HD Key row_begin(std::int64_t row) const { return static_cast<Key>(row) << col_bits; }
  NEWEL_HD Index col_of(Key key) const { return static_cast<Index>(key & ((Key{1} << col_bits) - 1)); }
  NEWEL_HD Key nowhere() const { return Key{1} << (col_bits + row_bits); }
};

// Bits that hold the numbers below n, and one at least: a sort by no bit at all is not asked for.
int bits_below(Index n) {
  int bits = 1;
  while ((std::int64_t{1} << bits) < n) ++bits;
  return bits;
}

// Of a half, the mirror images follow behind all stored values.
__global__ void keys_kernel(InputEntries e, Keys keys, std::int64_t values, Key* __restrict__ key,
                            Offset* __restrict__ source) {
  for_each_element(values, [&](std::int64_t p) {
    const Offset k = e.per_block > 1 ? p / e.per_block : p;
    const Place at = e.place(p, e.line_of(k), e.indices[k]);
    key[p] = keys.of(at.row, at.col);
    source[p] = p;
    if (!e.half) return;
    key[values + p] = at.mirrored ? keys.of(at.col, at.row) : keys.nowhere();
    source[values + p] = p;
  });
}

// row_ptr[i] = the position of the first sorted key of row i or behind, i = 0 .. rows.
__global__ void row_begin_kernel(Index rows, std::int64_t count, const Key* __restrict__ sorted, Keys keys,
                                 Offset* __restrict__ row_ptr) {
  for_each_element(std::int64_t{rows} + 1, [&](std::int64_t i) {
    const Key wanted = i < rows ? keys.row_begin(i) : keys.nowhere();
    std::int64_t low = 0, high = count;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (sorted[middle] < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    row_ptr[i] = low;
  });
}

__global__ void heads_kernel(std::int64_t count, const Key* __restrict__ sorted, Offset* __restrict__ head) {
  for_each_element(count, [&](std::int64_t k) { head[k] = k == 0 || sorted[k - 1] != sorted[k] ? 1 : 0; });
}

// heads[k]: how many different keys there are up to k.
__global__ void entries_kernel(std::int64_t count, const Key* __restrict__ sorted, const Offset* __restrict__ heads,
                               Keys keys, Index* __restrict__ col, Offset* __restrict__ begin) {
  for_each_element(count, [&](std::int64_t k) {
    if (k == count - 1) begin[heads[k]] = count;
    if (k > 0 && heads[k - 1] == heads[k]) return;
    col[heads[k] - 1] = keys.col_of(sorted[k]);
    begin[heads[k] - 1] = k;
  });
}

// From positions among the sorted keys to positions among the different ones.
__global__ void row_ptr_kernel(Index rows, std::int64_t count, const Offset* __restrict__ heads, Offset* row_ptr) {
  for_each_element(std::int64_t{rows} + 1, [&](std::int64_t i) {
    const Offset k = row_ptr[i];
    row_ptr[i] = k == 0 ? 0 : k < count ? heads[k] - 1 : heads[count - 1];
  });
}

Keys keys_of(const InputEntries& e) { return {bits_below(e.cols()), bits_below(e.rows())}; }

// What is sorted: of a half, a value and its mirror image.
Offset sorted_count(const InputEntries& e) { return e.half ? 2 * e.values() : e.values(); }

struct Entries {
  DeviceArray<Key> key;
  DeviceArray<Offset> source;

  Entries() = default;
  Entries(const DeviceContext& ctx, Offset count) : key(ctx, count), source(ctx, count) {}
};

// CUB's sort with `bytes` of memory; where that is null it only says in `bytes` how many it takes.
void sort(const DeviceContext& ctx, const InputEntries& e, Entries& from, Entries& to, void* memory,
          std::size_t& bytes) {
  const Keys keys = keys_of(e);
  const int bits = keys.col_bits + keys.row_bits + (e.half ? 1 : 0);
  NEWEL_CHECK_CUDA(cub::DeviceRadixSort::SortPairs(memory, bytes, from.key.data(), to.key.data(), from.source.data(),
                                                   to.source.data(), sorted_count(e), 0, bits, ctx.stream()));
}

Entries sorted_entries(const DeviceContext& ctx, const InputEntries& e) {
  const Offset values = e.values();
  Entries entries(ctx, sorted_count(e));
  keys_kernel<<<grid_for(ctx, values), block_threads, 0, ctx.stream()>>>(e, keys_of(e), values, entries.key.data(),
                                                                         entries.source.data());
  NEWEL_CHECK_LAUNCH();
  Entries sorted(ctx, sorted_count(e));
  std::size_t bytes = 0;
  sort(ctx, e, entries, sorted, nullptr, bytes);
  DeviceArray<unsigned char> memory(ctx, static_cast<std::int64_t>(bytes));
  sort(ctx, e, entries, sorted, memory.data(), bytes);
  return sorted;
}

__global__ void carry_kernel(const Offset* sum, Offset* next) { *next += *sum; }

// The sums of the first 1, 2, ... numbers, a piece after the other: CUB before CUDA 12.8 counts what it scans by an
// int.
DeviceArray<Offset> scanned(const DeviceContext& ctx, DeviceArray<Offset> numbers) {
  constexpr std::int64_t piece = std::int64_t{1} << 30;
  DeviceArray<Offset> sums(ctx, numbers.size());
  DeviceArray<unsigned char> memory;
  for (std::int64_t begin = 0; begin < numbers.size(); begin += piece) {
    const int count = static_cast<int>(std::min(piece, numbers.size() - begin));
    if (begin > 0) carry_kernel<<<1, 1, 0, ctx.stream()>>>(sums.data() + begin - 1, numbers.data() + begin);
    std::size_t bytes = static_cast<std::size_t>(memory.size());
    const auto scan = [&](void* at) {
      NEWEL_CHECK_CUDA(
          cub::DeviceScan::InclusiveSum(at, bytes, numbers.data() + begin, sums.data() + begin, count, ctx.stream()));
    };
    if (begin == 0) {
      scan(nullptr);
      memory = DeviceArray<unsigned char>(ctx, static_cast<std::int64_t>(bytes));
    }
    scan(memory.data());
  }
  return sums;
}

Offset number_at(const DeviceContext& ctx, const DeviceArray<Offset>& numbers, std::int64_t i) {
  return to_vector(ctx, numbers.cspan().subspan(i, 1))[0];
}

// How many different keys come up to each of the first `count`.
DeviceArray<Offset> count_keys(const DeviceContext& ctx, const DeviceArray<Key>& sorted, std::int64_t count) {
  DeviceArray<Offset> heads(ctx, count);
  heads_kernel<<<grid_for(ctx, count), block_threads, 0, ctx.stream()>>>(count, sorted.data(), heads.data());
  NEWEL_CHECK_LAUNCH();
  return scanned(ctx, std::move(heads));
}

AssembledPattern<Space::device> without_entries(const DeviceContext& ctx, Index rows) {
  AssembledPattern<Space::device> a;
  a.row_ptr = DeviceArray<Offset>(ctx, Offset{rows} + 1);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(a.row_ptr.data(), 0, a.row_ptr.bytes(), ctx.stream()));
  a.begin = DeviceArray<Offset>(ctx, 1);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(a.begin.data(), 0, a.begin.bytes(), ctx.stream()));
  return a;
}

}  // namespace

std::int64_t first_bad_line(const DeviceContext& ctx, const InputEntries& e) {
  const std::int64_t lines = e.line_count();
  return first_found(ctx, [&](unsigned long long* first) {
    bad_line_kernel<<<grid_for(ctx, lines), block_threads, 0, ctx.stream()>>>(e, lines, first);
  });
}

Offset first_bad_item(const DeviceContext& ctx, const InputEntries& e) {
  return first_found(ctx, [&](unsigned long long* first) {
    bad_item_kernel<<<grid_for(ctx, e.items), block_threads, 0, ctx.stream()>>>(e, first);
  });
}

// The sort's: keys and sources, before and after, and what CUB takes.
std::uint64_t assembly_bytes(const DeviceContext& ctx, const InputEntries& e) {
  if (e.items == 0) return 0;
  Entries none;
  std::size_t bytes = 0;
  sort(ctx, e, none, none, nullptr, bytes);
  return 2 * static_cast<std::uint64_t>(sorted_count(e)) * (sizeof(Key) + sizeof(Offset)) + bytes;
}

AssembledPattern<Space::device> assemble(const DeviceContext& ctx, const InputEntries& e) {
  const Index rows = e.rows();
  if (e.items == 0) return without_entries(ctx, rows);
  const Keys keys = keys_of(e);
  Entries sorted = sorted_entries(ctx, e);

  AssembledPattern<Space::device> a;
  a.row_ptr = DeviceArray<Offset>(ctx, Offset{rows} + 1);
  row_begin_kernel<<<grid_for(ctx, rows), block_threads, 0, ctx.stream()>>>(
      rows, sorted.key.size(), sorted.key.data(), keys, a.row_ptr.data());
  NEWEL_CHECK_LAUNCH();
  const Offset count = number_at(ctx, a.row_ptr, rows);  // without what was sorted behind
  const DeviceArray<Offset> heads = count_keys(ctx, sorted.key, count);
  const Offset different = number_at(ctx, heads, count - 1);
  a.col = DeviceArray<Index>(ctx, different);
  a.begin = DeviceArray<Offset>(ctx, different + 1);
  entries_kernel<<<grid_for(ctx, count), block_threads, 0, ctx.stream()>>>(count, sorted.key.data(), heads.data(),
                                                                           keys, a.col.data(), a.begin.data());
  NEWEL_CHECK_LAUNCH();
  row_ptr_kernel<<<grid_for(ctx, rows), block_threads, 0, ctx.stream()>>>(rows, count, heads.data(),
                                                                          a.row_ptr.data());
  NEWEL_CHECK_LAUNCH();
  a.source = std::move(sorted.source);
  return a;
}

}  // namespace newel::detail

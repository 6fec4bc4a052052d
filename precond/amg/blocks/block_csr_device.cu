// SPDX-License-Identifier: Apache-2.0
// Matrices of dense blocks on the device: from a matrix in any order, with a symmetric pattern; transposed; and as
// single entries.
#include <cub/device/device_radix_sort.cuh>

#include "precond/amg/blocks/block_csr_device.hpp"
#include "precond/amg/blocks/pattern_rows_device.cuh"
#include "reorder/permute_pattern.hpp"

namespace newel::detail {
namespace {

using Key = std::uint32_t;

struct RowOfBlocks {
  const Offset* row_ptr;
  Index* row;

  __device__ void operator()(const RowLanes& at) const {
    const Offset end = row_ptr[at.row + 1];
    for (Offset k = row_ptr[at.row] + at.lane; k < end; k += RowLanes::count) row[k] = at.row;
  }
};

// What has no key is sorted behind all others.
struct KeysOfElements {
  const Index* key;
  Index keys;
  Key* sorted;
  Offset* element;

  __device__ void operator()(std::int64_t i) const {
    sorted[i] = static_cast<Key>(key[i] < 0 ? keys : key[i]);
    element[i] = i;
  }
};

// begin[j] = how many keys are smaller than j.
struct GroupBegin {
  const Key* sorted;
  std::int64_t count;
  Offset* begin;

  __device__ void operator()(std::int64_t j) const {
    std::int64_t low = 0, high = count;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (sorted[middle] < static_cast<Key>(j))
        low = middle + 1;
      else
        high = middle;
    }
    begin[j] = low;
  }
};

struct DiagonalPlace {
  PatternView a;
  Offset* place;

  __device__ void operator()(std::int64_t i) const {
    place[i] = a.find(static_cast<Index>(i), static_cast<Index>(i));
  }
};

struct ColumnsOfSources {
  const Offset* source;
  const Index* row;
  Index* col;

  __device__ void operator()(std::int64_t k) const { col[k] = row[source[k]]; }
};

// Whether the rows of a node have one pattern, made of aligned runs of `block` columns.
struct FullBlocks {
  EntriesView a;
  int block;
  unsigned* refused;

  __device__ void operator()(std::int64_t node) const {
    const auto row = static_cast<Index>(node) * block;
    const Offset begin = a.begin(row), length = a.end(row) - begin;
    bool full = length % block == 0;
    for (int r = 0; r < block && full; ++r) full = a.end(row + r) - a.begin(row + r) == length;
    for (Offset k = 0; k < length && full; ++k) {
      const Index column = a.col[begin + k];
      full = column % block == k % block && (k % block == 0 || column == a.col[begin + k - 1] + 1);
      for (int r = 1; r < block && full; ++r) full = a.col[a.begin(row + r) + k] == column;
    }
    if (!full) *refused = 1;
  }
};

// The blocks of a row of nodes.
struct BlockColumns {
  EntriesView a;
  int block;

  template <class F>
  __device__ void visit(Index node, int lane, int lanes, F&& f) const {
    const Index row = node * block;
    for (int r = 0; r < block; ++r) {
      for (Offset k = a.begin(row + r) + lane; k < a.end(row + r); k += lanes) f(a.col[k] / block);
    }
  }
};

// What is missing for a symmetric pattern.
struct MissingOpposites {
  PatternView a;
  const Index* row_of;
  unsigned* missing;

  __device__ void operator()(std::int64_t k) const {
    if (a.col[k] < a.rows && a.find(a.col[k], row_of[k]) < 0) *missing = 1;
  }
};

// A thread merges two rows: first their columns are counted, with `col` null; then written.
struct UnitedRow {
  PatternView a, b;
  Offset* row_ptr;
  Index* col;

  __device__ void operator()(std::int64_t row) const {
    const auto i = static_cast<Index>(row);
    Offset k = a.begin(i), l = b.begin(i), count = 0;
    const Offset k_end = a.end(i), l_end = b.end(i);
    Index* const to = col == nullptr ? nullptr : col + row_ptr[i];
    while (k < k_end || l < l_end) {
      const Index of_a = k < k_end ? a.col[k] : a.cols, of_b = l < l_end ? b.col[l] : a.cols;
      const Index least = of_a < of_b ? of_a : of_b;
      if (to != nullptr) to[count] = least;
      ++count;
      k += of_a == least ? 1 : 0;
      l += of_b == least ? 1 : 0;
    }
    if (to == nullptr) row_ptr[i] = count;
  }
};

// Places each entry of a row in its block. `source` is -1 elsewhere.
struct PlaceEntries {
  EntriesView a;
  const Offset* place;  // of each entry in the caller's order; null: its own
  PatternView to;
  int block;
  Offset* source;

  __device__ void operator()(const RowLanes& lanes) const {
    const Index i = lanes.row, node = i / block;
    const int r = i % block;
    const Offset end = a.end(i);
    for (Offset k = a.begin(i) + lanes.lane; k < end; k += RowLanes::count) {
      const Offset at = to.find(node, a.col[k] / block);
      source[(at * block + r) * block + a.col[k] % block] = place == nullptr ? k : place[k];
    }
  }
};

template <class T>
struct TakeValues {
  const Offset* source;
  const T* from;
  double* to;

  __device__ void operator()(std::int64_t k) const {
    to[k] = source[k] < 0 ? 0.0 : static_cast<double>(from[source[k]]);
  }
};

struct EntryCounts {
  PatternView a;
  int m, n;
  Offset* counts;

  __device__ void operator()(std::int64_t i) const {
    const auto node = static_cast<Index>(i / m);
    counts[i] = (a.end(node) - a.begin(node)) * n;
  }
};

// A thread has a row of single entries.
struct EntriesOfBlocks {
  PatternView a;
  int m, n;
  const Offset* row_ptr;
  Index* col;
  Offset* source;

  __device__ void operator()(std::int64_t i) const {
    const auto node = static_cast<Index>(i / m);
    const auto r = static_cast<int>(i % m);
    Offset at = row_ptr[i];
    for (Offset k = a.begin(node); k < a.end(node); ++k) {
      for (int c = 0; c < n; ++c, ++at) {
        col[at] = a.col[k] * n + c;
        source[at] = (k * m + r) * n + c;
      }
    }
  }
};

template <class From, class To>
struct Copied {
  const From* from;
  To* to;

  __device__ void operator()(std::int64_t i) const { to[i] = static_cast<To>(from[i]); }
};

// The pattern of A in blocks; where an entry has no opposite, with one of zeros. Columns behind the rows, which are
// of other ranks, need none, and those of a row of such a matrix may be in any order.
BlockPattern<Space::device> symmetric_blocks(const DeviceContext& ctx, const Pattern<Space::device>& a, int block) {
  BlockPattern<Space::device> p;
  if (block == 1 && a.cols == a.rows) {
    p.rows = p.cols = a.rows;
    p.row_ptr = DeviceArray<Offset>(ctx, Offset{a.rows} + 1);
    if (a.wide()) {
      copy<Offset>(ctx, a.row_ptr64, p.row_ptr.span());
    } else {
      for_elements(ctx, p.row_ptr.size(), Copied<std::int32_t, Offset>{a.row_ptr32.data, p.row_ptr.data()});
    }
    p.col = make_array(ctx, a.col);
  } else {
    p = collect_rows<8>(ctx, a.rows / block, a.cols / block, BlockColumns{EntriesView(a), block});
  }
  const DeviceArray<Index> row_of = rows_of_blocks(ctx, p);
  DeviceArray<unsigned> missing = zeros<unsigned>(ctx, 1);
  for_elements(ctx, p.blocks(), MissingOpposites{p, row_of.data(), missing.data()});
  if (value_at(ctx, missing, 0) == 0) return p;
  return united(ctx, p, transpose(ctx, p).pattern);
}

}  // namespace

DeviceArray<Index> rows_of_blocks(const DeviceContext& ctx, const BlockPattern<Space::device>& p) {
  DeviceArray<Index> row(ctx, p.blocks());
  for_rows_by_lanes(ctx, p.rows, RowOfBlocks{p.row_ptr.data(), row.data()});
  return row;
}

Groups group_by_key(const DeviceContext& ctx, const DeviceArray<Index>& key, Index keys) {
  const std::int64_t n = key.size();
  Groups groups;
  groups.begin = DeviceArray<Offset>(ctx, Offset{keys} + 1);
  groups.element = DeviceArray<Offset>(ctx, n);
  DeviceArray<Key> from(ctx, n), sorted(ctx, n);
  DeviceArray<Offset> elements(ctx, n);
  for_elements(ctx, n, KeysOfElements{key.data(), keys, from.data(), elements.data()});
  int bits = 1;
  while ((std::int64_t{1} << bits) <= keys) ++bits;
  std::size_t bytes = 0;
  const auto sort = [&](void* memory) {
    NEWEL_CHECK_CUDA(cub::DeviceRadixSort::SortPairs(memory, bytes, from.data(), sorted.data(), elements.data(),
                                                     groups.element.data(), n, 0, bits, ctx.state().stream()));
  };
  if (n > 0) {
    sort(nullptr);
    DeviceArray<unsigned char> memory(ctx, static_cast<std::int64_t>(bytes));
    sort(memory.data());
  }
  for_elements(ctx, groups.begin.size(), GroupBegin{sorted.data(), n, groups.begin.data()});
  return groups;
}

DeviceArray<Offset> diagonal_places(const DeviceContext& ctx, const BlockPattern<Space::device>& a) {
  DeviceArray<Offset> place(ctx, a.rows);
  for_elements(ctx, a.rows, DiagonalPlace{a, place.data()});
  return place;
}

TransposedPattern<Space::device> transpose(const DeviceContext& ctx, const BlockPattern<Space::device>& a) {
  TransposedPattern<Space::device> t;
  const DeviceArray<Index> row_of = rows_of_blocks(ctx, a);
  Groups groups = group_by_key(ctx, a.col, a.cols);
  t.pattern.rows = a.cols;
  t.pattern.cols = a.rows;
  t.pattern.row_ptr = std::move(groups.begin);
  t.pattern.col = DeviceArray<Index>(ctx, a.blocks());
  t.source = std::move(groups.element);
  for_elements(ctx, a.blocks(), ColumnsOfSources{t.source.data(), row_of.data(), t.pattern.col.data()});
  return t;
}

BlockPattern<Space::device> united(const DeviceContext& ctx, const BlockPattern<Space::device>& a,
                                   const BlockPattern<Space::device>& b) {
  BlockPattern<Space::device> p;
  p.rows = a.rows;
  p.cols = a.cols;
  p.row_ptr = zeros<Offset>(ctx, Offset{a.rows} + 1);
  for_elements(ctx, p.rows, UnitedRow{a, b, p.row_ptr.data(), nullptr});
  exclusive_sum(ctx, p.row_ptr);
  p.col = DeviceArray<Index>(ctx, value_at(ctx, p.row_ptr, p.rows));
  if (!p.col.empty()) for_elements(ctx, p.rows, UnitedRow{a, b, p.row_ptr.data(), p.col.data()});
  return p;
}

int full_block_on_device(const DeviceContext& ctx, const Pattern<Space::device>& a, int largest) {
  for (int block = largest; block > 1; --block) {
    if (a.rows % block != 0 || a.nnz() % (block * block) != 0 || a.nnz() == 0) continue;
    DeviceArray<unsigned> refused = zeros<unsigned>(ctx, 1);
    for_elements(ctx, a.rows / block, FullBlocks{EntriesView(a), block, refused.data()});
    if (value_at(ctx, refused, 0) == 0) return block;
  }
  return 1;
}

CallersPattern in_callers_order(const DeviceContext& ctx, const Pattern<Space::device>& a,
                                const RowOrder<Space::device>& order) {
  CallersPattern result;
  if (order.natural()) {
    result.pattern = a;
    return result;
  }
  result.permuted = permute_pattern(ctx, a, order.new_of_old.cspan(), order.old_of_new.cspan());
  result.pattern.rows = result.pattern.cols = a.rows;
  result.pattern.row_ptr64 = result.permuted.row_ptr.cspan();
  result.pattern.col = result.permuted.col.cspan();
  return result;
}

template <class T>
BlockCsr<Space::device> make_block_csr(const DeviceContext& ctx, const CallersPattern& a,
                                       Span<const T, Space::device> values, int block, DeviceArray<Offset>& source) {
  BlockCsr<Space::device> result;
  result.row_block = result.col_block = block;
  result.pattern = symmetric_blocks(ctx, a.pattern, block);
  const Offset n = result.pattern.blocks() * result.block_size();
  result.val = DeviceArray<double>(ctx, n);
  source = DeviceArray<Offset>(ctx, n);
  if (n > 0) NEWEL_CHECK_CUDA(cudaMemsetAsync(source.data(), 0xff, source.bytes(), ctx.state().stream()));
  const Offset* const place = a.permuted.source.empty() ? nullptr : a.permuted.source.data();
  for_rows_by_lanes(ctx, a.pattern.rows,
                    PlaceEntries{EntriesView(a.pattern), place, result.pattern, block, source.data()});
  for_elements(ctx, n, TakeValues<T>{source.data(), values.data, result.val.data()});
  return result;
}

ScalarPattern<Space::device> scalar_rows(const DeviceContext& ctx, const BlockCsr<Space::device>& a) {
  ScalarPattern<Space::device> s;
  s.rows = a.scalar_rows();
  s.cols = a.scalar_cols();
  s.row_ptr = zeros<Offset>(ctx, Offset{s.rows} + 1);
  for_elements(ctx, s.rows, EntryCounts{a.pattern, a.row_block, a.col_block, s.row_ptr.data()});
  exclusive_sum(ctx, s.row_ptr);
  const Offset n = a.pattern.blocks() * a.block_size();
  s.col = DeviceArray<Index>(ctx, n);
  s.source = DeviceArray<Offset>(ctx, n);
  for_elements(ctx, s.rows,
               EntriesOfBlocks{a.pattern, a.row_block, a.col_block, s.row_ptr.data(), s.col.data(), s.source.data()});
  return s;
}

template BlockCsr<Space::device> make_block_csr(const DeviceContext&, const CallersPattern&,
                                                Span<const double, Space::device>, int, DeviceArray<Offset>&);
template BlockCsr<Space::device> make_block_csr(const DeviceContext&, const CallersPattern&,
                                                Span<const float, Space::device>, int, DeviceArray<Offset>&);

}  // namespace newel::detail

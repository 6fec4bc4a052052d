// SPDX-License-Identifier: Apache-2.0
// CsrRows: how a pattern on the device is cut into chunks of equal work.
#include <algorithm>

#include <newel/core/vector_ops.hpp>
#include "core/memory/context_device.hpp"
#include "spmv/csr/csr_rows.hpp"
#include "spmv/product_device.cuh"

namespace newel::detail {
namespace {

using Tuning = CsrRowsTuning;

constexpr int search_threads = 256;

/// Where a row begins on the path.
template <class P>
__device__ __forceinline__ Offset step_of(const P* row_ptr, Index row) {
  return Offset{load_cached(row_ptr + row)} + row / Tuning::rows_of_step;
}

/// The border at `step` of the path, behind empty rows that take no step, and whether it cuts a row.
template <class P>
__device__ __forceinline__ CsrBorder border_at(const P* row_ptr, Index rows, Offset step) {
  Index low = 0, high = rows;  // step_of(low) <= step < step_of(high)
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    if (step_of(row_ptr, middle) <= step)
      low = middle;
    else
      high = middle;
  }
  const Offset begin = load_cached(row_ptr + low), length = Offset{load_cached(row_ptr + low + 1)} - begin;
  const Offset inside = step - step_of(row_ptr, low);
  if (length <= Tuning::uncut || inside == 0) return {begin, low, CsrBorder::between_rows};
  if (inside == length) return {begin + length, low + 1, CsrBorder::between_rows};
  return {begin + inside, low, 0};
}

/// A thread finds a border.
template <class P>
__global__ void __launch_bounds__(search_threads)
    find_borders(const P* row_ptr, Index rows, Offset path, Offset chunks, CsrBorder* border, Index* cuts) {
  const Offset k = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (k > chunks) return;
  CsrBorder found{0, 0, CsrBorder::between_rows};  // of the first chunk, with all empty rows before the first entry
  if (k == chunks) found = {Offset{load_cached(row_ptr + rows)}, rows, CsrBorder::between_rows};
  if (k > 0 && k < chunks) found = border_at(row_ptr, rows, k * path);
  border[k] = found;
  if (found.piece != CsrBorder::between_rows) atomicAdd(cuts, 1);
}

/// The entries of the longest row.
template <class P>
__global__ void __launch_bounds__(search_threads) find_longest(const P* row_ptr, Index rows, Index* longest) {
  Index mine = 0;
  for (Offset row = Offset{blockIdx.x} * blockDim.x + threadIdx.x; row < rows;
       row += Offset{gridDim.x} * blockDim.x) {
    const Offset length = Offset{load_cached(row_ptr + row + 1)} - Offset{load_cached(row_ptr + row)};
    mine = max(mine, static_cast<Index>(length));
  }
  for (int step = 16; step > 0; step /= 2) mine = max(mine, __shfl_xor_sync(0xffffffffu, mine, step));
  if (threadIdx.x % 32 == 0) atomicMax(longest, mine);
}

template <class T>
Index find_longest_row(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a) {
  Array<Index, Space::device> longest(ctx, 1);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(longest.data(), 0, sizeof(Index), ctx.state().stream()));
  constexpr int blocks_of_multiprocessor = 8;
  const unsigned blocks = blocks_to_share(ctx, a.rows, search_threads, blocks_of_multiprocessor);
  with_row_ptr(a, [&](auto row_ptr) {
    find_longest<<<blocks, search_threads, 0, ctx.state().stream()>>>(row_ptr.data, a.rows, longest.data());
  });
  NEWEL_CHECK_LAUNCH();
  return to_vector(ctx, longest.cspan())[0];
}

// Multiples of what all blocks can have at the same time, so that none has a chunk more than the others.
Offset path_of_chunk(Offset path, Offset entries, Offset most_blocks, Index longest) {
  const Offset most = entries - std::min<Index>(longest, Tuning::uncut);
  const Offset rounds = std::max<Offset>(1, (path + most * most_blocks - 1) / (most * most_blocks));
  return std::clamp<Offset>((path + rounds * most_blocks - 1) / (rounds * most_blocks), Tuning::least_path, most);
}

// Returns how many cut a row; `may_cut`: whether any is long enough.
template <class T>
Index fill_borders(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, Offset path,
                   Span<CsrBorder, Space::device> border, bool may_cut) {
  Array<Index, Space::device> cuts(ctx, 1);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(cuts.data(), 0, sizeof(Index), ctx.state().stream()));
  const auto blocks = static_cast<unsigned>((border.size + search_threads - 1) / search_threads);
  with_row_ptr(a, [&](auto row_ptr) {
    find_borders<<<blocks, search_threads, 0, ctx.state().stream()>>>(row_ptr.data, a.rows, path, border.size - 1,
                                                                      border.data, cuts.data());
  });
  NEWEL_CHECK_LAUNCH();
  return may_cut ? to_vector(ctx, cuts.cspan())[0] : 0;
}

}  // namespace

template <class T>
CsrRows<T>::CsrRows(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, Index longest) : a_(a) {
  if (a.rows == 0) return;
  const Offset path = a.nnz() + a.rows / Tuning::rows_of_step;
  const bool many = sizeof(T) == 4 && static_cast<double>(a.nnz()) >= short_rows * a.rows;
  view_.thread_entries = many ? many_entries : few_entries;
  const Offset entries = many ? CsrChunkTuning<T, many_entries>::entries : CsrChunkTuning<T, few_entries>::entries;
  const int of_processor = many ? CsrChunkTuning<T, many_entries>::blocks : CsrChunkTuning<T, few_entries>::blocks;
  const Offset most_blocks = Offset{ctx.multiprocessors()} * of_processor;
  longest_ = longest >= 0 ? longest : find_longest_row(ctx, a);
  const bool may_cut = longest_ > Tuning::uncut;
  const Offset path_per_chunk = path_of_chunk(path, entries, most_blocks, longest_);
  view_.longest = may_cut ? static_cast<Index>(entries) : longest_;
  view_.chunks = std::max<Offset>(1, (path + path_per_chunk - 1) / path_per_chunk);
  view_.blocks = static_cast<unsigned>(std::min(view_.chunks, most_blocks));
  border_ = Array<CsrBorder, Space::device>(ctx, view_.chunks + 1);
  if (fill_borders(ctx, a, path_per_chunk, border_.span(), may_cut) > 0) number_pieces(ctx);
  dot_partial_ = Array<double, Space::device>(ctx, view_.blocks + Offset{view_.join.rows});
  view_.col = a.col.data;
  view_.val = a.val.data;
  view_.border = border_.data();
  view_.dot_partial = dot_partial_.data();
}

// In the order of the path: those of a row follow each other.
template <class T>
void CsrRows<T>::number_pieces(const Context<Space::device>& ctx) {
  std::vector<CsrBorder> border = to_vector(ctx, border_.cspan());
  std::vector<Index> row, first;
  Index pieces = 0;
  for (CsrBorder& at : border) {
    if (at.piece == CsrBorder::between_rows) continue;
    if (row.empty() || row.back() != at.row) {
      if (!row.empty()) ++pieces;  // the one that ends with the row before
      row.push_back(at.row);
      first.push_back(pieces);
    }
    at.piece = pieces++;
  }
  first.push_back(++pieces);
  copy<CsrBorder>(ctx, Span<const CsrBorder, Space::host>(border), border_.span());
  joined_row_ = make_array(ctx, row);
  joined_first_ = make_array(ctx, first);
  piece_sum_ = Array<T, Space::device>(ctx, pieces);
  view_.join = {static_cast<Index>(row.size()), joined_row_.data(), joined_first_.data(), piece_sum_.data()};
}

template <class T>
void CsrRows<T>::product(const Context<Space::device>& ctx, const ProductArgs<T>& args) const {
  if (empty()) return;
  with_row_ptr(a_, [&](auto row_ptr) { csr_rows_product(ctx, view_, row_ptr.data, args); });
}

template class CsrRows<double>;
template class CsrRows<float>;

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
// Fixing rows on the device: a thread a row, since most rows end at their first entry.
#include <algorithm>

#include <newel/core/vector_ops.hpp>
#include "core/memory/context_device.hpp"
#include "core/memory/small_results_device.hpp"
#include "core/vectors/instantiate.hpp"
#include "reorder/condense/condense.hpp"

namespace newel::detail {
namespace {

constexpr Space device = Space::device;
constexpr int condense_threads = 256;

// A matrix as kernels read it.
template <class T, class RowPtr>
struct RowEntries {
  Index rows;
  const RowPtr* row_ptr;
  const Index* col;
  const T* val;

  __device__ bool fixes(Index i) const {
    T diagonal = 0;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (col[k] == i) {
        diagonal = val[k];
      } else if (val[k] != 0) {
        return false;
      }
    }
    return diagonal != 0 && diagonal - diagonal == 0;
  }
  __device__ bool uses(Index i, const char* is_one) const {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (is_one[col[k]] != 0 && val[k] != 0) return true;
    }
    return false;
  }
};

// Calls f(row) with a thread for each row.
template <class F>
__device__ __forceinline__ void for_each_row(Index rows, F&& f) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < rows; i += step) f(static_cast<Index>(i));
}

template <class T, class RowPtr>
__global__ void mark_fixing_kernel(RowEntries<T, RowPtr> a, char* is_one, Index* count) {
  for_each_row(a.rows, [&](Index i) {
    const bool fixes = a.fixes(i);
    is_one[i] = fixes ? 1 : 0;
    if (fixes) atomicAdd(count, 1);
  });
}
template <class T, class RowPtr>
__global__ void count_using_kernel(RowEntries<T, RowPtr> a, const char* is_one, Index* count) {
  for_each_row(a.rows, [&](Index i) {
    if (is_one[i] == 0 && a.uses(i, is_one)) atomicAdd(count, 1);
  });
}
template <class T, class RowPtr>
__global__ void count_unfixed_kernel(RowEntries<T, RowPtr> a, const char* is_one, Index* count) {
  for_each_row(a.rows, [&](Index i) {
    if (is_one[i] != 0 && !a.fixes(i)) atomicAdd(count, 1);
  });
}

// What launch(entries, blocks, stream, count) leaves in the count.
template <class T, class Launch>
Index counted(const Context<device>& ctx, const CsrView<T, device>& a, const Launch& launch) {
  SmallResults results(ctx);
  Index* const count = results.take<Index>(1);
  const std::int64_t wanted = (std::int64_t{a.rows} + condense_threads - 1) / condense_threads;
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, std::int64_t{ctx.multiprocessors()} * 8));
  with_row_ptr(a, [&](auto row_ptr) {
    using RowPtr = std::remove_cv_t<std::remove_reference_t<decltype(row_ptr.data[0])>>;
    launch(RowEntries<T, RowPtr>{a.rows, row_ptr.data, a.col.data, a.val.data}, blocks, ctx.state().stream(), count);
    NEWEL_CHECK_LAUNCH();
  });
  results.fetch();
  return results.at(count, 1)[0];
}

}  // namespace

template <class T>
FixingRows<device> fixing_rows(const Context<device>& ctx, const CsrView<T, device>& a) {
  FixingRows<device> found{Array<char, device>(ctx, a.rows), 0};
  found.count = counted(ctx, a, [&](const auto& entries, unsigned blocks, cudaStream_t stream, Index* count) {
    mark_fixing_kernel<<<blocks, condense_threads, 0, stream>>>(entries, found.is_one.data(), count);
  });
  if (found.count == 0) found.is_one = {};
  return found;
}

template <class T>
bool are_used(const Context<device>& ctx, const CsrView<T, device>& a, const FixingRows<device>& rows) {
  return counted(ctx, a, [&](const auto& entries, unsigned blocks, cudaStream_t stream, Index* count) {
           count_using_kernel<<<blocks, condense_threads, 0, stream>>>(entries, rows.is_one.data(), count);
         }) > 0;
}

template <class T>
bool still_fix(const Context<device>& ctx, const CsrView<T, device>& a, const FixingRows<device>& rows) {
  return counted(ctx, a, [&](const auto& entries, unsigned blocks, cudaStream_t stream, Index* count) {
           count_unfixed_kernel<<<blocks, condense_threads, 0, stream>>>(entries, rows.is_one.data(), count);
         }) == 0;
}

#define X(T, S)                                                                          \
  template FixingRows<S> fixing_rows(const Context<S>&, const CsrView<T, S>&);           \
  template bool are_used(const Context<S>&, const CsrView<T, S>&, const FixingRows<S>&); \
  template bool still_fix(const Context<S>&, const CsrView<T, S>&, const FixingRows<S>&);
NEWEL_FOR_TYPES(X, Space::device)
#undef X

}  // namespace newel::detail

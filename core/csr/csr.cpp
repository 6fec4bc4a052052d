// SPDX-License-Identifier: Apache-2.0
// Copies of CSR matrices between spaces.
#include <newel/core/csr.hpp>

#include <algorithm>

#include "core/csr/csr_check.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/vector_ops_steps.hpp"

namespace newel {
namespace {

// Row pointers of either width, in either space, as 64-bit ones in the space of the context.
template <Space From, Space S, class View>
Array<Offset, S> widened_row_ptr(const Context<S>& ctx, const View& a) {
  if (a.wide()) return make_array(ctx, a.row_ptr64);
  const Array<std::int32_t, S> narrow = make_array(ctx, a.row_ptr32);
  Array<Offset, S> wide(ctx, narrow.size());
  detail::sweep(ctx, wide.size(), detail::ConvertStep<std::int32_t, Offset>(narrow.data(), wide.data()));
  return wide;
}

}  // namespace

template <class T, Space From, Space S>
Csr<T, S> make_csr(const Context<S>& ctx, const CsrView<T, From>& a) {
  if constexpr (From == Space::device && S == Space::host) {
    static_assert(From == S, "download a matrix with the device context: make_host_csr");
  }
  Csr<T, S> result;
  result.rows = a.rows;
  result.cols = a.cols;
  result.row_ptr = widened_row_ptr<From>(ctx, a);
  result.col = make_array(ctx, a.col);
  result.val = make_array(ctx, a.val);
  return result;
}

template <class T>
Csr<T, Space::host> make_host_csr(const Context<Space::host>& host, const Context<Space::device>& ctx,
                                  const CsrView<T, Space::device>& a) {
  detail::check_csr_lengths(a);
  Csr<T, Space::host> result;
  result.rows = a.rows;
  result.cols = a.cols;
  result.row_ptr = Array<Offset, Space::host>(host, Offset{a.rows} + 1);
  result.col = Array<Index, Space::host>(host, a.nnz());
  result.val = Array<T, Space::host>(host, a.val.size);
  with_row_ptr(a, [&](auto row_ptr) {
    const auto downloaded = to_vector(ctx, row_ptr);
    std::copy(downloaded.begin(), downloaded.end(), result.row_ptr.begin());
  });
  copy<Index>(ctx, a.col, result.col.span());
  copy<T>(ctx, a.val, result.val.span());
  return result;
}

template Csr<double, Space::host> make_csr(const Context<Space::host>&, const CsrView<double, Space::host>&);
template Csr<float, Space::host> make_csr(const Context<Space::host>&, const CsrView<float, Space::host>&);
#if NEWEL_HAS_CUDA
#define X(T, S) template Csr<T, Space::device> make_csr(const Context<Space::device>&, const CsrView<T, S>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X
#define X(T, S) \
  template Csr<T, Space::host> make_host_csr(const Context<Space::host>&, const Context<S>&, const CsrView<T, S>&);
NEWEL_FOR_TYPES(X, Space::device)
#undef X
#endif

}  // namespace newel

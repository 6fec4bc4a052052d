// SPDX-License-Identifier: Apache-2.0
// Making a caller's matrix canonical, in both spaces.
#include <purlin/solver/canonical.hpp>

#include <numeric>
#include <utility>

#include <purlin/core/instantiate.hpp>
#include <purlin/core/vector_ops.hpp>

namespace purlin::detail {
namespace {

template <class T, Space S>
Csr<T, Space::host> host_copy(const Context<Space::host>& host, const Context<S>& ctx, const CsrView<T, S>& a) {
  if constexpr (S == Space::host) {
    (void)ctx;
    return make_csr(host, a);
  } else {
    return make_host_csr(host, ctx, a);
  }
}

}  // namespace

template <class T, Space S>
CanonicalMatrix<T, S>::CanonicalMatrix(const Context<S>& ctx, const CsrView<T, S>& a) {
  const Context<Space::host> host = host_context(ctx);
  const Csr<T, Space::host> callers = host_copy(host, ctx, a);
  Array<Offset, Space::host> target_of;
  const Csr<T, Space::host> canonical = make_canonical(host, CsrView<T, Space::host>(callers), &target_of);

  std::vector<Offset> begin(static_cast<std::size_t>(canonical.nnz()) + 1, 0);
  for (const Offset target : target_of) ++begin[static_cast<std::size_t>(target) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Offset> source(static_cast<std::size_t>(target_of.size()));
  std::vector<Offset> next(begin.begin(), begin.end() - 1);
  for (Offset k = 0; k < target_of.size(); ++k) source[next[target_of[k]]++] = k;

  matrix_ = make_csr(ctx, CsrView<T, Space::host>(canonical));
  begin_ = make_array(ctx, begin);
  source_ = make_array(ctx, source);
}

template <class T, Space S>
Span<const T, S> CanonicalMatrix<T, S>::values(const Context<S>& ctx, Span<const T, S> callers) {
  gather_sum<T, S>(ctx, callers, begin_.cspan(), source_.cspan(), matrix_.val.span());
  return matrix_.val.cspan();
}

template <class T, Space S>
void CanonicalMatrix<T, S>::drop_pattern() {
  matrix_.row_ptr = {};
  matrix_.col = {};
}

#define X(T, S) template class CanonicalMatrix<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin::detail

// SPDX-License-Identifier: Apache-2.0
// Columns of A M - I, or random combinations of them.
#include <purlin/precond/inverse_residual.hpp>

#include <cmath>
#include <vector>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/vector_ops.hpp>

namespace purlin {
namespace {

constexpr Index most_exact = 256;
constexpr int probes = 32;

// A sign for place i of vector k: the top bit of a mixed counter.
double sign_at(std::uint64_t k, std::uint64_t i) {
  std::uint64_t z = (k << 32 ^ i) * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  z = (z ^ (z >> 31)) * 0xd6e8feb86659fd93u;
  z = (z ^ (z >> 29)) * 0xa3ec647659359acdu;
  return (z ^ (z >> 32)) >> 63 == 0 ? 1.0 : -1.0;
}

}  // namespace

template <class T, Space S>
InverseResidual inverse_residual(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>& M,
                                 PrecondSide side) {
  const Index n = A.rows();
  if (A.cols() != n || M.rows() != n || M.cols() != n) {
    throw InputError("the residual of an inverse needs square operators of the same size");
  }
  InverseResidual result;
  if (n == 0) return result;
  const bool exact = n <= most_exact;
  const LinearOperator<T, S>& first = side == PrecondSide::right ? M : A;
  const LinearOperator<T, S>& second = side == PrecondSide::right ? A : M;
  std::vector<T> v(static_cast<std::size_t>(n), T(0));
  Array<T, S> at_v(ctx, n), between(ctx, n);
  Array<double, S> norm(ctx, 1);
  const int count = exact ? n : probes;
  double squares = 0;
  for (int k = 0; k < count; ++k) {
    for (Index i = 0; i < n; ++i) v[i] = static_cast<T>(exact ? (i == k ? 1.0 : 0.0) : sign_at(k, i));
    copy<T>(ctx, Span<const T, Space::host>(v), at_v.span());
    first.apply(ctx, T(1), at_v.cspan(), T(0), between.span());
    second.apply(ctx, T(1), between.cspan(), T(-1), at_v.span());
    norm2<T, S>(ctx, at_v.cspan(), norm.data());
    const double column = fetch(ctx, norm.cspan().data);
    squares += column * column;
  }
  result.probes = exact ? 0 : probes;
  result.norm = std::sqrt(exact ? squares : squares / probes);
  result.relative = result.norm / std::sqrt(static_cast<double>(n));
  return result;
}

#define X(T, S)                                                                             \
  template InverseResidual inverse_residual(const Context<S>&, const LinearOperator<T, S>&, \
                                            const LinearOperator<T, S>&, PrecondSide);
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin

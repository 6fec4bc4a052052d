// SPDX-License-Identifier: Apache-2.0
// Columns of A M - I, or random combinations of them.
#include <newel/precond/inverse_residual.hpp>

#include <cmath>
#include <cstdint>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/random.hpp"

namespace newel {
namespace {

constexpr Index most_exact = 256;
constexpr int probes = 32;
constexpr std::uint64_t seed = 1;

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
  const int count = exact ? n : probes;
  Array<T, S> v(ctx, n), between(ctx, n), one(ctx, 1);
  Array<double, S> norms(ctx, count);
  fill<T, S>(ctx, T(1), one.span());
  for (int k = 0; k < count; ++k) {
    if (exact) {
      fill<T, S>(ctx, T(0), v.span());
      copy<T>(ctx, one.cspan(), v.span().subspan(k, 1));
    } else {
      detail::fill_random<T, S>(ctx, detail::RandomKind::sign, seed, std::int64_t{k} * n, v.span());
    }
    first.apply(ctx, T(1), v.cspan(), T(0), between.span());
    second.apply(ctx, T(1), between.cspan(), T(-1), v.span());
    norm2<T, S>(ctx, v.cspan(), norms.data() + k);
  }
  double squares = 0;
  for (const double norm : to_vector(ctx, norms.cspan())) squares += norm * norm;
  result.probes = exact ? 0 : probes;
  result.norm = std::sqrt(exact ? squares : squares / probes);
  result.relative = result.norm / std::sqrt(static_cast<double>(n));
  return result;
}

#define X(T, S)                                                                             \
  template InverseResidual inverse_residual(const Context<S>&, const LinearOperator<T, S>&, \
                                            const LinearOperator<T, S>&, PrecondSide);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel

// SPDX-License-Identifier: Apache-2.0
// v.Aw against w.Av.
#include <purlin/solver/symmetry.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/random.hpp>
#include <purlin/core/vector_ops.hpp>

namespace purlin::detail {
namespace {

// |v.Bw - w.Bv| over the larger of |v||Bw| and |w||Bv|. `image` is a work vector.
template <class T, Space S>
double asymmetry(const Context<S>& ctx, const LinearOperator<T, S>& B, const Array<T, S> (&vectors)[2],
                 Array<T, S>& image) {
  Array<double, S> sums(ctx, 6);
  for (int k = 0; k < 2; ++k) {
    const Array<T, S>&v = vectors[k], &w = vectors[1 - k];
    B.apply(ctx, T(1), v.cspan(), T(0), image.span());
    dot<T, S>(ctx, w.cspan(), image.cspan(), sums.data() + 3 * k);
    norm2<T, S>(ctx, w.cspan(), sums.data() + 3 * k + 1);
    norm2<T, S>(ctx, image.cspan(), sums.data() + 3 * k + 2);
  }
  const std::vector<double> s = to_vector(ctx, sums.cspan());
  const double scale = std::max(s[1] * s[2], s[4] * s[5]);
  return scale > 0 ? std::abs(s[0] - s[3]) / scale : 0.0;
}

}  // namespace

template <class T, Space S>
Asymmetric symmetry_fault(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  constexpr double of_matrix = std::max(1e-10, 100 * eps);  // a choice by the values allows 1e-12 of the largest
  // M is a product of matrices, which rounds more than it is long, and may be a cycle in single precision.
  const double of_precond = std::max(1e-5, std::sqrt(eps));
  const Index n = A.rows();
  try {
    Array<T, S> vectors[2] = {Array<T, S>(ctx, n), Array<T, S>(ctx, n)};
    // With signs alone, differences of integers, v.Bw - w.Bv may well be 0 by chance.
    for (int k = 0; k < 2; ++k) {
      fill_random<T, S>(ctx, RandomKind::signed_length, 1, std::int64_t{k} * n, vectors[k].span());
    }
    Array<T, S> image(ctx, n);
    if (M != nullptr) {
      if (asymmetry(ctx, *M, vectors, image) > of_precond) return Asymmetric::preconditioner;
      // M's images, so that rows of A which outweigh all others (penalties) do not hide those.
      for (Array<T, S>& v : vectors) {
        M->apply(ctx, T(1), v.cspan(), T(0), image.span());
        v.swap(image);
      }
    }
    return asymmetry(ctx, A, vectors, image) > of_matrix ? Asymmetric::matrix : Asymmetric::none;
  } catch (const OutOfMemory&) {
    return Asymmetric::none;
  }
}

#define X(T, S) \
  template Asymmetric symmetry_fault(const Context<S>&, const LinearOperator<T, S>&, const LinearOperator<T, S>*);
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin::detail

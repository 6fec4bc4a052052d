// SPDX-License-Identifier: Apache-2.0
/// EHYB's product with k interleaved vectors, in either space. Internal.
#pragma once

#include <purlin/spmv/ehyb/ehyb_product.hpp>

namespace purlin::detail {

/// Y = alpha A X + beta Y; with beta = 0, Y is not read. Where `xy` is not null, x.y of each column is left there too
/// (alpha is then 1 and beta 0; the layout has no remainder).
template <class T>
struct ColumnProductArgs {
  T alpha;
  const T* x;
  T beta;
  T* y;
  double* xy;
  char* work;  ///< `ehyb_column_work` bytes
};

/// alpha sum + beta y[at] as it is written.
template <class T>
PURLIN_HD T row_result(const ColumnProductArgs<T>& args, T sum, std::int64_t at) {
  const T product = args.alpha * sum;
  return args.beta == T(0) ? product : product + args.beta * args.y[at];
}

/// Bytes of work for `columns` vectors in space S.
template <class T>
std::uint64_t ehyb_column_work(const Context<Space::host>*, const EhybView<T>& a, int columns);
template <class T>
std::uint64_t ehyb_column_work(const Context<Space::device>*, const EhybView<T>& a, int columns);

/// The product; `columns` is 2, 4 or 8.
template <class T>
void ehyb_columns_product(const Context<Space::host>& ctx, const EhybView<T>& a, int columns,
                          const ColumnProductArgs<T>& args);
template <class T>
void ehyb_columns_product(const Context<Space::device>& ctx, const EhybView<T>& a, int columns,
                          const ColumnProductArgs<T>& args);

}  // namespace purlin::detail

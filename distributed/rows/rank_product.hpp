// SPDX-License-Identifier: Apache-2.0
/// RankProduct: a rank's rows of a matrix in some format, with what they read of other ranks. Internal.
#pragma once

#include <memory>
#include <vector>

#include <newel/distributed/distributed_system.hpp>
#include <newel/spmv/operator.hpp>
#include "distributed/rows/split_rows.hpp"
#include "spmv/ehyb/ehyb_across.hpp"
#include "spmv/published_product.hpp"

namespace newel::detail {

/// Vectors have this rank's rows in rank order. All ranks call the functions together, with contexts that have ranks.
template <class T, Space S>
class RankProduct {
 public:
  virtual ~RankProduct() = default;

  /// New values in the caller's order.
  virtual void refresh(const Context<S>& ctx, Span<const T, S> values) = 0;
  /// y = alpha A x + beta y, as LinearOperator::apply.
  virtual void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const = 0;
  /// y = A x, and x.y of all ranks in S.
  virtual void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const = 0;
  /// r = b - A x in twice the precision, with the sums of this rank alone: see LinearOperator::residual.
  virtual ResidualSums residual(const Context<S>& ctx, Span<const T, S> b, Span<const T, S> x,
                                const ResidualScale& scale, Span<T, S> r) const = 0;
  /// The sizes and bytes of this rank's rows.
  virtual OperatorInfo info() const = 0;
  /// Bytes in addition to those of `info`.
  virtual std::uint64_t more_bytes() const = 0;
  /// Whether products may be captured in a graph.
  virtual bool capturable() const = 0;
  /// For a solve in one kernel on each device; null: there is none.
  virtual const EhybAcross<T>* across() const { return nullptr; }
  /// Products with vectors that their makers send to other devices; null: there are none.
  virtual const PublishedProduct<T>* published() const { return nullptr; }
};

/// Rows in CSR whose values stand at `part.source` among `values`, as an operator that new ones of these refresh.
template <class T, Space S>
OperatorPtr<T, S> part_operator(const Context<S>& ctx, const RowPart& part, Index cols,
                                Span<const T, Space::host> values);

/// In CSR. `split` is of `a`; with one rank all rows are of the first kind.
template <class T, Space S>
std::unique_ptr<RankProduct<T, S>> make_csr_rows(const Context<S>& ctx, const RankRows<T>& a, const RowSplit& split,
                                                 const std::vector<std::int64_t>& first_rows);

}  // namespace newel::detail

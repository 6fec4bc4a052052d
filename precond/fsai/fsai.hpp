// SPDX-License-Identifier: Apache-2.0
/// FSAI: M = G^T G, G a sparse lower triangle with diag(G A G^T) = 1 (L. Yu. Kolotilina and A. Yu. Yeremin,
/// "Factorized sparse approximate inverse preconditionings I", SIAM J. Matrix Anal. Appl. 14, 1993).
#pragma once

#include <string>
#include <vector>

#include <newel/precond/fsai/fsai_options.hpp>
#include "precond/factored_inverse.hpp"
#include "precond/fsai/fsai_factor.hpp"
#include "spmv/resident_view.hpp"

namespace newel {
namespace detail {

/// See EstimatePrecond.
std::uint64_t estimate_fsai_bytes(const PrecondOptions& options, const SpmvFormat& format, Index rows,
                                  Offset nonzeros, std::size_t value_bytes);

}  // namespace detail

/// Its line of the table of preconditioners.
PrecondMethod fsai_method();

/// z = G^T (G r): two products of a format of the table. Symmetric and positive definite by construction, and so fit
/// for CG. For symmetric positive definite A; only its lower triangle (in solver order) is read.
template <class T, Space S>
class FsaiOperator final : public detail::FactoredInverse<T, S, MatrixOperator<T, S>> {
 public:
  /// FsaiOptions, PatternOptions and PrecondOptions::format apply. Throws NotSymmetric, NotPositiveDefinite, and
  /// InputError for a row of G that has more than 4,096 entries. Patterns are found on the host;
  /// on a device where they are A's own, or the lower triangle of `whole`, which then takes the place of what the
  /// options say of patterns: a symmetric pattern in the order of `a`, columns ascending. G and G^T are multiplied as
  /// CSR then, unless the options name a format: rows of such a pattern differ too much in length for formats that
  /// pad (3.7 million rows with groups of tied nodes: 1.6 GB against 2.6 in EHYB). Waits on the stream.
  FsaiOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order, const PrecondOptions& options,
               const SpmvOptions& spmv_options, const Pattern<S>* whole = nullptr);

  /// The values of G on the pattern of the constructor, thresholds included. Symmetry is not checked again. Throws
  /// NotPositiveDefinite, and then G keeps its old values. Waits on the stream for the verdict.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  /// Of A's lower triangle in solver order.
  Slots<T, S> slots(const Context<S>& ctx) override;
  void slots_written(const Context<S>& ctx) override;
  OperatorInfo info() const override;

  /// G is kept: that of a renumbered matrix would be another triangle, and M another matrix. Where G and G^T are
  /// multiplied as CSR.
  OperatorPtr<T, S> renumbered(const Context<S>& ctx, const RowOrder<S>& order, const SpmvOptions& options) override;

  /// G in the order of the matrix that it was made from, its rows ending with their diagonal entries; valid as long
  /// as the operator.
  CsrView<T, S> factor() const { return factor_.view(); }

  detail::ResidentView<T, S> resident_view() const override { return {nullptr, nullptr, g_.get(), gt_.get()}; }

 private:
  using Products = detail::FactoredInverse<T, S, MatrixOperator<T, S>>;
  using Products::between_;
  using Products::g_;
  using Products::gt_;
  FsaiOperator(FsaiOperator&&) = default;
  SpmvOptions product_options(SpmvOptions options) const;

  bool uneven_ = false;  ///< a pattern of the caller's, whose products take CSR
  ValueMap<S> a_source_;
  detail::FsaiFactor<T, S> factor_;
  OperatorInfo info_;
};

}  // namespace newel

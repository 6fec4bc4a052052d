// SPDX-License-Identifier: Apache-2.0
/// AMG: algebraic multigrid by smoothed aggregation (P. Vanek, J. Mandel, M. Brezina, "Algebraic multigrid by
/// smoothed aggregation for second and fourth order elliptic problems", Computing 56, 1996).
#pragma once

#include <string>
#include <vector>

#include <purlin/precond/amg/amg_cycle.hpp>
#include <purlin/precond/preconditioner.hpp>

namespace purlin {
namespace detail {

/// See EstimatePrecond.
std::uint64_t estimate_amg_bytes(const PrecondOptions& options, const SpmvFormat& format, Index rows, Offset nonzeros,
                                 std::size_t value_bytes);

}  // namespace detail

/// Its line of the table of preconditioners.
PrecondMethod amg_method();

/// z = M r by one V-cycle. The hierarchy is set up on the host, in double and in the caller's numbering, so that it
/// depends neither on the format of A nor on the number of threads nor on the space; on a device the matrix, and each
/// refresh its values, are copied to the host, and the levels back. The cycle runs in S. The finest level multiplies
/// in the format of the options, the others and the prolongators in csr.
template <class T, Space S>
class AmgOperator final : public MatrixOperator<T, S> {
 public:
  /// AmgOptions and PrecondOptions::format apply, and SpmvOptions::coordinates. Throws ZeroDiagonal; InputError for
  /// coordinates and near-null vectors that do not fit. Waits on the stream.
  AmgOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order, const PrecondOptions& options,
              const SpmvOptions& spmv_options);

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }

  /// As AmgOptions::refresh says; `keep` does nothing. Takes some temporary memory of the host. Throws ZeroDiagonal,
  /// and then M keeps its old values. Waits on the stream.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;

  /// The hierarchy stays as it is. Where the finest level is multiplied as CSR, or there is none but the coarsest.
  OperatorPtr<T, S> renumbered(const Context<S>& ctx, const RowOrder<S>& order, const SpmvOptions& options) override;

  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  bool capturable() const override { return cycle_.capturable(); }
  OperatorInfo info() const override;

  const detail::AmgHierarchy& hierarchy() const { return hierarchy_; }

 private:
  AmgOperator(AmgOperator&&) = default;
  std::string detail_text() const;
  detail::AmgFinest<T, S> make_finest(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                      const SpmvOptions& spmv_options) const;

  Index rows_ = 0;
  AmgOptions options_;
  bool symmetric_ = false;
  std::string near_null_;                ///< "6 rigid body modes"
  ValueMap<Space::host> source_;         ///< where the hierarchy's values stand among the caller's
  Array<T, Space::host> caller_values_;  ///< device: a refresh's values on the host
  Array<T, Space::host> gathered_;
  detail::AmgHierarchy hierarchy_;
  detail::AmgCycle<T, S> cycle_;
  mutable Array<T, S> between_;  ///< M x, where apply adds to y
  std::vector<std::pair<std::string, double>> seconds_;
};

}  // namespace purlin

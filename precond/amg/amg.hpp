// SPDX-License-Identifier: Apache-2.0
/// AMG: algebraic multigrid by smoothed aggregation (P. Vanek, J. Mandel, M. Brezina, "Algebraic multigrid by
/// smoothed aggregation for second and fourth order elliptic problems", Computing 56, 1996).
#pragma once

#include <string>
#include <vector>

#include <newel/precond/preconditioner.hpp>
#include "precond/amg/cycle_source.hpp"

namespace newel {
namespace detail {

/// What the detail of a cycle in single precision says, and of one that the contrast of the matrix keeps in double.
inline constexpr const char* single_remark = ", in single precision";
inline constexpr const char* contrast_remark = ", in double precision for the contrast in the matrix";

/// See EstimatePrecond.
std::uint64_t estimate_amg_bytes(const PrecondOptions& options, const SpmvFormat& format, Index rows, Offset nonzeros,
                                 std::size_t value_bytes);
/// See PrecondMethod::cost.
PrecondCost amg_cost(const PrecondQuestion& question);

}  // namespace detail

/// Its line of the table of preconditioners.
PrecondMethod amg_method();

/// z = M r by one cycle. The hierarchy is set up where the matrix is, in double and in the caller's numbering of
/// nodes, so that it depends neither on the format of A nor on the number of threads; both spaces find the same
/// aggregates. The cycle runs in S. The finest level multiplies in the format of the options; on the host all other
/// matrices are csr, on the device they are stored in blocks, and levels below the first run in one kernel where a
/// diagonal smooths them.
template <class T, Space S>
class AmgOperator final : public MatrixOperator<T, S> {
 public:
  /// AmgOptions and PrecondOptions::format apply, and SpmvOptions::coordinates. Throws ZeroDiagonal; InputError for
  /// coordinates and near-null vectors that do not fit. Waits on the stream.
  AmgOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order, const PrecondOptions& options,
              const SpmvOptions& spmv_options);

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }

  /// As AmgOptions::refresh says; `keep` does nothing. Takes some temporary memory. Throws ZeroDiagonal, and then M
  /// keeps its old values. Waits on the stream.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;

  /// New rigid body modes where the hierarchy represents them: the next refresh computes prolongators too, on the
  /// same aggregates and patterns, unless it is to `keep` everything. Waits on the stream.
  void move_nodes(const Context<S>& ctx, const NodeCoordinates& coordinates) override;

  /// The hierarchy stays as it is. Where the finest level is multiplied as CSR, or there is none but the coarsest.
  OperatorPtr<T, S> renumbered(const Context<S>& ctx, const RowOrder<S>& order, const SpmvOptions& options) override;

  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  /// The last step of the cycle forms x.y.
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  /// One cycle for all columns, which reads every level once.
  void apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta, Span<T, S> y,
                     Span<char, S> work) const override;
  void apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y, double* xy,
                         Span<char, S> work) const override;
  std::uint64_t column_work_bytes(int columns) const override;
  OperatorTraits<T, S> traits() const override;
  OperatorInfo info() const override;

  const detail::AmgHierarchy<S>& hierarchy() const { return source_.hierarchy; }

 private:
  AmgOperator(AmgOperator&&) = default;

  Index rows_ = 0;
  detail::CycleSource<S> source_;
  std::string near_null_;  ///< "6 rigid body modes"
  bool rigid_ = false;     ///< the near-null vectors are rigid body modes
  bool moved_ = false;     ///< the nodes, since the last refresh
  bool contrast_ = false;  ///< single precision would hide soft vectors
  Array<T, S> gathered_;   ///< single precision: a refresh's values in the hierarchy's order
  detail::ChosenCycle<T, S> cycle_;
  mutable Array<T, S> between_;  ///< M x, where apply adds to y
  std::vector<std::pair<std::string, double>> seconds_;
};

}  // namespace newel

// SPDX-License-Identifier: Apache-2.0
/// The table of preconditioners, and `make_precond`, which looks one up.
#pragma once

#include <purlin/precond/given_pattern.hpp>
#include <purlin/spmv/registry.hpp>

namespace purlin {

/// On which side of A a sparse approximate inverse M is made: right, from the columns of A M - I; left, from the rows
/// of M A - I.
enum class PrecondSide { right, left };

/// Which preconditioner, and its choices.
struct PrecondOptions {
  /// "none" or a name of the table.
  std::string name = "jacobi";
  /// SPAI: the product that comes close to the identity.
  PrecondSide side = PrecondSide::right;
  /// SPAI: M has the pattern of A^spai_power, at least 1.
  int spai_power = 1;
  /// FSAI: G has the pattern of the lower triangle of A^fsai_power, at least 1.
  int fsai_power = 1;
  /// SPAI and FSAI: entries with |a_ij| <= drop sqrt(|a_ii a_jj|) are left out of A's pattern before its powers are
  /// formed. A's values themselves all count. 0: every stored entry is in the pattern. At least 0.
  double drop = 0;
  /// SPAI: the pattern grows where the residual of a column (row) exceeds this (Grote and Huckle). 0: it is static.
  double adaptive = 0;
  /// SPAI: M has entries there and nowhere else. FSAI: G has them where this or its transpose has one, on and below
  /// the diagonal in solver order. In the place of powers (1 then), drop and adaptive (0 then). Null: as they say.
  std::shared_ptr<const GivenPattern> pattern = nullptr;
  /// SPAI: apply (M + M^T)/2, as CG needs. LinearSystem sets it where a solve starts with CG.
  bool symmetric = false;
  /// The format of SPAI's M and of FSAI's G and G^T, with a variant behind a colon where it has any. Empty: as for A.
  std::string format = {};
};

template <class T, Space S>
using MakePrecond = OperatorPtr<T, S> (*)(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&,
                                          const PrecondOptions&, const SpmvOptions&);

/// At least the bytes that the preconditioner will hold, its matrices in `format`; what the pattern decides is not
/// counted.
using EstimatePrecond = std::uint64_t (*)(const PrecondOptions&, const SpmvFormat& format, Index rows,
                                          Offset nonzeros, std::size_t value_bytes);

/// One line of the table.
struct PrecondEntry {
  std::string name;
  std::string summary;
  EstimatePrecond estimate_bytes = nullptr;
  FactoryColumns<MakePrecond> make;
};

/// All preconditioners of this build; "none" is not among them.
const std::vector<PrecondEntry>& preconditioners();

/// The line of that name. Throws InputError that lists the names there are.
const PrecondEntry& find_preconditioner(std::string_view name);

/// At least what the preconditioner of a matrix of this size will hold: for powers, thresholds and growing patterns
/// what they cannot go below. 0 for "none"; for "auto" that of Jacobi.
std::uint64_t estimate_precond_bytes(const PrecondOptions& options, const SpmvOptions& spmv_options, Index rows,
                                     Offset nonzeros, std::size_t value_bytes);

/// M, an approximation of the inverse of the canonical square matrix `a`, or null for "none". `order` and
/// `spmv_options` are for preconditioners that are sparse matrices themselves. Throws InputError for unknown names
/// and numbers out of range, and for matrices that do not admit the preconditioner, with the row named; OutOfMemory.
template <class T, Space S>
OperatorPtr<T, S> make_precond(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                               const PrecondOptions& options, const SpmvOptions& spmv_options);

/// The options with which a preconditioner makes its own matrices: those of A, in the format that it is told, else in
/// A's, or the one that stands beside A's in the table.
SpmvOptions precond_spmv(const PrecondOptions& options, const SpmvOptions& spmv_options);

}  // namespace purlin

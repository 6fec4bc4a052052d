// SPDX-License-Identifier: Apache-2.0
/// The table of preconditioners, and `make_precond`, which looks one up.
#pragma once

#include <purlin/spmv/registry.hpp>

namespace purlin {

/// Which preconditioner, and its choices.
struct PrecondOptions {
  /// "none" or a name of the table.
  std::string name = "jacobi";
};

template <class T, Space S>
using MakePrecond = OperatorPtr<T, S> (*)(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&,
                                          const PrecondOptions&, const SpmvOptions&);

/// One line of the table.
struct PrecondEntry {
  std::string name;
  std::string summary;
  FactoryColumns<MakePrecond> make;
};

/// All preconditioners of this build; "none" is not among them.
const std::vector<PrecondEntry>& preconditioners();

/// M, an approximation of the inverse of the canonical square matrix `a`, or null for "none". `order` and
/// `spmv_options` are for preconditioners that are sparse matrices themselves. Throws InputError for unknown names
/// and for matrices that do not admit the preconditioner, with the row named; OutOfMemory.
template <class T, Space S>
OperatorPtr<T, S> make_precond(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                               const PrecondOptions& options, const SpmvOptions& spmv_options);

}  // namespace purlin

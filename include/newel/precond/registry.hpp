// SPDX-License-Identifier: Apache-2.0
/// The table of preconditioners, and `make_precond`, which makes one by its name.
#pragma once

#include <newel/core/table.hpp>
#include <newel/precond/preconditioner.hpp>

namespace newel {

/// All preconditioners: those of the library, then those that the program has registered. "none" is not in the table.
const std::list<PrecondMethod>& preconditioners();

/// Adds a preconditioner. Throws InputError if the name is in use. See Table.
Registration register_preconditioner(PrecondMethod method);

/// The preconditioner with this name. Throws InputError, which lists the known names.
const PrecondMethod& find_preconditioner(std::string_view name);

/// The first preconditioner with this role under "auto"; null if there is none.
const PrecondMethod* automatic_preconditioner(AutoPrecond use);

/// All preconditioners with this role under "auto", in table order.
std::vector<const PrecondMethod*> automatic_preconditioners(AutoPrecond use);

/// All options of the table, each once, in table order; their values are in `PrecondOptions::methods`.
std::vector<MethodOption> precond_option_list();

/// Lower bound on the bytes that the preconditioner of a matrix of this size holds; the parts that depend on powers,
/// thresholds and growing patterns are counted at their minimum. 0 for "none"; for "auto" that of the simple one.
std::uint64_t estimate_precond_bytes(const PrecondOptions& options, const SpmvOptions& spmv_options, Index rows,
                                     Offset nonzeros, std::size_t value_bytes);

/// M, an approximate inverse of the canonical square matrix `a`, or null for "none". `order` and `spmv_options` are
/// for preconditioners that are sparse matrices themselves. Throws InputError for unknown names and options out of
/// range, and if the matrix does not support the preconditioner (the message names the row); OutOfMemory.
template <class T, Space S>
OperatorPtr<T, S> make_precond(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                               const PrecondOptions& options, const SpmvOptions& spmv_options);

/// The side from which the named preconditioner is made; right if the side does not matter.
PrecondSide precond_side(const PrecondOptions& options);

namespace detail {

/// Defined with the library's preconditioners, in `precond/table`.
Table<PrecondMethod>& precond_table();

}  // namespace detail

}  // namespace newel

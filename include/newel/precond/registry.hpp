// SPDX-License-Identifier: Apache-2.0
/// The table of preconditioners, and `make_precond`, which looks one up.
#pragma once

#include <newel/core/table.hpp>
#include <newel/precond/preconditioner.hpp>

namespace newel {

/// All preconditioners: those of the library, and those that the program has registered; "none" is not among them.
const std::list<PrecondMethod>& preconditioners();

/// Adds a preconditioner. Throws InputError where the name is in use. See Table.
Registration register_preconditioner(PrecondMethod method);

/// The line of that name. Throws InputError that lists the names there are.
const PrecondMethod& find_preconditioner(std::string_view name);

/// The first line that `auto` uses so; null where there is none.
const PrecondMethod* automatic_preconditioner(AutoPrecond use);

/// All lines that `auto` uses so, in the order of the table.
std::vector<const PrecondMethod*> automatic_preconditioners(AutoPrecond use);

/// All options of the table, each once, in its order; their values lie in `PrecondOptions::methods`.
std::vector<MethodOption> precond_option_list();

/// At least what the preconditioner of a matrix of this size will hold: for powers, thresholds and growing patterns
/// what they cannot go below. 0 for "none"; for "auto" that of the simple one.
std::uint64_t estimate_precond_bytes(const PrecondOptions& options, const SpmvOptions& spmv_options, Index rows,
                                     Offset nonzeros, std::size_t value_bytes);

/// M, an approximation of the inverse of the canonical square matrix `a`, or null for "none". `order` and
/// `spmv_options` are for preconditioners that are sparse matrices themselves. Throws InputError for unknown names
/// and options out of range, and for matrices that do not support the preconditioner, with the row named;
/// OutOfMemory.
template <class T, Space S>
OperatorPtr<T, S> make_precond(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                               const PrecondOptions& options, const SpmvOptions& spmv_options);

/// From which side the named preconditioner is made; right where it does not matter.
PrecondSide precond_side(const PrecondOptions& options);

namespace detail {

/// Defined with the lines of the library, in `precond/table`.
Table<PrecondMethod>& precond_table();

}  // namespace detail

}  // namespace newel

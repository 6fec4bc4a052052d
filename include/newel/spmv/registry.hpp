// SPDX-License-Identifier: Apache-2.0
/// The table of product formats, and two functions that use it: `plan_order` and `make_spmv`.
#pragma once

#include <list>
#include <string>
#include <string_view>

#include <newel/core/table.hpp>
#include <newel/spmv/format.hpp>

namespace newel {

/// All formats: those of the library in the order of the documentation, then those that the program has registered.
const std::list<SpmvFormat>& spmv_formats();

/// Adds a format. Throws InputError if the name is in use. See Table.
Registration register_format(SpmvFormat format);

/// The format with this name; a variant in the name is ignored. Throws InputError, which lists the known names.
const SpmvFormat& find_spmv_format(std::string_view name_and_variant);

/// Whether the format, named with or without variant, needs a square matrix.
bool takes_square_only(std::string_view name_and_variant);

/// The order of rows and unknowns that the format wants, for a canonical pattern of values of type T; computed once
/// per pattern, on the host. The natural order for formats that do not renumber, and for rectangular matrices.
template <class T, Space S>
RowOrder<S> plan_order(const Context<S>& ctx, const Pattern<S>& pattern, const SpmvOptions& options);

/// Builds the format for a canonical matrix that is already in `order`. This may be the planned order or any other; a
/// format with parts cuts another order into equal ranges. Throws InputError for unknown names and variants, for a
/// rectangular matrix if the variant needs a square one, and for part boundaries that do not fit; OutOfMemory. With
/// `facts` of the pattern, the format need not analyse it again.
template <class T, Space S>
OperatorPtr<T, S> make_spmv(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                            const SpmvOptions& options = {}, const PatternFacts* facts = nullptr);

namespace detail {

/// Defined with the library's formats, in `spmv/table`.
Table<SpmvFormat>& format_table();

}  // namespace detail

}  // namespace newel

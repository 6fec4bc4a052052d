// SPDX-License-Identifier: Apache-2.0
/// The table of product formats, and the two functions that look a format up: `plan_order` and `make_spmv`.
#pragma once

#include <list>
#include <string>
#include <string_view>

#include <newel/core/table.hpp>
#include <newel/spmv/format.hpp>

namespace newel {

/// All formats: those of the library in the order of the documentation, and those that the program has registered.
const std::list<SpmvFormat>& spmv_formats();

/// Adds a format. Throws InputError where the name is in use. See Table.
Registration register_format(SpmvFormat format);

/// The line for a format's name, without variant. Throws InputError that lists the names there are.
const SpmvFormat& find_spmv_format(std::string_view name_and_variant);

/// Whether the format, named with or without variant, takes square matrices only.
bool takes_square_only(std::string_view name_and_variant);

/// The order in which the format wants rows and unknowns, for a canonical pattern of values of type T; analysed once
/// per pattern, on the host. The natural order for formats that do not renumber, and for rectangular matrices.
template <class T, Space S>
RowOrder<S> plan_order(const Context<S>& ctx, const Pattern<S>& pattern, const SpmvOptions& options);

/// Builds the format for a canonical matrix that is already in `order`: the planned one, or any other, which a format
/// with parts then cuts into equal ranges. Throws InputError for unknown names and variants, for a rectangular matrix
/// where the variant takes square ones only, and for bounds of parts that do not fit; OutOfMemory. `facts` of the
/// pattern spare a format its own look at it.
template <class T, Space S>
OperatorPtr<T, S> make_spmv(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                            const SpmvOptions& options = {}, const PatternFacts* facts = nullptr);

namespace detail {

/// Defined with the lines of the library, in `spmv/table`.
Table<SpmvFormat>& format_table();

}  // namespace detail

}  // namespace newel

// SPDX-License-Identifier: Apache-2.0
/// The table of product formats, and the two functions that look a format up: `plan_order` and `make_spmv`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <purlin/core/factory_columns.hpp>
#include <purlin/core/machine.hpp>
#include <purlin/core/table.hpp>
#include <purlin/reorder/partition.hpp>
#include <purlin/reorder/row_order.hpp>
#include <purlin/spmv/cost_model.hpp>
#include <purlin/spmv/operator.hpp>

namespace purlin {

/// Which format, and its choices.
struct SpmvOptions {
  /// A name of the table, with a variant behind a colon where the format has variants ("csr:alg2"). Upper and lower
  /// case are the same; '-' and '_' are ignored.
  std::string format = "csr";
  /// How the formats with parts (EHYB) find them, and how many they take; 0: as many as their caches ask for.
  Partitioner partitioner = Partitioner::automatic;
  Index parts = 0;
  /// Where the nodes lie, for Partitioner::coordinates.
  std::shared_ptr<const NodeCoordinates> coordinates = nullptr;
  /// A folder that keeps orders and measured choices per pattern, machine and options; made where it is missing.
  /// Empty: none. A file that is damaged or of another version is ignored, and the order's report says so.
  std::string plan_cache = {};
  /// ELL-WARP (k2 and its kin): entries of a row that one thread takes, at most. 0: chosen by a model.
  Index ell_warp_threshold = 0;
  /// ELL-WARP: how many neighbouring rows are sorted by length among themselves. 0: 64 warps of them, on a device
  /// the 512 of a block of threads where no row is far longer than the mean; as many as the matrix has, or more: all,
  /// as in the paper.
  Index ell_warp_window = 0;
  /// For "auto": products are of one vector at a time, with a matrix whose values are symmetric, bit for bit. A
  /// format that reads one of the two may then be chosen.
  bool equal_opposites = false;
};

/// What a format is asked to be.
struct FormatRequest {
  std::string variant;  ///< canonical; empty: the format's default
  const SpmvOptions& options;
  Machine machine;
  std::size_t value_bytes = sizeof(double);
};

/// Finds the order that a format wants for a canonical pattern.
using PlanOrder = RowOrder<Space::host> (*)(const Context<Space::host>&, const Pattern<Space::host>&,
                                            const FormatRequest&);

/// The same from a pattern on the device, where the order stays; nothing where the host has to find it.
using PlanOrderOnDevice = std::optional<RowOrder<Space::device>> (*)(const Context<Space::device>&,
                                                                     const Pattern<Space::device>&,
                                                                     const FormatRequest&);

template <class T, Space S>
using MakeSpmv = OperatorPtr<T, S> (*)(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&,
                                       const FormatRequest&);

/// Estimates what the format will cost for a pattern.
using EstimateFormatCost = CostEstimate (*)(const PatternFacts&, const FormatRequest&);

/// One line of the table.
struct SpmvFormat {
  std::string name;
  std::vector<std::string> variants;  ///< without one, the format chooses or takes the first; its README says
  std::string summary;
  /// Bytes that the format will hold for a matrix of this size, estimated from the size alone.
  std::uint64_t (*estimate_bytes)(Index rows, Index cols, Offset nonzeros, std::size_t value_bytes) = nullptr;
  EstimateFormatCost cost_estimate = nullptr;
  /// Null for a format that takes any order as it comes.
  PlanOrder plan = nullptr;
  /// Whether the variant numbers x and y alike, and so takes square matrices only. Null: none does.
  bool (*square_only)(std::string_view variant) = nullptr;
  /// The fallback format of a format for symmetric matrices: for matrices without symmetry, such as those of a
  /// preconditioner. Empty: itself.
  std::string fallback = {};
  bool parts = false;     ///< its rows lie in parts: `SpmvOptions::partitioner` and `parts` apply
  bool resident = false;  ///< solvers with a kernel for what fits on the chip take it
  FactoryColumns<MakeSpmv> make = {};
  /// Null: the host plans for the device too, from a copy of the pattern.
  PlanOrderOnDevice plan_on_device = nullptr;
};

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
/// where the variant takes square ones only, and for bounds of parts that do not fit; OutOfMemory.
template <class T, Space S>
OperatorPtr<T, S> make_spmv(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                            const SpmvOptions& options = {});

/// Lower case, without '-' and '_': how names of formats and preconditioners are compared.
std::string canonical_name(std::string_view name);

}  // namespace purlin

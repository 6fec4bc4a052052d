// SPDX-License-Identifier: Apache-2.0
/// SpmvFormat: what the rest of Newel knows of a product format, one line of the table in `newel/spmv/registry.hpp`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <newel/config.hpp>
#include <newel/core/factory_columns.hpp>
#include <newel/core/machine.hpp>
#include <newel/reorder/partition.hpp>
#include <newel/reorder/row_order.hpp>
#include <newel/spmv/cost_model.hpp>
#include <newel/spmv/operator.hpp>

namespace newel {

/// Which format, and its choices.
struct SpmvOptions {
  /// A name of the table, with a variant behind a colon where the format has variants ("csr:alg2"). Upper and lower
  /// case are the same; '-' and '_' are ignored.
  std::string format = "csr";
  /// How the formats with parts (EHYB) find them, and how many they take; 0: as many as their caches ask for.
  Partitioner partitioner = Partitioner::automatic;
  Index parts = 0;  ///< see `partitioner`
  /// Where the nodes lie, in the caller's numbering: for Partitioner::coordinates, and for preconditioners that take
  /// them (AMG's rigid body modes).
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
  std::string variant;                       ///< canonical; empty: the format's default
  const SpmvOptions& options;                ///< as the caller gave them
  Machine machine;                           ///< that multiplies
  std::size_t value_bytes = sizeof(double);  ///< of one value of the matrix
  const PatternFacts* facts = nullptr;       ///< of the pattern, in any order; null: they are not known
};

/// Finds the order that a format wants for a canonical pattern.
using PlanOrder = RowOrder<Space::host> (*)(const Context<Space::host>&, const Pattern<Space::host>&,
                                            const FormatRequest&);

/// The same from a pattern on the device, where the order stays; nothing where the host has to find it.
using PlanOrderOnDevice = std::optional<RowOrder<Space::device>> (*)(const Context<Space::device>&,
                                                                     const Pattern<Space::device>&,
                                                                     const FormatRequest&);

/// Makes the operator for a canonical matrix in the given order; throws InputError and OutOfMemory.
template <class T, Space S>
using MakeSpmv = OperatorPtr<T, S> (*)(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&,
                                       const FormatRequest&);

/// Estimates what the format will cost for a pattern.
using EstimateFormatCost = CostEstimate (*)(const PatternFacts&, const FormatRequest&);

/// One line of the table.
struct SpmvFormat {
  std::string name;                   ///< as users write it
  std::vector<std::string> variants;  ///< without one, the format chooses or takes the first; its README says
  std::string summary;                ///< one line for help texts
  /// Bytes that the format will hold for a matrix of this size, estimated from the size alone.
  std::uint64_t (*estimate_bytes)(Index rows, Index cols, Offset nonzeros, std::size_t value_bytes) = nullptr;
  EstimateFormatCost cost_estimate = nullptr;  ///< null: never chosen by cost
  /// Null for a format that takes any order as it comes.
  PlanOrder plan = nullptr;
  /// Whether the variant numbers x and y alike, and so takes square matrices only. Null: none does.
  bool (*square_only)(std::string_view variant) = nullptr;
  /// The fallback format of a format for symmetric matrices: for matrices without symmetry, such as those of a
  /// preconditioner. Empty: itself.
  std::string fallback = {};
  bool parts = false;                  ///< its rows lie in parts: `SpmvOptions::partitioner` and `parts` apply
  bool resident = false;               ///< solvers with a kernel for what fits on the chip take it
  FactoryColumns<MakeSpmv> make = {};  ///< one for each precision and space
  /// Null: the host plans for the device too, from a copy of the pattern.
  PlanOrderOnDevice plan_on_device = nullptr;
};

/// The constructor columns of a class template with the constructor (ctx, matrix, order, request).
template <template <class, Space> class Operator>
struct MakeFormatOperator {
  /// A column of the table: calls the class's constructor.
  template <class T, Space S>
  static OperatorPtr<T, S> make(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                const FormatRequest& request) {
    return std::make_unique<Operator<T, S>>(ctx, a, order, request);
  }
};

/// `format` with these columns, and with `plan`, where the build has CUDA.
template <template <class, Space> class Operator, PlanOrderOnDevice plan = nullptr>
SpmvFormat with_operator(SpmvFormat format) {
  fill_columns<MakeFormatOperator<Operator>>(format.make);
  if constexpr (NEWEL_HAS_CUDA == 1) format.plan_on_device = plan;
  return format;
}

}  // namespace newel

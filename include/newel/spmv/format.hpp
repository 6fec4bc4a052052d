// SPDX-License-Identifier: Apache-2.0
/// SpmvFormat: the description of a product format for the rest of Newel, one row of the table in
/// `newel/spmv/registry.hpp`.
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

/// Which format, and its options.
struct SpmvOptions {
  /// A name in the table, followed by a colon and a variant if the format has variants ("csr:alg2"). Case is ignored,
  /// and so are '-' and '_'.
  std::string format = "csr";
  /// How formats with parts (EHYB) find them, and how many parts they use; 0 parts: as many as fit their caches.
  Partitioner partitioner = Partitioner::automatic;
  Index parts = 0;  ///< see `partitioner`
  /// Coordinates of the nodes in the caller's numbering: for Partitioner::coordinates, and for preconditioners that
  /// use them (AMG's rigid body modes).
  std::shared_ptr<const NodeCoordinates> coordinates = nullptr;
  /// A folder that stores orders and measured choices per pattern, machine and options; it is created if missing.
  /// Empty: none. A damaged file, or one of another version, is ignored, and the order's report says so.
  std::string plan_cache = {};
  /// ELL-WARP (k2 and related formats): at most this many entries of a row per thread. 0: chosen by a model.
  Index ell_warp_threshold = 0;
  /// ELL-WARP: rows are sorted by length within windows of this many neighbouring rows. 0: 64 warps; on a device one
  /// thread block (512 rows) if no row is far longer than the mean. At least the number of rows: sorts all rows, as
  /// in the paper.
  Index ell_warp_window = 0;
  /// For "auto": products are with one vector at a time, and the values of the matrix are symmetric bit for bit. A
  /// format that reads only one of two opposite entries may then be chosen.
  bool equal_opposites = false;
};

/// A request for a format.
struct FormatRequest {
  std::string variant;                       ///< canonical name; empty: the format's default
  const SpmvOptions& options;                ///< as given by the caller
  Machine machine;                           ///< that computes the products
  std::size_t value_bytes = sizeof(double);  ///< per value of the matrix
  const PatternFacts* facts = nullptr;       ///< of the pattern, in any order; null: not known
};

/// Computes the row order that a format wants for a canonical pattern.
using PlanOrder = RowOrder<Space::host> (*)(const Context<Space::host>&, const Pattern<Space::host>&,
                                            const FormatRequest&);

/// The same for a pattern on the device; the order stays there. nullopt: the host must compute it.
using PlanOrderOnDevice = std::optional<RowOrder<Space::device>> (*)(const Context<Space::device>&,
                                                                     const Pattern<Space::device>&,
                                                                     const FormatRequest&);

/// Makes the operator for a canonical matrix in the given order; throws InputError and OutOfMemory.
template <class T, Space S>
using MakeSpmv = OperatorPtr<T, S> (*)(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&,
                                       const FormatRequest&);

/// Estimates the cost of the format for a pattern.
using EstimateFormatCost = CostEstimate (*)(const PatternFacts&, const FormatRequest&);

/// One row of the table of formats.
struct SpmvFormat {
  std::string name;                   ///< as users write it
  std::vector<std::string> variants;  ///< if none is named, the format chooses or uses the first; see its README
  std::string summary;                ///< one line for help texts
  /// Estimated bytes that the format holds for a matrix of this size, from the size alone.
  std::uint64_t (*estimate_bytes)(Index rows, Index cols, Offset nonzeros, std::size_t value_bytes) = nullptr;
  EstimateFormatCost cost_estimate = nullptr;  ///< null: never chosen by cost
  /// Null for a format that accepts any order.
  PlanOrder plan = nullptr;
  /// Whether the variant numbers x and y alike, and so needs a square matrix. Null: no variant does.
  bool (*square_only)(std::string_view variant) = nullptr;
  /// For formats of symmetric matrices: the format for matrices without symmetry, such as those of a preconditioner.
  /// Empty: the format itself.
  std::string fallback = {};
  bool parts = false;                  ///< rows are grouped in parts: `SpmvOptions::partitioner` and `parts` apply
  bool resident = false;               ///< solvers with a kernel for systems that fit on the chip support it
  FactoryColumns<MakeSpmv> make = {};  ///< one for each precision and space
  /// Null: the host computes the order for the device too, from a copy of the pattern.
  PlanOrderOnDevice plan_on_device = nullptr;
};

/// Fills the `make` columns for a class template with the constructor (ctx, matrix, order, request).
template <template <class, Space> class Operator>
struct MakeFormatOperator {
  /// One column of the table: calls the constructor.
  template <class T, Space S>
  static OperatorPtr<T, S> make(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                const FormatRequest& request) {
    return std::make_unique<Operator<T, S>>(ctx, a, order, request);
  }
};

/// `format` with these columns; with `plan`, if the build has CUDA.
template <template <class, Space> class Operator, PlanOrderOnDevice plan = nullptr>
SpmvFormat with_operator(SpmvFormat format) {
  fill_columns<MakeFormatOperator<Operator>>(format.make);
  if constexpr (NEWEL_HAS_CUDA == 1) format.plan_on_device = plan;
  return format;
}

}  // namespace newel

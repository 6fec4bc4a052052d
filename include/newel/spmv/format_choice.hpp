// SPDX-License-Identifier: Apache-2.0
/// Which format for this matrix: by a cost model ("auto") or by measuring ("measure").
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <newel/spmv/registry.hpp>

namespace newel {

/// One format that was considered.
struct FormatTrial {
  std::string format;          ///< as in the table, with the variant that was built where one was built
  double product_seconds = 0;  ///< estimated, or the median measured
  double setup_seconds = 0;    ///< from CSR to the first product: estimated, or measured
  std::string failure;         ///< why it is no candidate; empty: it is one
  /// Estimated, of the loop that would run, preconditioner included; 0: only products are compared.
  double iteration_seconds = 0;
  bool resident = false;  ///< the iteration is that of a kernel that keeps its vectors on the chip

  /// Of an iteration, or of a product where only these are compared.
  double step_seconds() const { return iteration_seconds > 0 ? iteration_seconds : product_seconds; }
  /// Of the setup and so many iterations or products.
  double seconds_of(double steps) const { return setup_seconds + steps * step_seconds(); }
};

/// A choice and its grounds.
struct FormatChoice {
  std::string format = "csr";  ///< the name in the table
  std::string reason;     ///< "pays back after about 310 iterations, 1,900 are expected"; empty: it was requested
  bool measured = false;  ///< by the clock rather than by the cost model
  std::vector<FormatTrial> trials;  ///< csr first
};

/// Whether the name is "auto" or "measure": words of SpmvOptions::format that LinearSystem and the command line
/// understand. They are no formats themselves.
bool is_format_choice(std::string_view name);

/// Seconds of an iteration with a product of that cost.
struct IterationEstimate {
  double seconds = 0;     ///< of one iteration
  bool resident = false;  ///< in a kernel that keeps its vectors on the chip
};

/// What a format is chosen for.
struct FormatUse {
  /// Iterations, or products where `iteration` is empty; 0: `expected_iterations` of one solve to `rel_tol`.
  double steps = 0;
  bool may_renumber = true;             ///< whether formats with an order of their own are considered
  double rel_tol = 1e-8;                ///< of the solves, relative to |b|
  double estimate_scale = 1;            ///< what `expected_iterations` is multiplied by
  const PatternFacts* facts = nullptr;  ///< of the pattern; null: not known yet
  const Machine* machine = nullptr;     ///< null: as `machine_of` knows it
  /// The estimate for an iteration of the loop that would run with a format; empty: products are compared.
  std::function<IterationEstimate(const SpmvFormat&, const PatternFacts&, const CostEstimate&)> iteration = {};
};

/// After how many products the dearer setup of `format` is earned back against `base`; infinite where its product is
/// no faster, 0 where its setup is no dearer either.
double break_even(const FormatTrial& format, const FormatTrial& base);

/// Iterations of one solve to `rel_tol` by CG with Jacobi on a 3-D mesh, measured on 14 of them: c ln(1 / rel_tol)
/// N^(1/3) for N nodes, with one c for one unknown a node and another for several. An estimate: it may be three times
/// too high or too low, for iterations depend on much that sizes do not show.
double expected_iterations(const PatternFacts& facts, double rel_tol);

/// A relative tolerance for estimates: the caller's may be 0, or 1 and more.
double tolerance_for_estimates(double rel_tol);

/// The format of fewest seconds for the steps of `use` and one setup, by the formats' cost estimates. Deterministic:
/// it reads no clock. Formats that renumber are left out where `use.may_renumber` is false or the matrix is
/// rectangular. O(nnz); of a device pattern the row pointers are downloaded.
template <class T, Space S>
FormatChoice choose_format_by_cost(const Context<S>& ctx, const Pattern<S>& pattern, const SpmvOptions& options,
                                   const FormatUse& use);

/// The same by building every format of the table and timing its product. Takes as long as all their setups
/// together; a choice kept in `options.plan_cache` is taken from there. A format that cannot be built (memory, say)
/// is a trial with its failure.
template <class T, Space S>
FormatChoice measure_formats(const Context<S>& ctx, const CsrView<T, S>& a, const SpmvOptions& options,
                             double products, bool may_renumber = true);

}  // namespace newel

// SPDX-License-Identifier: Apache-2.0
/// Chooses a format for a matrix: by a cost model ("auto") or by measurement ("measure").
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <newel/spmv/registry.hpp>

namespace newel {

/// One format that was considered.
struct FormatTrial {
  std::string format;          ///< name in the table, with the variant if the format was built
  double product_seconds = 0;  ///< estimated, or the measured median
  double setup_seconds = 0;    ///< from CSR to the first product, estimated or measured
  std::string failure;         ///< why it cannot be used; empty: it can
  /// Estimated seconds per iteration of the solver's loop, preconditioner included; 0: only products are compared.
  double iteration_seconds = 0;
  bool resident = false;  ///< the iteration runs in a kernel that keeps its vectors on the chip

  /// Seconds of an iteration, or of a product if only products are compared.
  double step_seconds() const { return iteration_seconds > 0 ? iteration_seconds : product_seconds; }
  /// Seconds of the setup and `steps` iterations or products.
  double seconds_of(double steps) const { return setup_seconds + steps * step_seconds(); }
};

/// A choice and its reason.
struct FormatChoice {
  std::string format = "csr";  ///< the name in the table
  std::string reason;          ///< "pays back after about 310 iterations, 1,900 are expected"; empty: it was named
  bool measured = false;       ///< by time measurement, not by the cost model
  std::vector<FormatTrial> trials;  ///< csr first
};

/// Whether the name is "auto" or "measure". LinearSystem and the command line accept these values of
/// SpmvOptions::format; they are not formats themselves.
bool is_format_choice(std::string_view name);

/// Estimated seconds of an iteration with a given product.
struct IterationEstimate {
  double seconds = 0;     ///< per iteration
  bool resident = false;  ///< in a kernel that keeps its vectors on the chip
};

/// What a format is chosen for.
struct FormatUse {
  /// Number of iterations, or of products if `iteration` is empty; 0: `expected_iterations` of one solve to
  /// `rel_tol`.
  double steps = 0;
  bool may_renumber = true;             ///< consider formats with their own row order
  double rel_tol = 1e-8;                ///< of the solves, relative to |b|
  double estimate_scale = 1;            ///< factor on `expected_iterations`
  const PatternFacts* facts = nullptr;  ///< of the pattern; null: not known yet
  const Machine* machine = nullptr;     ///< null: from `machine_of`
  /// Estimates an iteration of the solver's loop with a format; empty: products are compared.
  std::function<IterationEstimate(const SpmvFormat&, const PatternFacts&, const CostEstimate&)> iteration = {};
};

/// Number of products after which `format` recovers its higher setup cost compared with `base`. 0 if its product is
/// not slower and its setup costs no more. Infinite if its product is slower, or as fast with a costlier setup.
double break_even(const FormatTrial& format, const FormatTrial& base);

/// Estimated iterations of one solve to `rel_tol` by CG with Jacobi on a 3-D mesh: c ln(1 / rel_tol) N^(1/3) for N
/// nodes. c was fitted to 14 meshes, with one value for one unknown per node and another for several. The estimate
/// may be wrong by a factor of three, because iterations depend on more than size.
double expected_iterations(const PatternFacts& facts, double rel_tol);

/// A valid relative tolerance for estimates: the caller's may be 0, or 1 and more.
double tolerance_for_estimates(double rel_tol);

/// The format with the lowest estimated time for one setup and the steps of `use`. Deterministic: no time is
/// measured. Formats that renumber are skipped if `use.may_renumber` is false or the matrix is rectangular. O(nnz);
/// the row pointers of a device pattern are downloaded.
template <class T, Space S>
FormatChoice choose_format_by_cost(const Context<S>& ctx, const Pattern<S>& pattern, const SpmvOptions& options,
                                   const FormatUse& use);

/// The same by building every format of the table and timing its product. Takes as long as all setups together,
/// unless `options.plan_cache` holds the choice. A format that cannot be built, for example for lack of memory, is
/// reported as a trial with its failure.
template <class T, Space S>
FormatChoice measure_formats(const Context<S>& ctx, const CsrView<T, S>& a, const SpmvOptions& options,
                             double products, bool may_renumber = true);

}  // namespace newel

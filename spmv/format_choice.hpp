// SPDX-License-Identifier: Apache-2.0
/// Which format for this matrix: by a cost model ("auto") or by measuring ("measure").
#pragma once

#include <string>
#include <vector>

#include <purlin/spmv/registry.hpp>

namespace purlin {

/// One format that was considered.
struct FormatTrial {
  std::string format;          ///< as in the table, with the variant that was built where one was built
  double product_seconds = 0;  ///< estimated, or the median measured
  double setup_seconds = 0;    ///< from CSR to the first product: estimated, or measured
  std::string failure;         ///< why it is no candidate; empty: it is one

  double seconds_of(double products) const { return setup_seconds + products * product_seconds; }
};

/// A choice and its grounds.
struct FormatChoice {
  std::string format = "csr";
  std::string reason;  ///< "pays back after about 310 products, 1,900 are expected"; empty: it was requested
  bool measured = false;
  std::vector<FormatTrial> trials;  ///< csr first
};

/// Whether the name is "auto" or "measure": words of SpmvOptions::format that LinearSystem and the command line
/// understand. They are no formats themselves.
bool is_format_choice(std::string_view name);

/// After how many products the dearer setup of `format` is earned back against `base`; infinite where its product is
/// no faster, 0 where its setup is no dearer either.
double break_even(const FormatTrial& format, const FormatTrial& base);

/// Products of one solve of a system of n unknowns to `rel_tol` by CG with Jacobi, in the middle between diffusion
/// and elasticity on 3-D meshes: 0.6 ln(1 / rel_tol) n^(1/3). An estimate: iterations depend on much that n does not
/// tell.
double expected_products(Index n, double rel_tol);

/// A relative tolerance for estimates: the caller's may be 0, or 1 and more.
double tolerance_for_estimates(double rel_tol);

/// The format of fewest seconds for `products` products and one setup, by the formats' cost estimates. Deterministic:
/// it reads no clock. Formats that renumber are left out where `may_renumber` is false or the matrix is rectangular.
/// O(nnz) on the host; a device pattern is downloaded.
template <class T, Space S>
FormatChoice choose_format_by_cost(const Context<S>& ctx, const Pattern<S>& pattern, const SpmvOptions& options,
                                   double products, bool may_renumber = true);

/// The same by building every format of the table and timing its product. Takes as long as all their setups
/// together; a choice kept in `options.plan_cache` is taken from there. A format that cannot be built (memory, say)
/// is a trial with its failure.
template <class T, Space S>
FormatChoice measure_formats(const Context<S>& ctx, const CsrView<T, S>& a, const SpmvOptions& options,
                             double products, bool may_renumber = true);

}  // namespace purlin

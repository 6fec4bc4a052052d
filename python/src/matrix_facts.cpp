// SPDX-License-Identifier: Apache-2.0
// Symmetry, diagonal, node blocks, the solvers that "auto" would try, and the bytes of each format.
#include "matrix_facts.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <newel/core/assembled_matrix.hpp>
#include <newel/core/matrix_traits.hpp>
#include <newel/solver/choice.hpp>
#include <newel/spmv/registry.hpp>

#include "gil.hpp"
#include "matrix_arrays.hpp"
#include "report.hpp"

namespace newel::python {
namespace {

nb::dict traits_dict(const MatrixTraits& traits) {
  nb::dict d;
  d["symmetric"] = traits.symmetric();
  d["pattern_symmetric"] = traits.pattern_symmetric;
  d["largest_value"] = traits.max_abs;
  d["largest_asymmetry"] = traits.max_asymmetry;
  d["relative_asymmetry"] = traits.relative_asymmetry;
  d["positive_diagonal"] = traits.positive_diagonal();
  d["empty_rows"] = rows_dict(traits.empty_rows);
  d["missing_diagonal"] = rows_dict(traits.missing_diagonal);
  d["zero_diagonal"] = rows_dict(traits.zero_diagonal);
  d["negative_diagonal"] = rows_dict(traits.negative_diagonal);
  return d;
}

template <class T>
nb::dict facts_of(const MatrixArrays& arrays, int threads) {
  const Context<host> ctx(threads);
  const MatrixInput<T, host> input = arrays.input<T>();
  CsrView<T, host> a;
  MatrixTraits traits;
  Index block = 1;
  {
    const WithoutGil released;
    const AssembledMatrix<T, host> assembled(ctx, input);
    a = assembled.view();
    traits = matrix_traits<T>(ctx, a);
    block = node_block_size(ctx, a);
  }
  nb::dict d = traits_dict(traits);
  d["node_block"] = block;
  if (traits.square) {
    const SolverChoice choice = choose_solver(traits);
    d["solvers"] = choice.order;
    d["reason"] = choice.reason;
  }
  nb::dict bytes;
  for (const SpmvFormat& format : spmv_formats()) {
    bytes[format.name.c_str()] = format.estimate_bytes(a.rows, a.cols, a.nnz(), sizeof(T));
  }
  d["format_bytes"] = bytes;
  return d;
}

}  // namespace

void bind_matrix_facts(nb::module_& module) {
  module.def(
      "matrix_facts",
      [](const MatrixArrays& arrays, bool single, int threads) {
        return single ? facts_of<float>(arrays, threads) : facts_of<double>(arrays, threads);
      },
      nb::arg("arrays"), nb::arg("single"), nb::arg("threads"));
}

}  // namespace newel::python

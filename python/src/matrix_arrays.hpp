// SPDX-License-Identifier: Apache-2.0
/// MatrixArrays: the arrays of a matrix as Python hands them over, held until the library has read them.
#pragma once

#include <cstdint>
#include <string>

#include <purlin/core/matrix_input.hpp>

#include "arrays.hpp"

namespace purlin::python {

/// "csr", "csc" and "bsr" (a block's values by rows): `first` are the pointers, `second` the indices. "coo": `first`
/// are the rows, `second` the columns. Throws as the caster does for arrays of other types.
struct MatrixArrays {
  std::string form;
  std::int64_t rows, cols;  ///< in blocks for "bsr"
  std::int64_t block_size;
  Flat first, second, values;

  template <class T>
  MatrixInput<T, host> input() const;

  /// A number that differs, but for chance in 2^128, where form, sizes or a position differ; the width of the
  /// integers makes no difference.
  std::pair<std::uint64_t, std::uint64_t> pattern_hash() const;
};

void bind_matrix_arrays(nb::module_& module);

}  // namespace purlin::python

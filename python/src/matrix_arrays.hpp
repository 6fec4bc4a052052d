// SPDX-License-Identifier: Apache-2.0
/// MatrixArrays: the arrays of a matrix as Python hands them over, held until the library has read them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/matrix_input.hpp>

#include "arrays.hpp"
#include "pattern_hash.hpp"

namespace newel::python {

/// What is known of a matrix besides its arrays. "csr", "csc" and "bsr" (a block's values by rows): the first array
/// are the pointers, the second the indices. "coo": the first are the rows, the second the columns.
struct MatrixForm {
  std::string form;
  std::int64_t rows, cols;  ///< in blocks for "bsr"
  std::int64_t block_size;

  /// Throws InputError for a form that there is not.
  template <class T, Space S>
  MatrixInput<T, S> input(IndexSpan<S> first, IndexSpan<S> second, Span<const T, S> values) const {
    using Input = MatrixInput<T, S>;
    if (form == "csr") return Input::csr(rows, cols, first, second, values);
    if (form == "csc") return Input::csc(rows, cols, first, second, values);
    if (form == "coo") return Input::coo(rows, cols, first, second, values);
    if (form == "bsr") return Input::bsr(rows, cols, block_size, first, second, values);
    throw InputError("a matrix is handed over as csr, csc, coo or bsr, not as " + form);
  }

  /// A number that differs, but for chance in 2^128, where form, sizes or a position differ; the width of the
  /// integers and where they lie makes no difference. The arrays by their sums (`sums_of`) and lengths.
  Hash pattern_hash(const Hash& first, std::int64_t first_size, const Hash& second, std::int64_t second_size) const;
};

/// Arrays in the memory of the host. Throws as the caster does for arrays of other types.
struct MatrixArrays : MatrixForm {
  Flat first, second, values;

  MatrixArrays(MatrixForm form, Flat first, Flat second, Flat values)
      : MatrixForm(std::move(form)), first(std::move(first)), second(std::move(second)), values(std::move(values)) {}

  /// Throws TypeError for values that are not of type T.
  template <class T>
  MatrixInput<T, host> input() const {
    return MatrixForm::input<T, host>(indices_of(first), indices_of(second), values_of<T>(values));
  }
  Hash hash() const;
  /// Row and column of value k; (-1, -1) if the arrays are too short for one.
  std::pair<std::int64_t, std::int64_t> place(std::int64_t k) const;
};

void bind_matrix_arrays(nb::module_& module);

}  // namespace newel::python

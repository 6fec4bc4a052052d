// SPDX-License-Identifier: Apache-2.0
// A file as the arrays of a CSR matrix, or as columns, which NumPy owns from then on.
#include "matrix_files.hpp"

#include <nanobind/stl/string.h>

#include <limits>

#include <newel/io/matrix_file.hpp>

#include "arrays.hpp"
#include "gil.hpp"

namespace newel::python {
namespace {

// SciPy wants pointers and columns of one type; those of the columns suffice for most matrices.
nb::object pointers(Array<Offset, host> row_ptr, Offset nonzeros) {
  if (nonzeros > std::numeric_limits<std::int32_t>::max()) return as_numpy(std::move(row_ptr));
  return as_numpy(std::vector<std::int32_t>(row_ptr.begin(), row_ptr.end()));
}

template <class T>
nb::tuple as_tuple(Csr<T, host> a, bool full) {
  const Offset nonzeros = a.nnz();
  return nb::make_tuple(a.rows, a.cols, pointers(std::move(a.row_ptr), nonzeros), as_numpy(std::move(a.col)),
                        as_numpy(std::move(a.val)), full);
}

nb::tuple as_tuple(MatrixFile file) {
  const bool full = file.full;
  if (file.imaginary.empty()) return as_tuple(std::move(file.a), full);
  return as_tuple(complex_matrix(Context<host>(1), std::move(file)), full);
}

nb::tuple read_file(const std::string& path, int threads) {
  const Context<host> ctx(threads);
  MatrixFile file;
  {
    const WithoutGil released;
    file = read_complex_matrix_file(ctx, path);
  }
  return as_tuple(std::move(file));
}

nb::tuple parse_bytes(const nb::bytes& bytes, const std::string& name, int threads) {
  const Context<host> ctx(threads);
  const std::string_view view(bytes.c_str(), bytes.size());
  MatrixFile file;
  {
    const WithoutGil released;
    file = parse_complex_matrix_file(ctx, view, name);
  }
  return as_tuple(std::move(file));
}

}  // namespace

void bind_matrix_files(nb::module_& module) {
  module.def("read_matrix_file", &read_file, nb::arg("path"), nb::arg("threads"),
             "rows, cols, row pointers, columns, values, and whether the file holds a full array.");
  module.def("parse_matrix_file", &parse_bytes, nb::arg("bytes"), nb::arg("name"), nb::arg("threads"),
             "The same from the bytes of a file in memory.");
}

}  // namespace newel::python

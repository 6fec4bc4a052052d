// SPDX-License-Identifier: Apache-2.0
// A file as the arrays of a CSR matrix, or as columns, which NumPy owns from then on.
#include "matrix_market.hpp"

#include <nanobind/stl/string.h>

#include <limits>

#include <purlin/core/matrix_market.hpp>

#include "arrays.hpp"
#include "gil.hpp"

namespace purlin::python {
namespace {

// SciPy wants pointers and columns of one type; those of the columns suffice for most matrices.
nb::object pointers(Array<Offset, host> row_ptr, Offset nonzeros) {
  if (nonzeros > std::numeric_limits<std::int32_t>::max()) return as_numpy(std::move(row_ptr));
  return as_numpy(std::vector<std::int32_t>(row_ptr.begin(), row_ptr.end()));
}

nb::tuple as_tuple(Csr<double, host> a, const MatrixMarketHeader& header) {
  const Offset nonzeros = a.nnz();
  return nb::make_tuple(a.rows, a.cols, pointers(std::move(a.row_ptr), nonzeros), as_numpy(std::move(a.col)),
                        as_numpy(std::move(a.val)), header.layout == MatrixMarketHeader::Layout::array);
}

nb::tuple read_file(const std::string& path, int threads) {
  const Context<host> ctx(threads);
  MatrixMarketHeader header;
  Csr<double, host> a;
  {
    const WithoutGil released;
    a = read_matrix(ctx, path, &header);
  }
  return as_tuple(std::move(a), header);
}

nb::tuple parse_text(const nb::bytes& text, const std::string& name, int threads) {
  const Context<host> ctx(threads);
  const std::string_view view(text.c_str(), text.size());
  MatrixMarketHeader header;
  Csr<double, host> a;
  {
    const WithoutGil released;
    a = parse_matrix(ctx, view, name, &header);
  }
  return as_tuple(std::move(a), header);
}

}  // namespace

void bind_matrix_market(nb::module_& module) {
  module.def("read_matrix", &read_file, nb::arg("path"), nb::arg("threads"),
             "rows, cols, row pointers, columns, values, and whether the file holds a full array.");
  module.def("parse_matrix", &parse_text, nb::arg("text"), nb::arg("name"), nb::arg("threads"),
             "The same from text in memory.");
}

}  // namespace purlin::python

// SPDX-License-Identifier: Apache-2.0
// A system whose matrix is diagonal, solved where it lies.
#include "diagonal.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "matrix_arrays.hpp"

namespace newel::python {
namespace {

// Row i has one entry, and that in column i.
template <class I>
bool is_diagonal(const IndexSpan<host>& pointers, const IndexSpan<host>& indices, std::int64_t n) {
  const I* const p = static_cast<const I*>(pointers.data);
  const I* const j = static_cast<const I*>(indices.data);
  bool diagonal = p[n] == static_cast<I>(n);
  for (std::int64_t i = 0; i < n; ++i) diagonal &= p[i] == static_cast<I>(i) && j[i] == static_cast<I>(i);
  return diagonal;
}

bool is_diagonal(const MatrixArrays& a) {
  const bool compressed = a.form == "csr" || a.form == "csc";
  if (!compressed || a.rows != a.cols) return false;
  const IndexSpan<host> pointers = indices_of(a.first), indices = indices_of(a.second);
  const auto values = static_cast<std::int64_t>(a.values.shape(0));
  if (a.rows < 1 || pointers.size != a.rows + 1 || indices.size != a.rows || values != a.rows) return false;
  if (pointers.kind != indices.kind) return false;
  if (pointers.kind == IndexKind::int32) return is_diagonal<std::int32_t>(pointers, indices, a.rows);
  if (pointers.kind == IndexKind::int64) return is_diagonal<std::int64_t>(pointers, indices, a.rows);
  return false;
}

// max |r_i| / (|d_i| max |x| + |b_i|)
double worst_row(Span<const double, host> d, Span<const double, host> b, Span<const double, host> x) {
  double x_max = 0, worst = 0;
  for (const double value : x) x_max = std::fmax(x_max, std::fabs(value));
  for (std::int64_t i = 0; i < d.size; ++i) {
    const double size = std::fabs(d[i]) * x_max + std::fabs(b[i]);
    if (size > 0) worst = std::fmax(worst, std::fabs(std::fma(-d[i], x[i], b[i])) / size);
  }
  return worst;
}

// (|b|, |b - A x|, the residual of the worst row), or None where the matrix is not diagonal, or where a solver has to
// say what is wrong: a zero on the diagonal, numbers near the ends of the range, or a tolerance that is not met.
nb::object divide_by_diagonal(const MatrixArrays& a, const FlatOf<double>& rhs, const WritableOf<double>& solution,
                              double rtol, double atol) {
  if (!is_diagonal(a)) return nb::none();
  const Span<const double, host> d = values_of<double>(a.values), b = span_of(rhs);
  const Span<double, host> x = span_of(solution);
  if (b.size != d.size || x.size != d.size) return nb::none();
  double b_squares = 0, r_squares = 0, x_squares = 0;
  for (std::int64_t i = 0; i < d.size; ++i) {
    const double quotient = b[i] / d[i], r = std::fma(-d[i], quotient, b[i]);  // exact
    x[i] = quotient;
    b_squares += b[i] * b[i];
    r_squares += r * r;
    x_squares += quotient * quotient;
  }
  constexpr double least = std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();
  const double b_norm = std::sqrt(b_squares), r_norm = std::sqrt(r_squares);
  const bool solved = b_squares >= least && std::isfinite(b_squares) && std::isfinite(x_squares) && rtol >= 0 &&
                      atol >= 0 && (r_norm <= rtol * b_norm || r_norm <= atol);
  if (!solved) return nb::none();
  return nb::make_tuple(b_norm, r_norm, worst_row(d, b, x));
}

}  // namespace

void bind_diagonal(nb::module_& module) {
  module.def("divide_by_diagonal", &divide_by_diagonal, nb::arg("arrays"), nb::arg("b"), nb::arg("x"),
             nb::arg("rtol"), nb::arg("atol"));
}

}  // namespace newel::python

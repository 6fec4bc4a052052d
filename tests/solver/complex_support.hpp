// SPDX-License-Identifier: Apache-2.0
/// Complex matrices of the kinds that occur, in plain maps, with dense solutions by Eigen.
#pragma once

#include <complex>
#include <map>
#include <vector>

#include <Eigen/Dense>

#include <newel/core/matrix_input.hpp>
#include <newel/solver/complex_system.hpp>

#include "tests/catch.hpp"
#include "tests/matrices.hpp"

namespace newel::testing {

using Complex = std::complex<double>;
using ComplexVector = std::vector<Complex>;

/// A square matrix by rows.
struct ComplexRows {
  std::vector<std::map<Index, Complex>> row;

  explicit ComplexRows(Index n) : row(static_cast<std::size_t>(n)) {}
  Index size() const { return static_cast<Index>(row.size()); }
  Complex& at(Index i, Index j) { return row[static_cast<std::size_t>(i)][j]; }

  Eigen::MatrixXcd dense() const {
    Eigen::MatrixXcd a = Eigen::MatrixXcd::Zero(size(), size());
    for (Index i = 0; i < size(); ++i) {
      for (const auto& [j, value] : row[static_cast<std::size_t>(i)]) a(i, j) = value;
    }
    return a;
  }
  ComplexVector times(const ComplexVector& x) const {
    ComplexVector y(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (const auto& [j, value] : row[i]) y[i] += value * x[static_cast<std::size_t>(j)];
    }
    return y;
  }
};

/// On a square grid with m x m points: the Laplacian of a field whose neighbours differ by random phases, Hermitian
/// and positive definite.
inline ComplexRows gauge_laplacian(Index m, double mass = 0.1) {
  ComplexRows a(m * m);
  Random random(3);
  for (Index y = 0; y < m; ++y) {
    for (Index x = 0; x < m; ++x) {
      const Index i = y * m + x;
      a.at(i, i) = 4 + mass;
      for (const Index j : {y * m + (x + 1) % m, (y + 1) % m * m + x}) {
        const Complex phase = std::polar(1.0, 3.0 * random.value());
        a.at(i, j) -= phase;
        a.at(j, i) -= std::conj(phase);
      }
    }
  }
  return a;
}

/// -Laplace u - k^2 u with an absorbing boundary, du/dn = i k u: equal to its transpose, not Hermitian. `kh` is k
/// times the distance of two points.
inline ComplexRows helmholtz(Index m, double kh) {
  ComplexRows a(m * m);
  for (Index y = 0; y < m; ++y) {
    for (Index x = 0; x < m; ++x) {
      const Index i = y * m + x;
      a.at(i, i) = -kh * kh;
      for (const auto& [dx, dy] : {std::pair<Index, Index>{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
        const bool inside = x + dx >= 0 && x + dx < m && y + dy >= 0 && y + dy < m;
        if (inside) {
          a.at(i, i) += 1.0;
          a.at(i, (y + dy) * m + x + dx) = -1.0;
        } else {
          a.at(i, i) -= Complex(0, kh);
        }
      }
    }
  }
  return a;
}

/// The five-point Laplacian of an m x m grid plus a multiple of the identity, all times a factor.
inline ComplexRows laplacian(Index m, Complex shift, Complex factor = 1) {
  ComplexRows a(m * m);
  for (Index i = 0; i < m * m; ++i) {
    a.at(i, i) = factor * (4.0 + shift);
    if (i % m > 0) a.at(i, i - 1) = -factor;
    if (i % m < m - 1) a.at(i, i + 1) = -factor;
    if (i >= m) a.at(i, i - m) = -factor;
    if (i < m * (m - 1)) a.at(i, i + m) = -factor;
  }
  return a;
}

/// Random entries on and around the diagonal, which dominates; no symmetry.
inline ComplexRows unsymmetric(Index n) {
  ComplexRows a(n);
  Random random(7);
  for (Index i = 0; i < n; ++i) {
    for (int e = 0; e < 5; ++e) a.at(i, random.index(n)) += Complex(random.value(), random.value());
    a.at(i, i) += Complex(8, 3);
  }
  return a;
}

inline ComplexVector random_vector(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  ComplexVector x(n);
  for (Complex& value : x) value = Complex(random.value(), random.value());
  return x;
}

inline double norm(const ComplexVector& x) {
  double sum = 0;
  for (const Complex& value : x) sum += std::norm(value);
  return std::sqrt(sum);
}
inline ComplexVector minus(const ComplexVector& x, const ComplexVector& y) {
  ComplexVector z(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) z[i] = x[i] - y[i];
  return z;
}

/// By Eigen's dense LU factors.
inline ComplexVector dense_solution(const ComplexRows& a, const ComplexVector& b) {
  const Eigen::VectorXcd x =
      a.dense().partialPivLu().solve(Eigen::Map<const Eigen::VectorXcd>(b.data(), static_cast<Index>(b.size())));
  return {x.data(), x.data() + x.size()};
}

/// The arrays of CSR in a space.
template <class T, Space S>
struct ComplexArrays {
  Index n;
  Array<Offset, S> row_ptr;
  Array<Index, S> col;
  Array<std::complex<T>, S> val;

  ComplexArrays(const Context<S>& ctx, const ComplexRows& a) : n(a.size()) {
    std::vector<Offset> pointers = {0};
    std::vector<Index> columns;
    std::vector<std::complex<T>> values;
    for (const auto& row : a.row) {
      for (const auto& [j, value] : row) columns.push_back(j), values.push_back(std::complex<T>(value));
      pointers.push_back(static_cast<Offset>(columns.size()));
    }
    row_ptr = make_array(ctx, pointers);
    col = make_array(ctx, columns);
    val = make_array(ctx, values);
  }
  MatrixInput<std::complex<T>, S> input() const {
    return MatrixInput<std::complex<T>, S>::csr(n, n, row_ptr.cspan(), col.cspan(), val.cspan());
  }
};

/// Solves for b from zero, and returns x.
template <class T, Space S>
ComplexVector solved(const Context<S>& ctx, ComplexSystem<T, S>& system, const ComplexVector& b,
                     SolveReport* report) {
  std::vector<std::complex<T>> narrow(b.begin(), b.end());
  const Array<std::complex<T>, S> from = make_array(ctx, narrow);
  Array<std::complex<T>, S> to(ctx, from.size());
  *report = system.solve(from.cspan(), to.span(), {}, InitialGuess::zero);
  const std::vector<std::complex<T>> x = to_vector(ctx, to.cspan());
  return {x.begin(), x.end()};
}

}  // namespace newel::testing

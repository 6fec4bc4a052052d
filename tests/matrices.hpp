// SPDX-License-Identifier: Apache-2.0
/// The matrices that tests use: small, awkward and always the same. Made without the library, but for the FEM ones.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/fem/problem.hpp"

namespace newel::testing {

/// A small generator of our own (Weyl sequence through a mixing function): the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 32)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 .. bound - 1
  Index index(Index bound) { return static_cast<Index>(bits() % static_cast<std::uint64_t>(bound)); }
  /// In [-1, 1), never 0, with 21 bits: float and double hold the same number.
  double value() { return (static_cast<double>(bits() >> 44) + 0.5) / 524288.0 - 1.0; }

 private:
  std::uint64_t state_;
};

/// A canonical CSR matrix in plain vectors. Every generator's numbers are floats, so that both precisions hold the
/// same matrix.
struct HostCsr {
  Index rows = 0;
  Index cols = 0;
  std::vector<Offset> row_ptr = {0};
  std::vector<Index> col;
  std::vector<double> val;

  Offset nnz() const { return static_cast<Offset>(col.size()); }
  Offset row_length(Index i) const { return row_ptr[i + 1] - row_ptr[i]; }
};

/// Rows as maps from column to value.
using MapRows = std::vector<std::map<Index, double>>;

inline HostCsr from_rows(Index cols, const MapRows& rows) {
  HostCsr a;
  a.rows = static_cast<Index>(rows.size());
  a.cols = cols;
  for (const auto& row : rows) {
    for (const auto& [j, value] : row) {
      a.col.push_back(j);
      a.val.push_back(value);
    }
    a.row_ptr.push_back(a.nnz());
  }
  return a;
}

inline HostCsr diagonal_matrix(Index n) {
  Random random(11);
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) rows[i][i] = 2 + random.value();
  return from_rows(n, rows);
}

/// Diagonal, first row and first column; symmetric positive definite by its dominant diagonal.
inline HostCsr arrow_matrix(Index n) {
  Random random(12);
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) {
    rows[i][i] = i == 0 ? n + 1.0 : 3.0;
    if (i > 0) rows[0][i] = rows[i][0] = random.value();
  }
  return from_rows(n, rows);
}

/// -1, 2.125, -1: symmetric positive definite.
inline HostCsr tridiagonal_matrix(Index n, double diagonal = 2.125) {
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) {
    rows[i][i] = diagonal;
    if (i > 0) rows[i][i - 1] = -1;
    if (i + 1 < n) rows[i][i + 1] = -1;
  }
  return from_rows(n, rows);
}

/// A diagonal and one full row.
inline HostCsr dense_row_matrix(Index n, Index row) {
  Random random(13);
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) rows[i][i] = 2 + random.value();
  for (Index j = 0; j < n; ++j) rows[row][j] = random.value();
  rows[row][row] = 2 + n;
  return from_rows(n, rows);
}

/// A diagonal and one full column.
inline HostCsr dense_column_matrix(Index n, Index column) {
  Random random(14);
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) {
    rows[i][i] = 2 + random.value();
    rows[i][column] = i == column ? 2.0 + n : random.value();
  }
  return from_rows(n, rows);
}

inline HostCsr transposed(const HostCsr& a) {
  MapRows rows(a.cols);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) rows[a.col[k]][i] = a.val[k];
  }
  return from_rows(a.rows, rows);
}

/// Rows and columns renumbered: row i becomes row new_of_old[i].
inline HostCsr renumbered(const HostCsr& a, const std::vector<Index>& new_of_old) {
  MapRows rows(a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) rows[new_of_old[i]][new_of_old[a.col[k]]] = a.val[k];
  }
  return from_rows(a.cols, rows);
}

/// The order that undoes another.
inline std::vector<Index> inverse_of(const std::vector<Index>& order) {
  std::vector<Index> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<Index>(i);
  return inverse;
}

/// A pattern by the columns of its rows; each value is 1.
inline HostCsr pattern_matrix(const std::vector<std::vector<Index>>& columns_of_row, Index cols) {
  MapRows rows(columns_of_row.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const Index j : columns_of_row[i]) rows[i][j] = 1;
  }
  return from_rows(cols, rows);
}

/// No entry at all.
inline HostCsr empty_matrix(Index rows, Index cols) { return from_rows(cols, MapRows(rows)); }

/// Random columns, `length(i)` draws in row i.
template <class Length>
HostCsr random_matrix(Index rows, Index cols, std::uint64_t seed, Length&& length) {
  Random random(seed);
  MapRows result(rows);
  for (Index i = 0; i < rows; ++i) {
    for (Offset k = length(i); k > 0; --k) result[i][random.index(cols)] = random.value();
  }
  return from_rows(cols, result);
}

/// Rows of 0 to 12 entries, with runs of empty ones at the beginning, in the middle and at the end.
inline HostCsr ragged_matrix(Index rows, Index cols, std::uint64_t seed = 15) {
  return random_matrix(rows, cols, seed, [&](Index i) {
    const bool run = i < rows / 20 || i >= rows - rows / 20 || (i > rows / 2 && i < rows / 2 + rows / 10);
    return run ? Offset{0} : Offset{i * 7 % 13};
  });
}

/// Row lengths that fall like a power of a random rank: most rows short, a few longer than a warp or a block.
inline HostCsr power_law_matrix(Index n) {
  Random rank(16);
  return random_matrix(n, n, 17, [&](Index) { return Offset{n} / (1 + rank.index(n)); });
}

/// Square, every diagonal entry stored and dominant, not symmetric.
inline HostCsr dominant_matrix(Index n, std::uint64_t seed = 18) {
  Random random(seed);
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) {
    for (int k = 0; k < 6; ++k) rows[i][random.index(n)] = random.value();
    rows[i][i] = (i % 3 == 0 ? -7.0 : 7.0) + random.value();
  }
  return from_rows(n, rows);
}

/// Assembled by apps/fem (see `fem::generate_matrix`) and rounded to floats, which keeps it symmetric.
inline HostCsr fem_matrix(const std::string& spec) {
  const auto assembled = fem::generate_matrix(Context<Space::host>(1), spec);
  HostCsr a;
  a.rows = assembled.rows;
  a.cols = assembled.cols;
  a.row_ptr.assign(assembled.row_ptr.begin(), assembled.row_ptr.end());
  a.col.assign(assembled.col.begin(), assembled.col.end());
  for (const double value : assembled.val) a.val.push_back(static_cast<float>(value));
  return a;
}

struct NamedMatrix {
  std::string name;
  HostCsr matrix;
};

/// Whether NEWEL_TEST_FEW_MATRICES is set, as under a tool that slows each launch of a kernel down a hundredfold.
inline bool few_wanted() { return std::getenv("NEWEL_TEST_FEW_MATRICES") != nullptr; }

/// Whether NEWEL_TEST_UNTIMED is set, as under a tool that makes all seconds too long to be judged.
inline bool untimed() { return std::getenv("NEWEL_TEST_UNTIMED") != nullptr; }

/// Those of `all` that loops take: all of them, or where few are wanted those that reach every kernel.
inline std::vector<NamedMatrix> wanted_of(std::vector<NamedMatrix> all) {
  if (!few_wanted()) return all;
  const std::set<std::string> few = {"n = 0",     "tridiagonal of 33", "arrow", "dense first row",
                                     "power law", "elasticity",        "wide"};
  std::vector<NamedMatrix> wanted;
  for (NamedMatrix& matrix : all) {
    if (few.count(matrix.name) != 0) wanted.push_back(std::move(matrix));
  }
  return wanted;
}

/// Square matrices, from nothing at all to rows longer than a thread block.
inline std::vector<NamedMatrix> awkward_square_matrices() {
  std::vector<NamedMatrix> all;
  all.push_back({"n = 0", empty_matrix(0, 0)});
  for (const Index n : {1, 31, 32, 33}) {
    all.push_back({"tridiagonal of " + std::to_string(n), tridiagonal_matrix(n)});
    all.push_back({"no entries, n = " + std::to_string(n), empty_matrix(n, n)});
  }
  all.push_back({"diagonal", diagonal_matrix(1000)});
  all.push_back({"arrow", arrow_matrix(1500)});
  all.push_back({"dense first row", dense_row_matrix(3000, 0)});
  all.push_back({"dense last row", dense_row_matrix(3000, 2999)});
  all.push_back({"dense column", dense_column_matrix(1500, 700)});
  all.push_back({"runs of empty rows", ragged_matrix(4000, 4000)});
  all.push_back({"power law", power_law_matrix(5000)});
  all.push_back({"dominant", dominant_matrix(2500)});
  all.push_back({"diffusion", fem_matrix("generate:diffusion:9")});
  all.push_back({"elasticity", fem_matrix("generate:elasticity:6")});
  return wanted_of(std::move(all));
}

/// The square ones and rectangles.
inline std::vector<NamedMatrix> awkward_matrices() {
  std::vector<NamedMatrix> all = awkward_square_matrices();
  all.push_back({"0 x 7", empty_matrix(0, 7)});
  all.push_back({"7 x 0", empty_matrix(7, 0)});
  all.push_back({"wide", ragged_matrix(300, 5000)});
  all.push_back({"tall", ragged_matrix(5000, 300)});
  all.push_back(
      {"one row of almost 100000 entries", random_matrix(1, 400000, 19, [](Index) { return Offset{114000}; })});
  return wanted_of(std::move(all));
}

}  // namespace newel::testing

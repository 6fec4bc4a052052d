// SPDX-License-Identifier: Apache-2.0
/// Small systems as files, and what is needed to judge a solution without the library.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace newel::cli_testing {

struct Triple {
  int row, col;  ///< from 1
  double value;
};

/// Entries kept for the test's own products, and the file's text.
struct System {
  int n = 0;
  std::vector<Triple> entries;  ///< all of them, both triangles

  std::string text() const {
    std::string result = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(n) + ' ' +
                         std::to_string(n) + ' ' + std::to_string(entries.size()) + '\n';
    char line[96];
    for (const Triple& e : entries) {
      std::snprintf(line, sizeof line, "%d %d %.17g\n", e.row, e.col, e.value);
      result += line;
    }
    return result;
  }
};

/// The 5-point Laplacian on m x m points with a wind along x: symmetric positive definite for wind = 0.
inline System grid_system(int m, double wind = 0) {
  System s;
  s.n = m * m;
  for (int y = 0; y < m; ++y) {
    for (int x = 0; x < m; ++x) {
      const int i = y * m + x + 1;
      if (y > 0) s.entries.push_back({i, i - m, -1});
      if (x > 0) s.entries.push_back({i, i - 1, -1 - wind});
      s.entries.push_back({i, i, 4});
      if (x < m - 1) s.entries.push_back({i, i + 1, -1 + wind});
      if (y < m - 1) s.entries.push_back({i, i + m, -1});
    }
  }
  return s;
}

/// The Laplacian on a line of n points: CG needs about n iterations, so that n sets how long a solve lasts.
inline System line_system(int n) {
  System s;
  s.n = n;
  for (int i = 1; i <= n; ++i) {
    if (i > 1) s.entries.push_back({i, i - 1, -1});
    s.entries.push_back({i, i, 2});
    if (i < n) s.entries.push_back({i, i + 1, -1});
  }
  return s;
}

inline std::vector<double> product(const System& s, const std::vector<double>& x) {
  std::vector<double> y(static_cast<std::size_t>(s.n), 0.0);
  for (const Triple& e : s.entries) {
    y[static_cast<std::size_t>(e.row - 1)] += e.value * x[static_cast<std::size_t>(e.col - 1)];
  }
  return y;
}

inline double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

inline std::vector<double> difference(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

/// Numbers without any structure, from a plain congruential generator.
inline std::vector<double> rough_vector(int n) {
  std::vector<double> x;
  unsigned state = 12345;
  for (int i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    x.push_back(static_cast<double>(state >> 8) / (1 << 24) - 0.5);
  }
  return x;
}

inline std::string vector_text(const std::vector<double>& x) {
  std::string result = "%%MatrixMarket matrix array real general\n" + std::to_string(x.size()) + " 1\n";
  char line[32];
  for (const double value : x) {
    std::snprintf(line, sizeof line, "%.17g\n", value);
    result += line;
  }
  return result;
}

/// Reads `matrix array real general`, n x 1, and nothing else; empty where the text is anything else.
inline std::vector<double> parse_array(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  if (line != "%%MatrixMarket matrix array real general") return {};
  while (std::getline(lines, line) && line.rfind("%", 0) == 0) {
  }
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::istringstream(line) >> rows >> cols;
  std::vector<double> x;
  while (std::getline(lines, line)) x.push_back(std::strtod(line.c_str(), nullptr));
  return cols == 1 && x.size() == rows ? x : std::vector<double>();
}

/// An array file whose columns these are.
inline std::string columns_text(const std::vector<std::vector<double>>& columns) {
  std::string result = "%%MatrixMarket matrix array real general\n" + std::to_string(columns.front().size()) + ' ' +
                       std::to_string(columns.size()) + '\n';
  char line[48];
  for (const auto& column : columns) {
    for (const double value : column) {
      std::snprintf(line, sizeof line, "%.17g\n", value);
      result += line;
    }
  }
  return result;
}

/// The columns of such a file.
inline std::vector<std::vector<double>> parse_columns(const std::string& text) {
  std::istringstream in(text.substr(text.find('\n') + 1));
  std::size_t rows = 0, cols = 0;
  in >> rows >> cols;
  std::vector<std::vector<double>> columns(cols, std::vector<double>(rows, NAN));
  for (auto& column : columns) {
    for (double& value : column) in >> value;
  }
  std::string rest;
  if (!in || (in >> rest)) return {};
  return columns;
}

/// |b - A x| / |b|, by the test's own product.
inline double residual(const System& s, const std::vector<double>& x, const std::vector<double>& b) {
  return norm(difference(b, product(s, x))) / norm(b);
}

}  // namespace newel::cli_testing

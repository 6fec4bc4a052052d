// SPDX-License-Identifier: Apache-2.0
/// Systems of public bug reports, by formula: contrasts inside a definite matrix, and penalties of 1e20.
#pragma once

#include "tests/solver/systems.hpp"

namespace newel::testing {

/// A system with a right-hand side.
struct ReportedSystem {
  Rows a;
  std::vector<double> b;
};

/// 60 springs in a chain, soft (1) and stiff (`contrast`), grounded at one end and pulled at the other by a force of
/// 1, which every spring passes on.
struct SpringChain : ReportedSystem {
  std::vector<double> x;  ///< the solution: a spring is longer by 1 / its stiffness

  explicit SpringChain(double contrast) : ReportedSystem{Rows(60), std::vector<double>(60, 0.0)} {
    const std::string springs = "HHHHllHllHlHlHHHlHHlllHHHHHlHHHllllHHllHHllllHHHHHHHlllHHHH";
    a.at(0, 0) = 1;
    x.push_back(1);
    for (Index i = 0; i + 1 < a.size(); ++i) {
      const double stiffness = springs[static_cast<std::size_t>(i)] == 'H' ? contrast : 1;
      a.at(i, i) += stiffness;
      a.at(i + 1, i + 1) += stiffness;
      a.at(i, i + 1) = a.at(i + 1, i) = -stiffness;
      x.push_back(x.back() + 1 / stiffness);
    }
    b.back() = 1;
  }
};

/// -div(c grad u) = 1 on k x k cells, u = 0 around them; c = `contrast` in the middle quarter, else 1. Between cells
/// lies the harmonic mean. Symmetric to the last digit.
inline ReportedSystem inclusion(Index k, double contrast) {
  ReportedSystem s{Rows(k * k), std::vector<double>(static_cast<std::size_t>(k * k), 1.0 / (k * k))};
  const auto c = [&](Index i, Index j) {
    return std::min(i, j) >= k / 4 && std::max(i, j) < 3 * k / 4 ? contrast : 1.0;
  };
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) {
      double sum = 0;
      for (const auto& [di, dj] : {std::pair<Index, Index>{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
        const Index p = i + di, q = j + dj;
        const bool inside = p >= 0 && p < k && q >= 0 && q < k;
        const double mean = inside ? 2 * c(i, j) * c(p, q) / (c(i, j) + c(p, q)) : 1;
        sum += mean;
        if (inside) s.a.at(i * k + j, p * k + q) = -mean;
      }
      s.a.at(i * k + j, i * k + j) = sum;
    }
  }
  return s;
}

/// Whether node (i, j) of k x k lies on the boundary.
inline bool on_boundary(Index i, Index j, Index k) { return i == 0 || j == 0 || i == k - 1 || j == k - 1; }

/// -u'' - v'' = 1 on 17 x 17 nodes by bilinear elements; sin(3 i) at the node i of the boundary, by a penalty of
/// 1e20.
inline ReportedSystem penalty_dirichlet() {
  constexpr Index k = 17;
  ReportedSystem s{Rows(k * k), std::vector<double>(k * k, 1.0 / 256)};
  for (Index i = 0; i + 1 < k; ++i) {
    for (Index j = 0; j + 1 < k; ++j) {
      const Index corner[4] = {i * k + j, i * k + j + 1, (i + 1) * k + j, (i + 1) * k + j + 1};
      for (int p = 0; p < 4; ++p) {
        for (int q = 0; q < 4; ++q)
          s.a.at(corner[p], corner[q]) += p == q ? 2.0 / 3 : p + q == 3 ? -1.0 / 3 : -1.0 / 6;
      }
    }
  }
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) {
      if (!on_boundary(i, j, k)) continue;
      s.a.at(i * k + j, i * k + j) = 1e20;
      s.b[static_cast<std::size_t>(i * k + j)] = 1e20 * std::sin(3.0 * (i * k + j));
    }
  }
  return s;
}

/// Convection with the wind (5.26, 2.63) by differences against it on 20 x 20 nodes, and zero on the boundary by a
/// penalty of 1e20.
inline ReportedSystem penalty_convection() {
  constexpr Index k = 20;
  constexpr double h = 1.0 / 19, along = 100 * h, across = 50 * h;
  ReportedSystem s{Rows(k * k), std::vector<double>(k * k, h * h)};
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) {
      const Index r = i * k + j;
      s.a.at(r, r) = 4 + along + across;
      if (j > 0) s.a.at(r, r - 1) = -1 - along;
      if (j + 1 < k) s.a.at(r, r + 1) = -1;
      if (i > 0) s.a.at(r, r - k) = -1 - across;
      if (i + 1 < k) s.a.at(r, r + k) = -1;
      if (!on_boundary(i, j, k)) continue;
      s.a.at(r, r) = 1e20;
      s.b[static_cast<std::size_t>(r)] = 0;
    }
  }
  return s;
}

}  // namespace newel::testing

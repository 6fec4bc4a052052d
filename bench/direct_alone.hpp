// SPDX-License-Identifier: Apache-2.0
/// The libraries of sparse factors that the direct solver calls, called alone, as their documentation does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <newel/core/csr.hpp>

namespace newel::bench {

/// A square matrix by columns, as the libraries take it.
struct ByColumns {
  explicit ByColumns(const Csr<double, Space::host>& a);

  int size = 0;
  std::vector<int> begin;  ///< size + 1
  std::vector<int> row;    ///< ascending in a column
  std::vector<double> value;
};

/// Made with the order and the analysis of the pattern, and the factors of its values. The matrix outlives this.
class DirectAlone {
 public:
  virtual ~DirectAlone() = default;
  /// The factors of the same values again, with what depends on the pattern alone.
  virtual void refactorise() = 0;
  /// Replaces v by inverse(A) v.
  virtual void solve(std::vector<double>& v) = 0;
};

/// By the title of a line of `factorisations()`. Null: the bench does not call that library. Throws InputError if
/// there are no factors.
std::unique_ptr<DirectAlone> direct_alone(const std::string& title, const ByColumns& a);

/// Those of CHOLMOD and UMFPACK, which are compared although Newel does not call them: "L L^T by CHOLMOD" and "L U by
/// UMFPACK". Null: another title.
std::unique_ptr<DirectAlone> suitesparse_alone(const std::string& title, const ByColumns& a);

/// Those of Eigen. Null: another title.
std::unique_ptr<DirectAlone> eigen_alone(const std::string& title, const ByColumns& a);

}  // namespace newel::bench

// SPDX-License-Identifier: Apache-2.0
// Eigen's orders and sparse factorisations. The only source of the library that includes Eigen.

// A program may use Eigen itself, compiled for other instructions and with another alignment: functions of the same
// name would then be merged. Under another name of the namespace they are not the same.
#define Eigen NewelEigen
#define EIGEN_MPL2_ONLY
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include "solver/direct/factors.hpp"

namespace newel::detail {
namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, Index>;
using Order = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, Index>;
using AsGiven = Eigen::NaturalOrdering<Index>;  // patterns come in their order

Matrix matrix_of(const ColumnPattern& pattern) {
  const std::vector<double> ones(pattern.row.size(), 1.0);
  return Eigen::Map<const Matrix>(pattern.size, pattern.size, pattern.entries(), pattern.begin.data(),
                                  pattern.row.data(), ones.data());
}

std::vector<Index> new_numbers(const Order& order) {
  return {order.indices().data(), order.indices().data() + order.size()};
}

// Eigen's functor gives the old number of each new one here, and the new number of each old one for columns.
std::vector<Index> order_symmetric(const ColumnPattern& pattern) {
  Order old_numbers;
  Eigen::AMDOrdering<Index>()(matrix_of(pattern), old_numbers);
  return new_numbers(old_numbers.inverse());
}

std::vector<Index> order_columns(const ColumnPattern& pattern) {
  Order numbers;
  Eigen::COLAMDOrdering<Index>()(matrix_of(pattern), numbers);
  return new_numbers(numbers);
}

class Ldlt final : public Factors {
 public:
  explicit Ldlt(const ColumnPattern& upper) : matrix_(matrix_of(upper)) { solver_.analyzePattern(matrix_); }

  bool factorise(const std::vector<double>& values) override {
    std::copy(values.begin(), values.end(), matrix_.valuePtr());
    solver_.factorize(matrix_);
    return solver_.info() == Eigen::Success && solver_.vectorD().allFinite();
  }
  void solve(std::vector<double>& v) override {
    Eigen::Map<Eigen::VectorXd> x(v.data(), matrix_.rows());
    x = solver_.solve(x).eval();
  }
  void solve_transposed(std::vector<double>& v) override { solve(v); }

 private:
  Matrix matrix_;
  Eigen::SimplicialLDLT<Matrix, Eigen::Upper, AsGiven> solver_;
};

class Lu final : public Factors {
 public:
  explicit Lu(const ColumnPattern& pattern) : matrix_(matrix_of(pattern)) { solver_.analyzePattern(matrix_); }

  bool factorise(const std::vector<double>& values) override {
    std::copy(values.begin(), values.end(), matrix_.valuePtr());
    if (!Eigen::Map<const Eigen::VectorXd>(values.data(), matrix_.nonZeros()).allFinite()) return false;
    solver_.factorize(matrix_);
    return solver_.info() == Eigen::Success;
  }
  void solve(std::vector<double>& v) override {
    Eigen::Map<Eigen::VectorXd> x(v.data(), matrix_.rows());
    x = solver_.solve(x).eval();
  }
  void solve_transposed(std::vector<double>& v) override {
    Eigen::Map<Eigen::VectorXd> x(v.data(), matrix_.rows());
    x = solver_.transpose().solve(x).eval();
  }

 private:
  Matrix matrix_;
  Eigen::SparseLU<Matrix, AsGiven> solver_;
};

std::unique_ptr<Factors> make_ldlt(const ColumnPattern& upper) { return std::make_unique<Ldlt>(upper); }
std::unique_ptr<Factors> make_lu(const ColumnPattern& pattern) { return std::make_unique<Lu>(pattern); }

}  // namespace

const FactorLibrary eigen_factors{&order_symmetric, &order_columns, &make_ldlt, &make_lu};

}  // namespace newel::detail

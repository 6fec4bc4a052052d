// SPDX-License-Identifier: Apache-2.0
// Eigen's SimplicialLDLT and SparseLU, called alone with their defaults.
#include "direct_alone.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include <newel/core/error.hpp>

namespace newel::bench {
namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

template <class Solver>
class EigenAlone final : public DirectAlone {
 public:
  explicit EigenAlone(const ByColumns& a)
      : a_(a.size, a.size, static_cast<Eigen::Index>(a.value.size()), a.begin.data(), a.row.data(), a.value.data()) {
    solver_.analyzePattern(a_);
    refactorise();
    if (solver_.info() != Eigen::Success) throw InputError("Eigen finds no factors");
  }
  void refactorise() override { solver_.factorize(a_); }
  void solve(std::vector<double>& v) override {
    Eigen::Map<Eigen::VectorXd> x(v.data(), a_.rows());
    x = solver_.solve(x).eval();
  }

 private:
  const Eigen::Map<const Matrix> a_;
  Solver solver_;
};

}  // namespace

std::unique_ptr<DirectAlone> eigen_alone(const std::string& title, const ByColumns& a) {
  if (title == "L D L^T by Eigen") {
    return std::make_unique<EigenAlone<Eigen::SimplicialLDLT<Matrix, Eigen::Lower, Eigen::AMDOrdering<int>>>>(a);
  }
  if (title == "L U by Eigen") {
    return std::make_unique<EigenAlone<Eigen::SparseLU<Matrix, Eigen::COLAMDOrdering<int>>>>(a);
  }
  return nullptr;
}

}  // namespace newel::bench

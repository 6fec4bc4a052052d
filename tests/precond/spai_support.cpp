// SPDX-License-Identifier: Apache-2.0
// Eigen's decompositions, compiled once.
#include "tests/precond/spai_support.hpp"

#include <Eigen/QR>
#include <Eigen/SVD>

#include <vector>

namespace newel::testing {

EigenMatrix eigen_of(const HostCsr& a) {
  EigenMatrix d = EigenMatrix::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) d(i, a.col[k]) = a.val[k];
  }
  return d;
}

Eigen::MatrixXi pattern_oracle(const HostCsr& a, int power) {
  Eigen::MatrixXi once = Eigen::MatrixXi::Identity(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) once(i, a.col[k]) = 1;
  }
  Eigen::MatrixXi result = once;
  for (int p = 1; p < power; ++p) result = ((result * once).array() > 0).cast<int>().matrix();
  return result;
}

LocalOracle local_oracle(const EigenMatrix& a, const Eigen::MatrixXi& pattern, Index j) {
  LocalOracle o;
  for (Index i = 0; i < a.rows(); ++i) {
    if (pattern(i, j) != 0) o.columns.push_back(i);
  }
  std::vector<Index> rows;
  for (Index i = 0; i < a.rows(); ++i) {
    bool touched = i == j;
    for (const Index k : o.columns) touched = touched || a(i, k) != 0;
    if (touched) rows.push_back(i);
  }
  EigenMatrix local(rows.size(), o.columns.size());
  EigenVector unit = EigenVector::Zero(static_cast<Eigen::Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    unit(i) = rows[i] == j ? 1 : 0;
    for (std::size_t k = 0; k < o.columns.size(); ++k) local(i, k) = a(rows[i], o.columns[k]);
  }
  o.column_norm = local.colwise().norm();
  const EigenMatrix scaled = local * o.column_norm.cwiseInverse().asDiagonal();
  const Eigen::ColPivHouseholderQR<EigenMatrix> qr(scaled);
  const EigenVector z = qr.solve(unit);
  o.solution = o.column_norm.cwiseInverse().asDiagonal() * z;
  o.residual = (scaled * z - unit).norm();
  o.scaled_length = z.norm();
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(scaled.cast<double>());
  o.condition = svd.singularValues()(0) / svd.singularValues()(svd.singularValues().size() - 1);
  return o;
}

}  // namespace newel::testing

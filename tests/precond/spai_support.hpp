// SPDX-License-Identifier: Apache-2.0
/// The tests of SPAI: preconditioners as dense matrices, and local problems solved by Eigen in long double.
#pragma once

#include <Eigen/Dense>

#include <purlin/precond/registry.hpp>

#include "tests/support.hpp"

namespace purlin::testing {

using EigenMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using EigenVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

inline EigenMatrix eigen_of(const HostCsr& a) {
  EigenMatrix d = EigenMatrix::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) d(i, a.col[k]) = a.val[k];
  }
  return d;
}

/// Column by column, by applying it to the unit vectors: its entries exactly.
template <class T, Space S>
EigenMatrix eigen_of(const Context<S>& ctx, const LinearOperator<T, S>& m) {
  const Index n = m.rows();
  EigenMatrix d(n, n);
  std::vector<T> unit(static_cast<std::size_t>(n), T(0));
  for (Index j = 0; j < n; ++j) {
    unit[j] = T(1);
    const auto x = upload(ctx, unit);
    auto y = poisoned<T>(ctx, n);
    m.apply(ctx, T(1), x.cspan(), T(0), y.span());
    const std::vector<T> column = download(ctx, y);
    for (Index i = 0; i < n; ++i) d(i, j) = column[i];
    unit[j] = T(0);
  }
  return d;
}

inline PrecondOptions spai_options(PrecondSide side = PrecondSide::right, int power = 1,
                                   const std::string& name = "spai") {
  PrecondOptions options;
  options.name = name;
  options.side = side;
  options.spai_power = power;
  return options;
}

template <class T, Space S>
OperatorPtr<T, S> spai(const Context<S>& ctx, const CsrView<T, S>& a, const PrecondOptions& options,
                       const RowOrder<S>& order = {}, const std::string& format = "csr") {
  return make_precond<T, S>(ctx, a, order, options, SpmvOptions{format});
}

inline double figure(const OperatorInfo& info, const std::string& name) {
  for (const auto& [key, value] : info.figures) {
    if (key == name) return value;
  }
  throw std::runtime_error("there is no figure '" + name + "'");
}

/// Where (I + |A|)^power has entries, stored zeros counting as such.
inline Eigen::MatrixXi pattern_oracle(const HostCsr& a, int power) {
  Eigen::MatrixXi once = Eigen::MatrixXi::Identity(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) once(i, a.col[k]) = 1;
  }
  Eigen::MatrixXi result = once;
  for (int p = 1; p < power; ++p) result = ((result * once).array() > 0).cast<int>().matrix();
  return result;
}

/// What Eigen makes of one local problem from the right.
struct LocalOracle {
  std::vector<Index> columns;
  EigenVector solution;
  long double residual = 0;
  long double condition = 0;  ///< of the matrix with columns of length 1
  long double scaled_length = 0;
  EigenVector column_norm;
};

inline LocalOracle local_oracle(const EigenMatrix& a, const Eigen::MatrixXi& pattern, Index j) {
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

}  // namespace purlin::testing

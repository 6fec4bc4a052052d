// SPDX-License-Identifier: Apache-2.0
/// The tests of SPAI: preconditioners as dense matrices, and local problems solved by Eigen in long double.
#pragma once

#include <Eigen/Core>

#include <newel/precond/registry.hpp>
#include <newel/precond/spai/spai_options.hpp>

#include "tests/support.hpp"

namespace newel::testing {

using EigenMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using EigenVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

EigenMatrix eigen_of(const HostCsr& a);

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
  options.of<SpaiOptions>().side = side;
  options.of<SpaiOptions>().power = power;
  return options;
}

template <class T, Space S>
OperatorPtr<T, S> spai(const Context<S>& ctx, const CsrView<T, S>& a, const PrecondOptions& options,
                       const RowOrder<S>& order = {}, const std::string& format = "csr") {
  return make_precond<T, S>(ctx, a, order, options, SpmvOptions{format});
}

inline double figure(const OperatorInfo& info, const std::string& name) { return info.figure(name).value(); }

/// Where (I + |A|)^power has entries, stored zeros counting as such.
Eigen::MatrixXi pattern_oracle(const HostCsr& a, int power);

/// What Eigen makes of one local problem from the right.
struct LocalOracle {
  std::vector<Index> columns;
  EigenVector solution;
  long double residual = 0;
  long double condition = 0;  ///< of the matrix with columns of length 1
  long double scaled_length = 0;
  EigenVector column_norm;
};

LocalOracle local_oracle(const EigenMatrix& a, const Eigen::MatrixXi& pattern, Index j);

}  // namespace newel::testing

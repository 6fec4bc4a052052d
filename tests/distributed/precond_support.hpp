// SPDX-License-Identifier: Apache-2.0
/// Preconditioners on ranks beside those of one rank.
#pragma once

#include <newel/precond/registry.hpp>

#include "distributed/rows/halo.hpp"
#include "distributed/rank_precond.hpp"
#include "precond/fsai/fsai.hpp"
#include "precond/spai/spai.hpp"
#include "tests/distributed/rank_support.hpp"

namespace newel::testing {

/// y = M x on so many ranks; of `values` if they are given, after a refresh. Throws what a rank threw first.
inline std::vector<double> precond_on_ranks(int size, const HostCsr& a, const PrecondOptions& options,
                                            const std::vector<double>& x,
                                            const std::vector<double>* values = nullptr) {
  std::vector<double> y(x.size(), std::nan(""));
  const std::vector<std::string> thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), size);
    const std::vector<std::int64_t> first = detail::first_rows(*ranks, own.rows());
    const Context<host> ctx = Context<host>(1).with_ranks({ranks, own.first, a.rows});
    const RankRows<double> rows = own.view();
    const detail::DistributedOperator<double> A(ctx, rows, first);
    const OperatorPtr<double, host> M =
        detail::make_precond_on_ranks<double, host>(ctx, A, {rows, first, A.order().old_of_new}, options);
    if (values != nullptr) {
      const std::vector<double> changed(values->begin() + a.row_ptr[own.first],
                                        values->begin() + a.row_ptr[own.first + own.rows()]);
      M->refresh(ctx, Span<const double, host>(changed));
    }
    const auto old = [&](Index i) {
      return static_cast<std::size_t>(A.order().natural() ? i : A.order().old_of_new[i]);
    };
    const std::vector<double> own_x = own.part_of(x);
    std::vector<double> in(own_x.size()), out(own_x.size(), std::nan("")), twice(own_x.size());
    for (Index i = 0; i < own.rows(); ++i) in[static_cast<std::size_t>(i)] = own_x[old(i)];
    M->apply(ctx, 1, Span<const double, host>(in), 0, Span<double, host>(out));
    double xy = 0;
    M->apply_dot(ctx, Span<const double, host>(in), Span<double, host>(twice), &xy);
    RANK_CHECK(same_bits(out, twice));
    for (Index i = 0; i < own.rows(); ++i) {
      y[static_cast<std::size_t>(own.first) + old(i)] = out[static_cast<std::size_t>(i)];
    }
  });
  for (const std::string& what : thrown) {
    if (!what.empty()) throw std::runtime_error(what);
  }
  return y;
}

inline std::vector<long double> product_of(const CsrView<double, host>& a, const std::vector<long double>& x,
                                           bool transposed, bool absolute) {
  std::vector<long double> y(x.size(), 0);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      const long double value = absolute ? std::fabs(a.val[k]) : a.val[k];
      const auto row = static_cast<std::size_t>(i), col = static_cast<std::size_t>(a.col[k]);
      (transposed ? y[col] : y[row]) += value * (transposed ? x[row] : x[col]);
    }
  }
  return y;
}

/// SPAI's M on the host, in CSR.
inline CsrView<double, host> csr_of(const SpaiOperator<double, host>& m) {
  return *static_cast<const MatrixOperator<double, host>*>(m.resident_view().first)->as_csr();
}

/// Whether y is the product of a chain of matrices with x, up to the rounding of the sums.
inline std::string outside_product(const std::vector<double>& y, const std::vector<double>& x,
                                   const std::vector<std::pair<CsrView<double, host>, bool>>& chain) {
  std::vector<long double> exact(x.begin(), x.end()), size(exact);
  for (long double& value : size) value = std::fabs(value);
  long double longest = 1;
  for (const auto& [matrix, transposed] : chain) {
    exact = product_of(matrix, exact, transposed, false);
    size = product_of(matrix, size, transposed, true);
    std::vector<Index> columns(x.size());
    for (const Index j : matrix.col) ++columns[static_cast<std::size_t>(j)];
    for (Index i = 0; i < matrix.rows; ++i) {
      longest =
          std::max<long double>({longest, static_cast<long double>(matrix.row_begin(i + 1) - matrix.row_begin(i)),
                                 static_cast<long double>(columns[static_cast<std::size_t>(i)])});
    }
  }
  const long double eps = std::numeric_limits<double>::epsilon();
  const long double c = (longest + 4) * static_cast<long double>(chain.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(std::fabs(y[i] - exact[i]) <= c * eps * size[i])) {
      return "entry " + std::to_string(i) + " is " + std::to_string(y[i]) + ", not " +
             std::to_string(static_cast<double>(exact[i]));
    }
  }
  return "";
}

/// A dense last row and column on a tridiagonal matrix: a row that approximate inverses shorten.
inline HostCsr dense_edge_matrix(Index n) {
  Rows rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    rows[i][i] = i + 1 == n ? 2.0 * n : 4;
    for (const Index j : {i - 1, i + 1}) {
      if (j >= 0 && j + 1 < n && i + 1 < n) rows[i][j] = -1;
    }
    if (i + 1 < n) rows[i][n - 1] = rows[n - 1][i] = -0.5;
  }
  return from_rows(n, rows);
}

}  // namespace newel::testing

// SPDX-License-Identifier: Apache-2.0
// |A M - I| in the Frobenius norm: exact for few unknowns, within its own deviation for many.
#include "tests/catch.hpp"

#include <newel/precond/inverse_residual.hpp>
#include <newel/spmv/registry.hpp>

namespace {

template <class T, Space S>
InverseResidual residual_of(const Context<S>& ctx, const HostCsr& a, const HostCsr& m, PrecondSide side) {
  const auto at_a = upload_matrix<T>(ctx, a), at_m = upload_matrix<T>(ctx, m);
  const auto A = make_spmv<T, S>(ctx, at_a.wide(), {}), M = make_spmv<T, S>(ctx, at_m.wide(), {});
  return inverse_residual(ctx, *A, *M, side);
}

// |A B - I|_F in long double.
long double product_residual(const HostCsr& a, const HostCsr& b) {
  long double squares = 0;
  for (Index i = 0; i < a.rows; ++i) {
    std::vector<long double> row(b.cols, 0);
    row[i] = -1;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      for (Offset l = b.row_ptr[a.col[k]]; l < b.row_ptr[a.col[k] + 1]; ++l) {
        row[b.col[l]] += static_cast<long double>(a.val[k]) * b.val[l];
      }
    }
    for (const long double value : row) squares += value * value;
  }
  return std::sqrt(squares);
}

}  // namespace

TEST_BOTH("The residual of an inverse is exact for few unknowns, on either side", "[precond]") {
  const HostCsr a = dominant_matrix(60, 1), m = dominant_matrix(60, 2);
  const double right = product_residual(a, m), left = product_residual(m, a);
  REQUIRE(std::fabs(right - left) > 0.1);
  const InverseResidual r = residual_of<double>(ctx, a, m, PrecondSide::right);
  CHECK(r.probes == 0);
  CHECK(r.norm == Approx(right).epsilon(1e-12));
  CHECK(r.relative == Approx(right / std::sqrt(60.0)).epsilon(1e-12));
  CHECK(residual_of<double>(ctx, a, m, PrecondSide::left).norm == Approx(left).epsilon(1e-12));
  CHECK(residual_of<float>(ctx, a, m, PrecondSide::left).norm == Approx(left).epsilon(1e-5));
}

TEST_BOTH("The residual of an inverse is estimated for many unknowns, the same on every call", "[precond]") {
  const HostCsr a = dominant_matrix(1200, 3), m = dominant_matrix(1200, 4);
  const InverseResidual r = residual_of<double>(ctx, a, m, PrecondSide::right);
  CHECK(r.probes == 32);
  // Four standard deviations of the mean at most: 4 sqrt(2 / 32) / 2 of the norm; here many columns contribute.
  CHECK(r.norm == Approx(product_residual(a, m)).epsilon(0.1));
  CHECK(residual_of<double>(ctx, a, m, PrecondSide::right).norm == Approx(r.norm).epsilon(1e-12));
}

TEST_BOTH("The residual of an inverse knows nothing and refuses other sizes", "[precond]") {
  CHECK(residual_of<double>(ctx, empty_matrix(0, 0), empty_matrix(0, 0), PrecondSide::right).norm == 0);
  CHECK(message_of<InputError>(
            [&] { residual_of<double>(ctx, dominant_matrix(5), dominant_matrix(6), PrecondSide::right); }) != "");
}

// SPDX-License-Identifier: Apache-2.0
// Eigen's matrices by rows and by columns, half stored, mapped and transposed, and its dense vectors.
#include "tests/catch.hpp"

#include <newel/adapt/eigen.hpp>
#include <newel/solver/linear_system.hpp>

namespace {

using System = LinearSystem<double, Space::host>;

template <int Options, class I>
using Sparse = Eigen::SparseMatrix<double, Options, I>;

template <class Matrix>
Matrix eigen_of(const HostCsr& a) {
  using I = typename Matrix::StorageIndex;
  std::vector<Eigen::Triplet<typename Matrix::Scalar, I>> entries;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      entries.emplace_back(static_cast<I>(i), static_cast<I>(a.col[k]),
                           static_cast<typename Matrix::Scalar>(a.val[k]));
    }
  }
  Matrix result(a.rows, a.cols);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

SystemOptions exact_options() {
  SystemOptions options;
  options.stop.rel_tol = 1e-12;
  return options;
}

// A x = b solved with Eigen's vectors, judged row by row with the matrix that the test made.
template <class View>
void check_solve(const HostCsr& a, const View& view) {
  const Context<Space::host> ctx;
  System system(ctx, view, exact_options());
  Eigen::VectorXd b(a.rows), x = Eigen::VectorXd::Zero(a.rows);
  const auto numbers = random_vector<double>(a.rows);
  for (Index i = 0; i < a.rows; ++i) b[i] = numbers[i];
  CHECK(system.solve(span_of(std::as_const(b)), span_of(x)).converged());
  CHECK(residual_norm(a, std::vector<double>(x.data(), x.data() + x.size()), numbers) <=
        1e-11 * norm_oracle(numbers));
}

}  // namespace

TEMPLATE_TEST_CASE("An Eigen matrix that is not symmetric has its own solution, not its transpose's", "[eigen]",
                   (Sparse<Eigen::ColMajor, int>), (Sparse<Eigen::RowMajor, int>),
                   (Sparse<Eigen::ColMajor, long long>), (Sparse<Eigen::RowMajor, std::ptrdiff_t>)) {
  const HostCsr a = dominant_matrix(120);
  TestType matrix = eigen_of<TestType>(a);
  check_solve(a, view_of(matrix));
  check_solve(transposed(a), view_of(matrix.transpose()));
  check_solve(transposed(a), view_of(matrix).transposed());
  Eigen::Map<TestType> mapped(matrix.rows(), matrix.cols(), matrix.nonZeros(), matrix.outerIndexPtr(),
                              matrix.innerIndexPtr(), matrix.valuePtr());
  check_solve(a, view_of(mapped));
  Eigen::Map<const TestType> read_only(matrix.rows(), matrix.cols(), matrix.nonZeros(), matrix.outerIndexPtr(),
                                       matrix.innerIndexPtr(), matrix.valuePtr());
  check_solve(a, view_of(read_only));
}

TEMPLATE_TEST_CASE("A self-adjoint view says which half an Eigen matrix stores", "[eigen]",
                   (Sparse<Eigen::ColMajor, int>), (Sparse<Eigen::RowMajor, int>)) {
  const HostCsr a = fem_matrix("generate:elasticity:4");
  const TestType matrix = eigen_of<TestType>(a);
  const TestType lower = matrix.template triangularView<Eigen::Lower>();
  const TestType upper = matrix.template triangularView<Eigen::Upper>();
  check_solve(a, view_of(lower.template selfadjointView<Eigen::Lower>()));
  check_solve(a, view_of(upper.template selfadjointView<Eigen::Upper>()));
  const Context<Space::host> ctx;
  const auto message =
      message_of<InputError>([&] { System(ctx, view_of(lower.template selfadjointView<Eigen::Upper>())); });
  CHECK(contains(message, "is below the diagonal, but only the upper half of this symmetric matrix may be passed"));
}

TEST_CASE("An Eigen matrix with gaps is refused with what to do", "[eigen]") {
  Eigen::SparseMatrix<double> matrix = eigen_of<Eigen::SparseMatrix<double>>(dominant_matrix(20));
  matrix.uncompress();
  CHECK(contains(message_of<InputError>([&] { view_of(matrix); }), "makeCompressed()"));
  CHECK(contains(message_of<InputError>([&] { values_of(matrix); }), "makeCompressed()"));
  matrix.makeCompressed();
  CHECK(view_of(matrix).values().size == matrix.nonZeros());
}

TEST_CASE("A refresh takes the values as the Eigen matrix stores them", "[eigen]") {
  const HostCsr a = dominant_matrix(90);
  auto matrix = eigen_of<Eigen::SparseMatrix<double>>(a);
  const Context<Space::host> ctx;
  System system(ctx, view_of(matrix), exact_options());
  HostCsr changed = a;
  for (double& value : changed.val) value = value > 1 ? 2 * value : value / 2;
  matrix = eigen_of<Eigen::SparseMatrix<double>>(changed);
  system.refresh(values_of(matrix));
  const auto b = random_vector<double>(90);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(90);
  CHECK(system.solve(b, span_of(x)).converged());
  CHECK(residual_norm(changed, std::vector<double>(x.data(), x.data() + 90), b) <= 1e-11 * norm_oracle(b));
}

TEST_CASE("The columns of an Eigen matrix are several right-hand sides", "[eigen]") {
  const HostCsr a = fem_matrix("generate:diffusion:6");
  const auto matrix = eigen_of<Eigen::SparseMatrix<double>>(a);
  const Context<Space::host> ctx;
  System system(ctx, view_of(matrix), exact_options());
  Eigen::MatrixXd b(a.rows, 3), x = Eigen::MatrixXd::Zero(a.rows, 3);
  for (int c = 0; c < 3; ++c) {
    const auto numbers = random_vector<double>(a.rows, c + 1);
    for (Index i = 0; i < a.rows; ++i) b(i, c) = numbers[i];
  }
  for (const SolveReport& report : system.solve_columns(span_of(std::as_const(b)), span_of(x), 3)) {
    CHECK(report.converged());
  }
  for (int c = 0; c < 3; ++c) {
    const std::vector<double> bc(b.col(c).begin(), b.col(c).end()), xc(x.col(c).begin(), x.col(c).end());
    CHECK(residual_norm(a, xc, bc) <= 1e-11 * norm_oracle(bc));
  }
}

TEST_CASE("Spans of Eigen's vectors are of their memory, and of constant ones only to read", "[eigen]") {
  Eigen::VectorXf x(5);
  const Eigen::VectorXf& read_only = x;
  CHECK(span_of(x).data == x.data());
  CHECK(span_of(x).size == 5);
  CHECK(span_of(read_only).data == x.data());
  static_assert(std::is_same_v<decltype(span_of(x)), Span<float, Space::host>>);
  static_assert(std::is_same_v<decltype(span_of(read_only)), Span<const float, Space::host>>);
  Eigen::Map<Eigen::VectorXf> mapped(x.data(), 4);
  const Eigen::Map<const Eigen::VectorXf> mapped_read_only(x.data(), 4);
  CHECK(span_of(mapped).data == x.data());
  static_assert(std::is_same_v<decltype(span_of(mapped)), Span<float, Space::host>>);
  static_assert(std::is_same_v<decltype(span_of(mapped_read_only)), Span<const float, Space::host>>);
  CHECK(span_of(mapped_read_only).size == 4);
}

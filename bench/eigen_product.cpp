// SPDX-License-Identifier: Apache-2.0
// Eigen::SparseMatrix<T, RowMajor> behind our interface.
#include "eigen_product.hpp"

#include <Eigen/SparseCore>

#include <algorithm>
#include <limits>

#include <newel/core/error.hpp>
#include "spmv/csr/csr.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel::bench {
namespace {

template <class T>
class EigenProduct final : public MatrixOperator<T, Space::host> {
 public:
  EigenProduct(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a) {
    if (a.nnz() > std::numeric_limits<int>::max()) {
      throw InputError("Eigen's 32-bit indices cannot number " + std::to_string(a.nnz()) + " entries");
    }
    detail::PhaseClock clock;
    Eigen::setNbThreads(ctx.threads());
    std::vector<int> row_ptr(static_cast<std::size_t>(a.rows) + 1);
    for (Index i = 0; i <= a.rows; ++i) row_ptr[static_cast<std::size_t>(i)] = static_cast<int>(a.row_begin(i));
    matrix_ = Eigen::Map<const Matrix>(a.rows, a.cols, a.nnz(), row_ptr.data(), a.col.data, a.val.data);
    clock.end("convert");
    setup_seconds_ = clock.seconds();
  }

  Index rows() const override { return static_cast<Index>(matrix_.rows()); }
  Index cols() const override { return static_cast<Index>(matrix_.cols()); }

  void refresh(const Context<Space::host>&, Span<const T, Space::host> values) override {
    std::copy(values.begin(), values.end(), matrix_.valuePtr());
  }

  void apply(const Context<Space::host>&, T alpha, Span<const T, Space::host> x, T beta,
             Span<T, Space::host> y) const override {
    const Eigen::Map<const Vector> from(x.data, x.size);
    Eigen::Map<Vector> to(y.data, y.size);
    if (beta == T(0))
      to.noalias() = alpha * (matrix_ * from);
    else
      to = alpha * (matrix_ * from) + beta * to;
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    info.name = "eigen";
    info.detail = "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
                  std::to_string(EIGEN_MINOR_VERSION) + ", row-major, 32-bit indices";
    info.rows = rows();
    info.cols = cols();
    info.nonzeros = info.stored_slots = matrix_.nonZeros();
    const auto entries = static_cast<std::uint64_t>(matrix_.nonZeros());
    info.bytes = {{"values", entries * sizeof(T)},
                  {"columns", entries * sizeof(int)},
                  {"row pointers", (static_cast<std::uint64_t>(matrix_.rows()) + 1) * sizeof(int)}};
    info.bytes_per_product = csr_product_bytes(info.rows, info.cols, info.nonzeros, sizeof(T));
    info.setup_seconds = setup_seconds_;
    return info;
  }

 private:
  using Matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, int>;
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

  Matrix matrix_;
  std::vector<std::pair<std::string, double>> setup_seconds_;
};

}  // namespace

template <class T>
OperatorPtr<T, Space::host> make_eigen_product(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a) {
  return std::make_unique<EigenProduct<T>>(ctx, a);
}

template OperatorPtr<double, Space::host> make_eigen_product(const Context<Space::host>&,
                                                             const CsrView<double, Space::host>&);
template OperatorPtr<float, Space::host> make_eigen_product(const Context<Space::host>&,
                                                            const CsrView<float, Space::host>&);

}  // namespace newel::bench

// SPDX-License-Identifier: Apache-2.0
// Eigen's solvers as its users call them.
#include "eigen_product.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include <cmath>
#include <limits>

#include <newel/core/error.hpp>
#include "spmv/csr/csr.hpp"

#include "measure.hpp"

namespace newel::bench {
namespace {

template <class T>
using Matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, int>;
template <class T, class M>
using Cg = Eigen::ConjugateGradient<Matrix<T>, Eigen::Lower | Eigen::Upper, M>;
template <class T, class M>
using Bicgstab = Eigen::BiCGSTAB<Matrix<T>, M>;

// `counts_last`: whether the iteration in which it converges is one of those that Eigen counts.
template <class T, class Solver, bool counts_last>
class EigenSolve final : public BuiltSolve<T, Space::host> {
 public:
  EigenSolve(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a) : ctx_(ctx) {
    if (a.nnz() > std::numeric_limits<int>::max()) {
      throw InputError("Eigen's 32-bit indices cannot number " + std::to_string(a.nnz()) + " entries");
    }
    Eigen::setNbThreads(ctx.threads());
    convert_seconds_ = seconds_of([&] {
      std::vector<int> row_ptr(static_cast<std::size_t>(a.rows) + 1);
      for (Index i = 0; i <= a.rows; ++i) row_ptr[static_cast<std::size_t>(i)] = static_cast<int>(a.row_begin(i));
      matrix_ = Eigen::Map<const Matrix<T>>(a.rows, a.cols, a.nnz(), row_ptr.data(), a.col.data, a.val.data);
    });
    compute_seconds_ = seconds_of([&] { solver_.compute(matrix_); });
  }

  SolveEnd solve(Span<const T, Space::host> b, Span<T, Space::host> x, const SolveGoal& goal) override {
    Eigen::setNbThreads(ctx_.threads());
    const Eigen::Map<const Vector> rhs(b.data, b.size);
    Eigen::Map<Vector> solution(x.data, x.size);
    solver_.setTolerance(static_cast<T>(goal.tolerance));
    solver_.setMaxIterations(goal.max_iterations);
    solution = solver_.solve(rhs);
    SolveEnd end;
    end.recurrence_residual = static_cast<double>(solver_.error());
    end.iterations = static_cast<int>(solver_.iterations());
    if (!std::isfinite(end.recurrence_residual)) {
      end.status = "not_finite";
    } else if (solver_.info() == Eigen::Success) {
      end.status = "converged";
      if (rhs.squaredNorm() == 0) end.iterations = 0;  // BiCGSTAB leaves the most that were allowed there
      if (!counts_last && rhs.squaredNorm() > 0) ++end.iterations;
    } else {
      end.status = solver_.info() == Eigen::NoConvergence ? "max_iterations" : "breakdown";
    }
    return end;
  }

  SolveFacts facts() const override {
    SolveFacts facts;
    facts.format = "row-major";
    facts.detail = "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
                   std::to_string(EIGEN_MINOR_VERSION) + ", compiled for " + Eigen::SimdInstructionSetsInUse();
    facts.product_bytes = csr_product_bytes(static_cast<Index>(matrix_.rows()), static_cast<Index>(matrix_.cols()),
                                            matrix_.nonZeros(), sizeof(T));
    facts.setup_seconds = convert_seconds_ + compute_seconds_;
    facts.setup_phases = {{"convert", convert_seconds_}, {"compute", compute_seconds_}};
    return facts;
  }

 private:
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

  Context<Space::host> ctx_;
  Matrix<T> matrix_;
  Solver solver_;
  double convert_seconds_ = 0, compute_seconds_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<BuiltSolve<T, Space::host>> make_eigen_solve(const Context<Space::host>& ctx,
                                                             const CsrView<T, Space::host>& a,
                                                             const std::string& solver, const std::string& precond) {
  using Identity = Eigen::IdentityPreconditioner;
  using Diagonal = Eigen::DiagonalPreconditioner<T>;
  const bool jacobi = precond == "jacobi";
  if (!competitors_know(solver, precond))
    throw InputError("the Eigen contender solves by cg or bicgstab, with none or jacobi");
  if (solver == "cg") {
    if (jacobi) return std::make_unique<EigenSolve<T, Cg<T, Diagonal>, false>>(ctx, a);
    return std::make_unique<EigenSolve<T, Cg<T, Identity>, false>>(ctx, a);
  }
  if (jacobi) return std::make_unique<EigenSolve<T, Bicgstab<T, Diagonal>, true>>(ctx, a);
  return std::make_unique<EigenSolve<T, Bicgstab<T, Identity>, true>>(ctx, a);
}

template std::unique_ptr<BuiltSolve<double, Space::host>> make_eigen_solve(const Context<Space::host>&,
                                                                           const CsrView<double, Space::host>&,
                                                                           const std::string&, const std::string&);
template std::unique_ptr<BuiltSolve<float, Space::host>> make_eigen_solve(const Context<Space::host>&,
                                                                          const CsrView<float, Space::host>&,
                                                                          const std::string&, const std::string&);

}  // namespace newel::bench

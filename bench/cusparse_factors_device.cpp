// SPDX-License-Identifier: Apache-2.0
// csrilu02 and SpSV, called as their documentation does.
#include "cusparse_factors_device.hpp"

// csrilu02 is deprecated, and has no successor.
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>

#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>

#include <newel/core/vector_ops.hpp>
#include "core/memory/context_device.hpp"

namespace newel::bench {
namespace {

constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr cusparseSolvePolicy_t policy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
constexpr cusparseSpSVAlg_t algorithm = CUSPARSE_SPSV_ALG_DEFAULT;

void check(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuSPARSE: ") + cusparseGetErrorString(status));
}

std::vector<std::int32_t> narrow_pointers(const Context<Space::device>& ctx,
                                          const CsrView<double, Space::device>& a) {
  if (a.nnz() > std::numeric_limits<std::int32_t>::max()) throw std::runtime_error("too many entries for csrilu02");
  if (!a.wide()) return to_vector(ctx, a.row_ptr32);
  const std::vector<Offset> wide = to_vector(ctx, a.row_ptr64);
  return {wide.begin(), wide.end()};
}

}  // namespace

struct CusparseFactors::State {
  const Context<Space::device>& ctx;
  int rows, entries;
  Array<std::int32_t, Space::device> row_ptr;
  Array<Index, Space::device> col;
  Array<double, Space::device> val, between;
  Array<char, Space::device> factor_buffer, lower_buffer, upper_buffer;
  cusparseHandle_t handle = nullptr;
  cusparseMatDescr_t description = nullptr;
  csrilu02Info_t info = nullptr;
  cusparseSpMatDescr_t lower = nullptr, upper = nullptr;
  cusparseSpSVDescr_t lower_solve = nullptr, upper_solve = nullptr;
  cusparseDnVecDescr_t x = nullptr, t = nullptr, y = nullptr;
  double setup_seconds = 0;

  State(const Context<Space::device>& ctx_, const CsrView<double, Space::device>& a)
      : ctx(ctx_),
        rows(a.rows),
        entries(static_cast<int>(a.nnz())),
        row_ptr(make_array(ctx, narrow_pointers(ctx, a))),
        col(make_array(ctx, a.col)),
        val(make_array(ctx, a.val)),
        between(ctx, a.rows) {
    check(cusparseCreate(&handle));
    check(cusparseSetStream(handle, ctx.state().stream()));
    check(cusparseCreateMatDescr(&description));
    check(cusparseCreateCsrilu02Info(&info));
    check(cusparseCreateDnVec(&t, rows, between.data(), CUDA_R_64F));
    check(cusparseCreateDnVec(&x, rows, between.data(), CUDA_R_64F));
    check(cusparseCreateDnVec(&y, rows, between.data(), CUDA_R_64F));
  }
  ~State() {
    for (cusparseDnVecDescr_t vector : {x, t, y}) {
      if (vector != nullptr) cusparseDestroyDnVec(vector);
    }
    for (cusparseSpSVDescr_t solve : {lower_solve, upper_solve}) {
      if (solve != nullptr) cusparseSpSV_destroyDescr(solve);
    }
    for (cusparseSpMatDescr_t matrix : {lower, upper}) {
      if (matrix != nullptr) cusparseDestroySpMat(matrix);
    }
    if (info != nullptr) cusparseDestroyCsrilu02Info(info);
    if (description != nullptr) cusparseDestroyMatDescr(description);
    if (handle != nullptr) cusparseDestroy(handle);
  }

  void analyse() {
    int bytes = 0;
    double boost_below = 1e-4, boost_to = 1e-4;
    check(cusparseDcsrilu02_bufferSize(handle, rows, entries, description, val.data(), row_ptr.data(), col.data(),
                                       info, &bytes));
    factor_buffer = Array<char, Space::device>(ctx, bytes);
    check(cusparseDcsrilu02_numericBoost(handle, info, 1, &boost_below, &boost_to));
    check(cusparseDcsrilu02_analysis(handle, rows, entries, description, val.data(), row_ptr.data(), col.data(), info,
                                     policy, factor_buffer.data()));
  }

  void factorise() {
    check(cusparseDcsrilu02(handle, rows, entries, description, val.data(), row_ptr.data(), col.data(), info, policy,
                            factor_buffer.data()));
  }

  void make_triangle(cusparseSpMatDescr_t& matrix, cusparseSpSVDescr_t& solve, Array<char, Space::device>& buffer,
                     cusparseFillMode_t fill, cusparseDiagType_t diagonal) {
    check(cusparseCreateCsr(&matrix, rows, rows, entries, row_ptr.data(), col.data(), val.data(), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    check(cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    check(cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
    check(cusparseSpSV_createDescr(&solve));
    const double one = 1;
    std::size_t bytes = 0;
    check(cusparseSpSV_bufferSize(handle, plain, &one, matrix, t, y, CUDA_R_64F, algorithm, solve, &bytes));
    buffer = Array<char, Space::device>(ctx, static_cast<std::int64_t>(bytes));
    check(cusparseSpSV_analysis(handle, plain, &one, matrix, t, y, CUDA_R_64F, algorithm, solve, buffer.data()));
  }
};

CusparseFactors::CusparseFactors(const Context<Space::device>& ctx, const CsrView<double, Space::device>& a)
    : state_(std::make_unique<State>(ctx, a)) {
  State& s = *state_;
  ctx.synchronize();
  const auto begin = std::chrono::steady_clock::now();
  s.analyse();
  s.factorise();
  s.make_triangle(s.lower, s.lower_solve, s.lower_buffer, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_UNIT);
  s.make_triangle(s.upper, s.upper_solve, s.upper_buffer, CUSPARSE_FILL_MODE_UPPER, CUSPARSE_DIAG_TYPE_NON_UNIT);
  ctx.synchronize();
  s.setup_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

CusparseFactors::~CusparseFactors() = default;

void CusparseFactors::factorise(Span<const double, Space::device> values) {
  copy<double>(state_->ctx, values, state_->val.span());
  state_->factorise();
}

void CusparseFactors::solve(Span<const double, Space::device> x, Span<double, Space::device> y) {
  State& s = *state_;
  const double one = 1;
  check(cusparseDnVecSetValues(s.x, const_cast<double*>(x.data)));
  check(cusparseDnVecSetValues(s.y, y.data));
  check(cusparseSpSV_solve(s.handle, plain, &one, s.lower, s.x, s.t, CUDA_R_64F, algorithm, s.lower_solve));
  check(cusparseSpSV_solve(s.handle, plain, &one, s.upper, s.t, s.y, CUDA_R_64F, algorithm, s.upper_solve));
}

double CusparseFactors::setup_seconds() const { return state_->setup_seconds; }

}  // namespace newel::bench

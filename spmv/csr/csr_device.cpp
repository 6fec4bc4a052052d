// SPDX-License-Identifier: Apache-2.0
// CSR on the device: cuSPARSE's generic API, analysed once.
#include <chrono>
#include <limits>

#include <purlin/core/column_ops.hpp>
#include <purlin/core/context_device.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/core/vector_ops_steps.hpp>
#include <purlin/spmv/csr/csr.hpp>
#include <purlin/spmv/csr/csr_columns.hpp>

namespace purlin {
namespace {

template <class T>
constexpr cudaDataType value_type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;

}  // namespace

template <class T>
struct CsrOperator<T, Space::device>::State {
  Index rows = 0;
  Index cols = 0;
  Array<std::int32_t, Space::device> row_ptr32;
  Array<Offset, Space::device> row_ptr64;
  Array<Index, Space::device> col;
  Array<T, Space::device> val;
  ValueMap<Space::device> value_map;
  Array<char, Space::device> buffer;
  cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_CSR_ALG1;
  cusparseSpMatDescr_t matrix = nullptr;
  // The vectors' descriptors are made for the addresses of each apply.
  cusparseDnVecDescr_t x = nullptr;
  cusparseDnVecDescr_t y = nullptr;
  Array<Index, Space::device> long_rows;
  detail::CsrColumnsView<T> columns{};
  double convert_seconds = 0;
  double analyse_seconds = 0;

  ~State() {
    if (matrix != nullptr) cusparseDestroySpMat(matrix);
    if (x != nullptr) cusparseDestroyDnVec(x);
    if (y != nullptr) cusparseDestroyDnVec(y);
  }

  void take(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a);
  void analyse(const Context<Space::device>& ctx);
  void share_out(const Context<Space::device>& ctx);
};

template <class T>
void CsrOperator<T, Space::device>::State::take(const Context<Space::device>& ctx,
                                                const CsrView<T, Space::device>& a) {
  rows = a.rows;
  cols = a.cols;
  if (!a.wide()) {
    row_ptr32 = make_array(ctx, a.row_ptr32);
  } else if (a.nnz() <= std::numeric_limits<std::int32_t>::max()) {
    row_ptr32 = Array<std::int32_t, Space::device>(ctx, a.row_ptr64.size);
    detail::sweep(ctx, row_ptr32.size(),
                  detail::ConvertStep<Offset, std::int32_t>(a.row_ptr64.data, row_ptr32.data()));
  } else {
    row_ptr64 = make_array(ctx, a.row_ptr64);
  }
  col = make_array(ctx, a.col);
  val = make_array(ctx, a.val);
  if (a.value_map != nullptr) value_map = copy_of(ctx, *a.value_map);
}

template <class T>
void CsrOperator<T, Space::device>::State::analyse(const Context<Space::device>& ctx) {
  if (rows == 0 || val.empty()) return;  // nothing for cuSPARSE to do: apply scales y
  const bool narrow = !row_ptr32.empty();
  PURLIN_CHECK_CUSPARSE(cusparseCreateCsr(&matrix, rows, cols, val.size(),
                                          narrow ? static_cast<void*>(row_ptr32.data()) : row_ptr64.data(),
                                          col.data(), val.data(), narrow ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I,
                                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, value_type<T>));
  Array<T, Space::device> some_x(ctx, cols), some_y(ctx, rows);
  PURLIN_CHECK_CUSPARSE(cusparseCreateDnVec(&x, cols, some_x.data(), value_type<T>));
  PURLIN_CHECK_CUSPARSE(cusparseCreateDnVec(&y, rows, some_y.data(), value_type<T>));
  const T one = 1, zero = 0;
  std::size_t bytes = 0;
  PURLIN_CHECK_CUSPARSE(cusparseSpMV_bufferSize(ctx.cusparse(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x,
                                                &zero, y, value_type<T>, algorithm, &bytes));
  buffer = Array<char, Space::device>(ctx, static_cast<std::int64_t>(bytes));
  PURLIN_CHECK_CUSPARSE(cusparseSpMV_preprocess(ctx.cusparse(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x,
                                                &zero, y, value_type<T>, algorithm, buffer.data()));
}

// For products with several vectors.
template <class T>
void CsrOperator<T, Space::device>::State::share_out(const Context<Space::device>& ctx) {
  if (matrix == nullptr) return;
  CsrView<T, Space::device> a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr32 = row_ptr32.cspan();
  a.row_ptr64 = row_ptr64.cspan();
  a.col = col.cspan();
  a.val = val.cspan();
  columns = detail::csr_columns_view(ctx, a);
  long_rows = detail::long_rows_of(ctx, a, columns.most);
  columns.long_row = long_rows.data();
  columns.long_rows = static_cast<Index>(long_rows.size());
}

template <class T>
CsrOperator<T, Space::device>::CsrOperator(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a,
                                           const RowOrder<Space::device>&, const FormatRequest& request)
    : state_(std::make_unique<State>()) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  const auto start = Clock::now();
  state_->algorithm = request.variant == "alg2" ? CUSPARSE_SPMV_CSR_ALG2 : CUSPARSE_SPMV_CSR_ALG1;
  state_->take(ctx, a);
  ctx.synchronize();
  const auto converted = Clock::now();
  state_->analyse(ctx);
  state_->share_out(ctx);
  ctx.synchronize();
  state_->convert_seconds = seconds(converted - start);
  state_->analyse_seconds = seconds(Clock::now() - converted);
}

template <class T>
CsrOperator<T, Space::device>::~CsrOperator() = default;

template <class T>
Index CsrOperator<T, Space::device>::rows() const {
  return state_->rows;
}

template <class T>
Index CsrOperator<T, Space::device>::cols() const {
  return state_->cols;
}

template <class T>
void CsrOperator<T, Space::device>::refresh(const Context<Space::device>& ctx, Span<const T, Space::device> values) {
  gather(ctx, values, state_->value_map, state_->val.span());
}

template <class T>
Slots<T, Space::device> CsrOperator<T, Space::device>::slots(const Context<Space::device>& ctx) {
  return {state_->val.span(), positions_of(ctx, state_->value_map, state_->val.size())};
}

template <class T>
void CsrOperator<T, Space::device>::apply(const Context<Space::device>& ctx, T alpha, Span<const T, Space::device> x,
                                          T beta, Span<T, Space::device> y) const {
  if (state_->matrix == nullptr) return scale(ctx, beta, y);
  PURLIN_CHECK_CUSPARSE(cusparseDnVecSetValues(state_->x, const_cast<T*>(x.data)));
  PURLIN_CHECK_CUSPARSE(cusparseDnVecSetValues(state_->y, y.data));
  PURLIN_CHECK_CUSPARSE(cusparseSpMV(ctx.cusparse(), CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, state_->matrix,
                                     state_->x, &beta, state_->y, value_type<T>, state_->algorithm,
                                     state_->buffer.data()));
}

template <class T>
void CsrOperator<T, Space::device>::apply_columns(const Context<Space::device>& ctx, int columns, T alpha,
                                                  Span<const T, Space::device> x, T beta, Span<T, Space::device> y,
                                                  Span<char, Space::device> work) const {
  if (columns == 1) return apply(ctx, alpha, x, beta, y);
  if (state_->matrix == nullptr) return scale(ctx, beta, y);
  detail::csr_columns_product(ctx, state_->columns, columns, {alpha, x.data, beta, y.data, nullptr, work.data});
}

template <class T>
void CsrOperator<T, Space::device>::apply_dot_columns(const Context<Space::device>& ctx, int columns,
                                                      Span<const T, Space::device> x, Span<T, Space::device> y,
                                                      double* xy, Span<char, Space::device> work) const {
  if (columns == 1) return this->apply_dot(ctx, x, y, xy);
  if (state_->matrix == nullptr || state_->columns.long_rows > 0) {
    apply_columns(ctx, columns, T(1), x, T(0), y, work);
    return dot_columns<T, Space::device>(ctx, columns, x, y, xy);
  }
  detail::csr_columns_product(ctx, state_->columns, columns, {T(1), x.data, T(0), y.data, xy, work.data});
}

template <class T>
std::uint64_t CsrOperator<T, Space::device>::column_work_bytes(int columns) const {
  return columns == 1 ? 0 : detail::csr_column_work(state_->columns, columns);
}

template <class T>
OperatorInfo CsrOperator<T, Space::device>::info() const {
  OperatorInfo info;
  info.name = state_->algorithm == CUSPARSE_SPMV_CSR_ALG2 ? "csr:alg2" : "csr:alg1";
  info.detail = std::string("cuSPARSE, ") + (state_->row_ptr64.empty() ? "32" : "64") + "-bit row offsets";
  info.rows = state_->rows;
  info.cols = state_->cols;
  info.nonzeros = info.stored_slots = state_->val.size();
  info.bytes = {{"values", state_->val.bytes()},
                {"columns", state_->col.bytes()},
                {"row pointers", state_->row_ptr32.bytes() + state_->row_ptr64.bytes()},
                {"buffer", state_->buffer.bytes()},
                {"long rows", state_->long_rows.bytes()},
                {"value map", state_->value_map.bytes()}};
  info.bytes_per_product = csr_product_bytes(state_->rows, state_->cols, state_->val.size(), sizeof(T));
  info.setup_seconds = {{"convert", state_->convert_seconds}, {"analyse", state_->analyse_seconds}};
  return info;
}

template class CsrOperator<double, Space::device>;
template class CsrOperator<float, Space::device>;

}  // namespace purlin

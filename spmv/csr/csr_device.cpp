// SPDX-License-Identifier: Apache-2.0
// CSR on the device: the caller's arrays copied, and who multiplies with them.
#include <chrono>
#include <limits>
#include <optional>

#include <newel/core/vector_ops.hpp>
#include "core/memory/context_device.hpp"
#include "core/vectors/column_ops.hpp"
#include "core/vectors/vector_ops_steps.hpp"
#include "spmv/csr/csr.hpp"
#include "spmv/csr/csr_columns.hpp"
#include "spmv/csr/csr_cusparse.hpp"
#include "spmv/csr/csr_rows.hpp"
#include "spmv/csr/csr_walk.hpp"

namespace newel {

template <class T>
struct CsrOperator<T, Space::device>::State {
  std::string name = "csr";
  Array<std::int32_t, Space::device> row_ptr32;
  Array<Offset, Space::device> row_ptr64;
  Array<Index, Space::device> col;
  Array<T, Space::device> val;
  CsrView<T, Space::device> matrix;  // of these arrays
  ValueMap<Space::device> value_map;
  detail::CsrRows<T> own;
  std::optional<detail::CusparseCsr<T>> cusparse;  // if a variant names it, instead of `own`
  Array<Index, Space::device> long_rows;
  detail::CsrColumnsView<T> columns{};
  double convert_seconds = 0;
  double analyse_seconds = 0;

  bool empty() const { return matrix.rows == 0 || matrix.nnz() == 0; }  // apply scales y

  void take(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a);
  void analyse(const Context<Space::device>& ctx, const FormatRequest& request);
};

template <class T>
void CsrOperator<T, Space::device>::State::take(const Context<Space::device>& ctx,
                                                const CsrView<T, Space::device>& a) {
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
  matrix.rows = a.rows;
  matrix.cols = a.cols;
  matrix.row_ptr32 = row_ptr32.cspan();
  matrix.row_ptr64 = row_ptr64.cspan();
  matrix.col = col.cspan();
  matrix.val = val.cspan();
  if (a.value_map != nullptr) value_map = copy_of(ctx, *a.value_map);
}

template <class T>
void CsrOperator<T, Space::device>::State::analyse(const Context<Space::device>& ctx, const FormatRequest& request) {
  const std::string& variant = request.variant;
  if (!variant.empty()) name += ":" + variant;
  if (empty()) return;
  if (variant.empty()) {
    own = detail::CsrRows<T>(ctx, matrix, request.facts != nullptr ? request.facts->longest_row : -1);
  } else {
    cusparse.emplace(ctx, matrix, variant == "alg2" ? CUSPARSE_SPMV_CSR_ALG2 : CUSPARSE_SPMV_CSR_ALG1);
  }
  columns = detail::csr_columns_view(ctx, matrix);
  const bool any_long = cusparse || own.longest_row() > columns.most;
  if (any_long) long_rows = detail::long_rows_of(ctx, matrix, columns.most);
  columns.long_row = long_rows.data();
  columns.long_rows = static_cast<Index>(long_rows.size());
}

template <class T>
CsrOperator<T, Space::device>::CsrOperator(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a,
                                           const RowOrder<Space::device>&, const FormatRequest& request)
    : state_(std::make_shared<State>()) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  const auto start = Clock::now();
  state_->take(ctx, a);
  ctx.synchronize();
  const auto converted = Clock::now();
  state_->analyse(ctx, request);
  ctx.synchronize();
  state_->convert_seconds = seconds(converted - start);
  state_->analyse_seconds = seconds(Clock::now() - converted);
}

template <class T>
Index CsrOperator<T, Space::device>::rows() const {
  return state_->matrix.rows;
}

template <class T>
Index CsrOperator<T, Space::device>::cols() const {
  return state_->matrix.cols;
}

template <class T>
std::optional<CsrView<T, Space::device>> CsrOperator<T, Space::device>::as_csr() const {
  CsrView<T, Space::device> view = state_->matrix;
  if (!state_->value_map.identity()) view.value_map = &state_->value_map;
  return view;
}

template <class T>
detail::ResidentView<T, Space::device> CsrOperator<T, Space::device>::resident_view() const {
  const bool is_own = !state_->empty() && !state_->cusparse && !state_->row_ptr32.empty();
  return {nullptr, is_own && state_->own.cut_rows() == 0 ? &state_->matrix : nullptr};
}

template <class T>
void CsrOperator<T, Space::device>::refresh(const Context<Space::device>& ctx, Span<const T, Space::device> values) {
  gather(ctx, values, state_->value_map, state_->val.span());
}

template <class T>
Slots<T, Space::device> CsrOperator<T, Space::device>::slots(const Context<Space::device>& ctx) {
  return {state_->val.span(), positions_of(ctx, state_->value_map, state_->matrix.nnz())};
}

template <class T>
void CsrOperator<T, Space::device>::apply(const Context<Space::device>& ctx, T alpha, Span<const T, Space::device> x,
                                          T beta, Span<T, Space::device> y) const {
  if (state_->empty()) return scale(ctx, beta, y);
  if (state_->cusparse) return state_->cusparse->product(ctx, alpha, x.data, beta, y.data);
  state_->own.product(ctx, {alpha, x.data, beta, y.data, nullptr});
}

template <class T>
void CsrOperator<T, Space::device>::apply_dot(const Context<Space::device>& ctx, Span<const T, Space::device> x,
                                              Span<T, Space::device> y, double* xy) const {
  if (state_->empty() || state_->cusparse) return MatrixOperator<T, Space::device>::apply_dot(ctx, x, y, xy);
  state_->own.product(ctx, {T(1), x.data, T(0), y.data, xy});
}

template <class T>
void CsrOperator<T, Space::device>::apply_columns(const Context<Space::device>& ctx, int columns, T alpha,
                                                  Span<const T, Space::device> x, T beta, Span<T, Space::device> y,
                                                  Span<char, Space::device> work) const {
  if (columns == 1) return apply(ctx, alpha, x, beta, y);
  if (state_->empty()) return scale(ctx, beta, y);
  detail::csr_columns_product(ctx, state_->columns, columns, {alpha, x.data, beta, y.data, nullptr, work.data});
}

template <class T>
void CsrOperator<T, Space::device>::apply_dot_columns(const Context<Space::device>& ctx, int columns,
                                                      Span<const T, Space::device> x, Span<T, Space::device> y,
                                                      double* xy, Span<char, Space::device> work) const {
  if (columns == 1) return this->apply_dot(ctx, x, y, xy);
  if (state_->empty() || state_->columns.long_rows > 0) {
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
std::optional<detail::ResidualSums> CsrOperator<T, Space::device>::residual(const Context<Space::device>& ctx,
                                                                            Span<const T, Space::device> b,
                                                                            Span<const T, Space::device> x,
                                                                            const detail::ResidualScale& scale,
                                                                            Span<T, Space::device> r) const {
  return detail::csr_residual(ctx, state_->matrix, detail::ResidualArgs<T>{b.data, x.data, r.data, scale});
}

template <class T>
OperatorInfo CsrOperator<T, Space::device>::info() const {
  const State& s = *state_;
  OperatorInfo info;
  info.name = s.name;
  info.detail =
      std::string(s.cusparse ? "cuSPARSE, " : "") + (s.row_ptr64.empty() ? "32" : "64") + "-bit row offsets";
  info.rows = s.matrix.rows;
  info.cols = s.matrix.cols;
  info.nonzeros = info.stored_slots = s.matrix.nnz();
  if (!s.own.empty()) {
    info.figures = {{"chunks", static_cast<double>(s.own.chunks())},
                    {"cut rows", static_cast<double>(s.own.cut_rows())}};
  }
  info.bytes = {{"values", s.val.bytes()},
                {"columns", s.col.bytes()},
                {"row pointers", s.row_ptr32.bytes() + s.row_ptr64.bytes()},
                {"chunks", s.own.bytes()},
                {"buffer", s.cusparse ? s.cusparse->bytes() : 0},
                {"long rows", s.long_rows.bytes()},
                {"value map", s.value_map.bytes()}};
  info.bytes_per_product = csr_product_bytes(s.matrix.rows, s.matrix.cols, s.matrix.nnz(), sizeof(T));
  info.setup_seconds = {{"convert", s.convert_seconds}, {"analyse", s.analyse_seconds}};
  return info;
}

template class CsrOperator<double, Space::device>;
template class CsrOperator<float, Space::device>;

}  // namespace newel

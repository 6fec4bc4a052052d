// SPDX-License-Identifier: Apache-2.0
// One class around cusparseSpMV; formats differ in the arrays that their descriptor is made of.
#include "cusparse_product_device.hpp"

#include <limits>

#include <newel/core/matrix_traits.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/memory/cusparse_device.hpp"
#include "reorder/host_pattern.hpp"
#include "spmv/plan/phase_clock.hpp"

#include "cusparse_arrays.hpp"

namespace newel::bench {
namespace {

constexpr Index slice_rows = 32;
constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

cusparseSpMVAlg_t algorithm_of(CusparseFormat format) {
  switch (format) {
    case CusparseFormat::csr_alg1:
      return CUSPARSE_SPMV_CSR_ALG1;
    case CusparseFormat::csr_alg2:
      return CUSPARSE_SPMV_CSR_ALG2;
    case CusparseFormat::sell:
      return CUSPARSE_SPMV_SELL_ALG1;
    case CusparseFormat::bsr:
      return CUSPARSE_SPMV_BSR_ALG1;
    default:
      return CUSPARSE_SPMV_COO_ALG1;
  }
}

// Destroyed with what holds them, also where its constructor throws.
struct Descriptors {
  cusparseSpMatDescr_t matrix = nullptr;
  // The vectors' take the addresses of each apply.
  cusparseDnVecDescr_t x = nullptr, y = nullptr;

  Descriptors() = default;
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() {
    if (matrix != nullptr) cusparseDestroySpMat(matrix);
    if (x != nullptr) cusparseDestroyDnVec(x);
    if (y != nullptr) cusparseDestroyDnVec(y);
  }
};

// Offsets in as few bits as their last one needs.
class Offsets {
 public:
  Offsets() = default;
  explicit Offsets(Array<std::int32_t, Space::device> narrow) : narrow_(std::move(narrow)) {}
  Offsets(const Context<Space::device>& ctx, Span<const Offset, Space::host> from) {
    if (from[from.size - 1] > std::numeric_limits<std::int32_t>::max()) {
      wide_ = make_array(ctx, from);
    } else {
      narrow_ = make_array(ctx, std::vector<std::int32_t>(from.begin(), from.end()));
    }
  }
  bool narrow() const { return wide_.empty(); }
  void* data() { return narrow() ? static_cast<void*>(narrow_.data()) : wide_.data(); }
  cusparseIndexType_t type() const { return narrow() ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I; }
  std::uint64_t bytes() const { return narrow_.bytes() + wide_.bytes(); }

 private:
  Array<std::int32_t, Space::device> narrow_;
  Array<Offset, Space::device> wide_;
};

std::vector<Offset> row_pointers(const Context<Space::device>& ctx, const Pattern<Space::device>& a) {
  if (a.wide()) return to_vector(ctx, a.row_ptr64);
  const std::vector<std::int32_t> narrow = to_vector(ctx, a.row_ptr32);
  return {narrow.begin(), narrow.end()};
}

template <class T>
class CusparseProduct final : public MatrixOperator<T, Space::device> {
 public:
  CusparseProduct(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, CusparseFormat format)
      : format_(format), rows_(a.rows), cols_(a.cols), nonzeros_(a.nnz()) {
    if (nonzeros_ == 0) throw InputError("cuSPARSE has no product for a matrix without entries");
    detail::PhaseClock clock;
    switch (format) {
      case CusparseFormat::sell:
        take_sell(ctx, a, clock);
        break;
      case CusparseFormat::bsr:
        take_bsr(ctx, a, clock);
        break;
      case CusparseFormat::coo:
        take_coo(ctx, a, clock);
        break;
      default:
        take_csr(ctx, a);
    }
    ctx.synchronize();
    clock.end("upload and fill");
    analyse(ctx);
    ctx.synchronize();
    clock.end("analyse");
    setup_seconds_ = clock.seconds();
  }
  Index rows() const override { return rows_; }
  Index cols() const override { return cols_; }

  void refresh(const Context<Space::device>& ctx, Span<const T, Space::device> values) override {
    gather<T, Space::device>(ctx, values, map_, values_.span());
  }

  void apply(const Context<Space::device>& ctx, T alpha, Span<const T, Space::device> x, T beta,
             Span<T, Space::device> y) const override {
    NEWEL_CHECK_CUSPARSE(cusparseDnVecSetValues(use_.x, const_cast<T*>(x.data)));
    NEWEL_CHECK_CUSPARSE(cusparseDnVecSetValues(use_.y, y.data));
    NEWEL_CHECK_CUSPARSE(cusparseSpMV(detail::cusparse_handle(ctx), plain, &alpha, use_.matrix, use_.x, &beta, use_.y,
                                      value_type, algorithm_of(format_), buffer_.data()));
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    info.name = name_of(format_);
    info.detail = detail_;
    info.rows = rows_;
    info.cols = cols_;
    info.nonzeros = nonzeros_;
    info.stored_slots = values_.size();
    info.bytes = {{"values", values_.bytes()},
                  {"columns", col_.bytes()},
                  {"offsets", first_.bytes() + row_.bytes()},
                  {"buffer", buffer_.bytes()},
                  {"value map", map_.bytes()}};
    info.bytes_per_product = values_.bytes() + col_.bytes() + first_.bytes() + row_.bytes() +
                             (static_cast<std::uint64_t>(rows_) + static_cast<std::uint64_t>(cols_)) * sizeof(T);
    info.setup_seconds = setup_seconds_;
    return info;
  }

 private:
  static constexpr cudaDataType value_type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
  static constexpr cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;

  void take_csr(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a) {
    if (a.wide()) {
      const std::vector<Offset> row_ptr = row_pointers(ctx, Pattern<Space::device>(a));
      first_ = Offsets(ctx, {row_ptr.data(), static_cast<std::int64_t>(row_ptr.size())});
    } else {
      first_ = Offsets(make_array(ctx, a.row_ptr32));
    }
    col_ = make_array(ctx, a.col);
    values_ = make_array(ctx, a.val);
    NEWEL_CHECK_CUSPARSE(cusparseCreateCsr(&use_.matrix, rows_, cols_, nonzeros_, first_.data(), col_.data(),
                                           values_.data(), first_.type(), CUSPARSE_INDEX_32I, base, value_type));
    detail_ = first_.narrow() ? "32-bit offsets" : "64-bit offsets";
  }

  void take_coo(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, detail::PhaseClock& clock) {
    const std::vector<Offset> row_ptr = row_pointers(ctx, Pattern<Space::device>(a));
    clock.end("download");
    const Array<Index, Space::host> row =
        make_coo_rows(host_context(ctx), {row_ptr.data(), static_cast<std::int64_t>(row_ptr.size())});
    clock.end("layout");
    row_ = make_array(ctx, row.cspan());
    col_ = make_array(ctx, a.col);
    values_ = make_array(ctx, a.val);
    NEWEL_CHECK_CUSPARSE(cusparseCreateCoo(&use_.matrix, rows_, cols_, nonzeros_, row_.data(), col_.data(),
                                           values_.data(), CUSPARSE_INDEX_32I, base, value_type));
  }

  void take_sell(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, detail::PhaseClock& clock) {
    const detail::HostPattern pattern(ctx, Pattern<Space::device>(a));
    clock.end("download");
    const CusparseArrays arrays = make_sell_arrays(host_context(ctx), pattern.view(), slice_rows);
    clock.end("layout");
    fill(ctx, a, arrays);
    NEWEL_CHECK_CUSPARSE(cusparseCreateSlicedEll(&use_.matrix, rows_, cols_, nonzeros_, values_.size(), slice_rows,
                                                 first_.data(), col_.data(), values_.data(), first_.type(),
                                                 CUSPARSE_INDEX_32I, base, value_type));
    detail_ = "slices of " + std::to_string(slice_rows) + " rows";
  }

  void take_bsr(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, detail::PhaseClock& clock) {
    const detail::HostPattern pattern(ctx, Pattern<Space::device>(a));
    clock.end("download");
    const Context<Space::host> host = host_context(ctx);
    const Index block = node_block_size(host, pattern.view());
    if (block == 1) throw InputError("the pattern has no node blocks");
    const CusparseArrays arrays = make_bsr_arrays(host, pattern.view(), block);
    clock.end("layout");
    fill(ctx, a, arrays);
    NEWEL_CHECK_CUSPARSE(cusparseCreateBsr(&use_.matrix, rows_ / block, cols_ / block, col_.size(), block, block,
                                           first_.data(), col_.data(), values_.data(), first_.type(),
                                           CUSPARSE_INDEX_32I, base, value_type, CUSPARSE_ORDER_ROW));
    detail_ = std::to_string(block) + " x " + std::to_string(block) + " blocks";
  }

  void fill(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, const CusparseArrays& arrays) {
    first_ = Offsets(ctx, arrays.first.cspan());
    col_ = make_array(ctx, arrays.col.cspan());
    const Array<Offset, Space::device> source = make_array(ctx, arrays.source.cspan());
    map_ = make_value_map(ctx, source.cspan(), nonzeros_);
    values_ = Array<T, Space::device>(ctx, source.size());
    gather<T, Space::device>(ctx, a.val, map_, values_.span());
  }

  void analyse(const Context<Space::device>& ctx) {
    Array<T, Space::device> some_x(ctx, cols_), some_y(ctx, rows_);
    NEWEL_CHECK_CUSPARSE(cusparseCreateDnVec(&use_.x, cols_, some_x.data(), value_type));
    NEWEL_CHECK_CUSPARSE(cusparseCreateDnVec(&use_.y, rows_, some_y.data(), value_type));
    const T one = 1, zero = 0;
    std::size_t bytes = 0;
    NEWEL_CHECK_CUSPARSE(cusparseSpMV_bufferSize(detail::cusparse_handle(ctx), plain, &one, use_.matrix, use_.x,
                                                 &zero, use_.y, value_type, algorithm_of(format_), &bytes));
    buffer_ = Array<char, Space::device>(ctx, static_cast<std::int64_t>(bytes));
    NEWEL_CHECK_CUSPARSE(cusparseSpMV_preprocess(detail::cusparse_handle(ctx), plain, &one, use_.matrix, use_.x,
                                                 &zero, use_.y, value_type, algorithm_of(format_), buffer_.data()));
  }

  CusparseFormat format_;
  Index rows_, cols_;
  Offset nonzeros_;
  Offsets first_;
  Array<Index, Space::device> row_, col_;
  Array<T, Space::device> values_;
  ValueMap<Space::device> map_;
  mutable Array<char, Space::device> buffer_;
  Descriptors use_;
  std::string detail_;
  std::vector<std::pair<std::string, double>> setup_seconds_;
};

}  // namespace

std::string name_of(CusparseFormat format) {
  switch (format) {
    case CusparseFormat::csr_alg1:
      return "cusparse:csr-alg1";
    case CusparseFormat::csr_alg2:
      return "cusparse:csr-alg2";
    case CusparseFormat::sell:
      return "cusparse:sell";
    case CusparseFormat::bsr:
      return "cusparse:bsr";
    default:
      return "cusparse:coo";
  }
}

template <class T>
OperatorPtr<T, Space::device> make_cusparse_product(const Context<Space::device>& ctx,
                                                    const CsrView<T, Space::device>& a, CusparseFormat format) {
  return std::make_unique<CusparseProduct<T>>(ctx, a, format);
}

template OperatorPtr<double, Space::device> make_cusparse_product(const Context<Space::device>&,
                                                                  const CsrView<double, Space::device>&,
                                                                  CusparseFormat);
template OperatorPtr<float, Space::device> make_cusparse_product(const Context<Space::device>&,
                                                                 const CsrView<float, Space::device>&,
                                                                 CusparseFormat);

}  // namespace newel::bench

// SPDX-License-Identifier: Apache-2.0
// What is used of cuSPARSE, as plain loops.
#include "internal.hpp"

#include <cusparse.h>

#include <cstring>

struct cusparseContext {
  cudaStream_t stream = nullptr;
};

enum class Form { csr, coo, bsr, sell };
struct cusparseSpMatDescr {
  Form form;
  int64_t rows, cols, nnz, block = 1, stored = 0, slice = 0;
  void *first, *col, *val;
  bool first64, col64, is_double;
  cusparseOrder_t order = CUSPARSE_ORDER_ROW;
  void* analysed_buffer = nullptr;
};
struct cusparseDnVecDescr {
  int64_t size;
  void* values;
  bool is_double;
};

namespace {

int64_t index_at(const void* p, bool wide, int64_t i) {
  return wide ? static_cast<const int64_t*>(p)[i] : static_cast<const int32_t*>(p)[i];
}

template <class T>
void multiply(const cusparseSpMatDescr& m, T alpha, const T* x, T beta, T* y) {
  const T* val = static_cast<const T*>(m.val);
  const int64_t rows = m.form == Form::bsr ? m.rows * m.block : m.rows;
  std::vector<T> sum(static_cast<std::size_t>(rows), T(0));
  switch (m.form) {
    case Form::csr:
      for (int64_t i = 0; i < m.rows; ++i) {
        for (int64_t k = index_at(m.first, m.first64, i); k < index_at(m.first, m.first64, i + 1); ++k)
          sum[i] += val[k] * x[index_at(m.col, m.col64, k)];
      }
      break;
    case Form::coo:
      for (int64_t k = 0; k < m.nnz; ++k)
        sum[index_at(m.first, m.first64, k)] += val[k] * x[index_at(m.col, m.col64, k)];
      break;
    case Form::bsr: {
      const int64_t b = m.block;
      for (int64_t i = 0; i < m.rows; ++i) {
        for (int64_t k = index_at(m.first, m.first64, i); k < index_at(m.first, m.first64, i + 1); ++k) {
          const int64_t j = index_at(m.col, m.col64, k);
          for (int64_t r = 0; r < b; ++r)
            for (int64_t c = 0; c < b; ++c)
              sum[i * b + r] +=
                  val[k * b * b + (m.order == CUSPARSE_ORDER_ROW ? r * b + c : c * b + r)] * x[j * b + c];
        }
      }
      break;
    }
    case Form::sell:
      for (int64_t s = 0; s * m.slice < m.rows; ++s) {
        const int64_t begin = index_at(m.first, m.first64, s), end = index_at(m.first, m.first64, s + 1);
        for (int64_t k = begin; k < end; ++k) {
          const int64_t row = s * m.slice + (k - begin) % m.slice, j = index_at(m.col, m.col64, k);
          if (j >= 0 && row < m.rows) sum[row] += val[k] * x[j];
        }
      }
      break;
  }
  for (int64_t i = 0; i < rows; ++i) y[i] = beta == T(0) ? alpha * sum[i] : alpha * sum[i] + beta * y[i];
}

uint64_t hash_bytes(const void* p, std::size_t n, uint64_t h = 1469598103934665603ull) {
  const unsigned char* c = static_cast<const unsigned char*>(p);
  for (std::size_t i = 0; i < n; ++i) h = (h ^ c[i]) * 1099511628211ull;
  return h;
}

// What an analysis depends on: the pattern's offsets.
uint64_t analysis(const cusparseSpMatDescr& m) {
  const std::size_t w = m.first64 ? 8 : 4;
  switch (m.form) {
    case Form::csr:
    case Form::bsr:
      return hash_bytes(m.first, static_cast<std::size_t>(m.rows + 1) * w);
    case Form::coo:
      return hash_bytes(m.first, static_cast<std::size_t>(m.nnz) * w);
    case Form::sell:
      return hash_bytes(m.first, static_cast<std::size_t>((m.rows + m.slice - 1) / m.slice + 1) * w);
  }
  return 0;
}

constexpr std::size_t buffer_bytes = 64;

void check_matrix(const cusparseSpMatDescr& m) {
  const std::size_t w = m.first64 ? 8 : 4, c = m.col64 ? 8 : 4, v = m.is_double ? 8 : 4;
  std::size_t first = 0, cols = 0, vals = 0;
  switch (m.form) {
    case Form::csr:
      first = m.rows + 1;
      cols = vals = m.nnz;
      break;
    case Form::coo:
      first = cols = vals = m.nnz;
      break;
    case Form::bsr:
      first = m.rows + 1;
      cols = m.nnz;
      vals = m.nnz * m.block * m.block;
      break;
    case Form::sell:
      first = (m.rows + m.slice - 1) / m.slice + 1;
      cols = vals = m.stored;
      break;
  }
  emu::check_device_range("cusparse: row offsets", m.first, first * w);
  emu::check_device_range("cusparse: columns", m.col, cols * c);
  emu::check_device_range("cusparse: values", m.val, vals * v);
}

cusparseStatus_t make(cusparseSpMatDescr_t* to, const cusparseSpMatDescr& m) {
  *to = new cusparseSpMatDescr(m);
  return CUSPARSE_STATUS_SUCCESS;
}
bool wide(cusparseIndexType_t t) { return t == CUSPARSE_INDEX_64I; }

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t* h) {
  if (emu::unsafe_in_capture("cusparseCreate")) return CUSPARSE_STATUS_INTERNAL_ERROR;
  *h = new cusparseContext;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroy(cusparseHandle_t h) {
  delete h;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t h, cudaStream_t s) {
  h->stream = s;
  return CUSPARSE_STATUS_SUCCESS;
}
const char* cusparseGetErrorString(cusparseStatus_t) { return "cuSPARSE of the emulation"; }

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* to, int64_t rows, int64_t cols, int64_t nnz, void* first,
                                   void* col, void* val, cusparseIndexType_t ft, cusparseIndexType_t ct,
                                   cusparseIndexBase_t, cudaDataType type) {
  return make(to, {Form::csr, rows, cols, nnz, 1, 0, 0, first, col, val, wide(ft), wide(ct), type == CUDA_R_64F});
}
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* to, int64_t rows, int64_t cols, int64_t nnz, void* row,
                                   void* col, void* val, cusparseIndexType_t t, cusparseIndexBase_t,
                                   cudaDataType type) {
  return make(to, {Form::coo, rows, cols, nnz, 1, 0, 0, row, col, val, wide(t), wide(t), type == CUDA_R_64F});
}
cusparseStatus_t cusparseCreateBsr(cusparseSpMatDescr_t* to, int64_t rows, int64_t cols, int64_t nnz, int64_t rb,
                                   int64_t cb, void* first, void* col, void* val, cusparseIndexType_t ft,
                                   cusparseIndexType_t ct, cusparseIndexBase_t, cudaDataType type,
                                   cusparseOrder_t order) {
  if (rb != cb) return CUSPARSE_STATUS_NOT_SUPPORTED;
  return make(to,
              {Form::bsr, rows, cols, nnz, rb, 0, 0, first, col, val, wide(ft), wide(ct), type == CUDA_R_64F, order});
}
cusparseStatus_t cusparseCreateSlicedEll(cusparseSpMatDescr_t* to, int64_t rows, int64_t cols, int64_t nnz,
                                         int64_t stored, int64_t slice, void* first, void* col, void* val,
                                         cusparseIndexType_t ft, cusparseIndexType_t ct, cusparseIndexBase_t,
                                         cudaDataType type) {
  return make(
      to, {Form::sell, rows, cols, nnz, 1, stored, slice, first, col, val, wide(ft), wide(ct), type == CUDA_R_64F});
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t m) {
  delete m;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* v, int64_t size, void* values, cudaDataType type) {
  *v = new cusparseDnVecDescr{size, values, type == CUDA_R_64F};
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t v) {
  delete v;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t v, void* values) {
  v->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, const void*,
                                         cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t, std::size_t* bytes) {
  *bytes = buffer_bytes;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t h, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t, const void*,
                                         cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t, void* buffer) {
  if (!emu::check_device_range("cusparse: buffer", buffer, buffer_bytes)) return CUSPARSE_STATUS_INVALID_VALUE;
  check_matrix(*a);
  const_cast<cusparseSpMatDescr*>(a)->analysed_buffer = buffer;
  const cusparseSpMatDescr m = *a;
  emu::enqueue(h->stream, [m, buffer] {
    const uint64_t h = analysis(m);
    for (std::size_t k = 0; k < buffer_bytes / 8; ++k) static_cast<uint64_t*>(buffer)[k] = h + k;
  });
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMV(cusparseHandle_t h, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t xd, const void* beta,
                              cusparseDnVecDescr_t yd, cudaDataType, cusparseSpMVAlg_t, void* buffer) {
  if (op != CUSPARSE_OPERATION_NON_TRANSPOSE) return CUSPARSE_STATUS_NOT_SUPPORTED;
  const cusparseSpMatDescr m = *a;
  check_matrix(m);
  const int64_t rows = m.form == Form::bsr ? m.rows * m.block : m.rows,
                cols = m.form == Form::bsr ? m.cols * m.block : m.cols;
  const std::size_t w = m.is_double ? 8 : 4;
  if (xd->size != cols || yd->size != rows) {
    emu::complain("cusparseSpMV: vectors of %ld, %ld for %ld x %ld", long(xd->size), long(yd->size), long(rows),
                  long(cols));
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  emu::check_device_range("cusparse: x", xd->values, static_cast<std::size_t>(cols) * w);
  emu::check_device_range("cusparse: y", yd->values, static_cast<std::size_t>(rows) * w);
  if (!emu::check_device_range("cusparse: buffer", buffer, buffer_bytes)) return CUSPARSE_STATUS_INVALID_VALUE;
  if (m.analysed_buffer != nullptr && m.analysed_buffer != buffer)
    emu::complain("cusparseSpMV: another buffer than that of the analysis");
  const void* x = xd->values;
  void* y = yd->values;
  double ad, bd;
  float af = 0, bf = 0;
  if (m.is_double) {
    ad = *static_cast<const double*>(alpha);
    bd = *static_cast<const double*>(beta);
  } else {
    ad = af = *static_cast<const float*>(alpha);
    bd = bf = *static_cast<const float*>(beta);
  }
  emu::enqueue(h->stream, [=] {
    if (m.analysed_buffer != nullptr) {
      const uint64_t now = analysis(m);
      for (std::size_t k = 0; k < buffer_bytes / 8; ++k) {
        if (static_cast<const uint64_t*>(buffer)[k] != now + k) {
          emu::complain("cusparseSpMV: the buffer or the row offsets are not those of the analysis");
          break;
        }
      }
    }
    if (m.is_double)
      multiply<double>(m, ad, static_cast<const double*>(x), bd, static_cast<double*>(y));
    else
      multiply<float>(m, static_cast<float>(ad), static_cast<const float*>(x), static_cast<float>(bd),
                      static_cast<float*>(y));
  });
  return CUSPARSE_STATUS_SUCCESS;
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// Factors by cuDSS. What it refuses counts as no factors, so that others are asked.
#include "solver/direct/cudss_factors_device.hpp"

#include <array>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/memory/available_memory.hpp"
#include "core/vectors/instantiate.hpp"
#include "solver/cost/profiles/factor_constants.hpp"
#include "solver/krylov/monitor/scaled_system.hpp"

namespace newel::detail {
namespace {

constexpr Space device = Space::device;
constexpr const char* purpose = "the factors of the matrix (an estimate)";

// cuDSS has refused a call; what it leaves to be done is done by others.
class CudssError : public Error {
 public:
  using Error::Error;
};

template <class From, class To>
void copy_as(const Context<device>& ctx, Span<const From, device> x, Span<To, device> y) {
  if constexpr (std::is_same_v<From, To>) {
    copy<To>(ctx, x, y);
  } else {
    convert<From, To>(ctx, x, y);
  }
}

}  // namespace

CudssMatrixFactors::CudssMatrixFactors(const Cudss& library, const Context<device>& ctx,
                                       const CsrView<double, device>& a, int kind)
    : cudss_(library), ctx_(ctx), b_(ctx, a.rows), x_(ctx, a.rows), handles_(library) {
  check(cudss_.cudssCreate(&handles_.library), "cudssCreate");
  check(cudss_.cudssSetStream(handles_.library, ctx.stream()), "cudssSetStream");
  check(cudss_.cudssConfigCreate(&handles_.config), "cudssConfigCreate");
  check(cudss_.cudssDataCreate(handles_.library, &handles_.data), "cudssDataCreate");
  check(cudss_.cudssMatrixCreateCsr(&handles_.a, a.rows, a.cols, a.nnz(), a.row_ptr64.data, nullptr, a.col.data,
                                    a.val.data, CUDA_R_64I, CUDA_R_32I, CUDA_R_64F, kind,
                                    kind == Cudss::general ? Cudss::whole : Cudss::lower, Cudss::from_zero),
        "cudssMatrixCreateCsr");
  const auto dense = [&](CudssMatrix& view, const Array<double, device>& v) {
    check(cudss_.cudssMatrixCreateDn(&view, a.rows, 1, a.rows, v.cspan().data, CUDA_R_64F, Cudss::by_columns),
          "cudssMatrixCreateDn");
  };
  dense(handles_.b, b_);
  dense(handles_.x, x_);
  execute(Cudss::analysis);
  require_memory();
}

CudssMatrixFactors::Handles::~Handles() {
  for (CudssMatrix view : {a, x, b}) {
    if (view != nullptr) cudss.cudssMatrixDestroy(view);
  }
  if (data != nullptr) cudss.cudssDataDestroy(library, data);
  if (config != nullptr) cudss.cudssConfigDestroy(config);
  if (library != nullptr) cudss.cudssDestroy(library);
}

void CudssMatrixFactors::check(int result, const char* call) const {
  if (result == 0) return;
  if (result == Cudss::out_of_memory) throw OutOfMemory(name_of(device), purpose, 0, {});
  throw CudssError(std::string(call) + " failed: cuDSS returned " + std::to_string(result));
}

void CudssMatrixFactors::execute(int phase) {
  check(cudss_.cudssExecute(handles_.library, phase, handles_.config, handles_.data, handles_.a, handles_.x,
                            handles_.b),
        "cudssExecute");
}

// cuDSS estimates sixteen figures: first what stays on the device, then the most that it takes there.
void CudssMatrixFactors::require_memory() const {
  std::array<std::int64_t, 16> bytes{};
  std::size_t written = 0;
  const int result = cudss_.cudssDataGet(handles_.library, handles_.data, Cudss::memory_estimates, bytes.data(),
                                         sizeof bytes, &written);
  if (result == 0 && bytes[1] > 0) require_available(ctx_, purpose, static_cast<std::uint64_t>(bytes[1]));
}

bool CudssMatrixFactors::factorise() {
  execute(factorised_ ? Cudss::refactorisation : Cudss::factorisation);
  ctx_.synchronize();
  int info = 0;
  std::size_t written = 0;
  check(cudss_.cudssDataGet(handles_.library, handles_.data, Cudss::info, &info, sizeof info, &written),
        "cudssDataGet");
  factorised_ = info == 0;
  return factorised_;
}

void CudssMatrixFactors::solve() { execute(Cudss::solve); }

template <class T>
CudssFactors<T>::CudssFactors(const Cudss& library, const DeviceContext& ctx, const DeviceMatrix& matrix)
    : cudss_(library), most_seconds_(matrix.most_seconds), correction_(ctx, matrix.a.rows) {
  // Its order is found on the host, before anything is known of the fill.
  const double seconds = factor_constants.cudss_seconds_per_row * matrix.a.rows;
  require_time(seconds, most_seconds_, seconds);
  const MatrixTraits traits = matrix.traits != nullptr ? *matrix.traits : matrix_traits(ctx, matrix.a);
  symmetric_ = traits.symmetric();
  kind_ = !symmetric_ ? Cudss::general : traits.positive_diagonal() ? Cudss::positive_definite : Cudss::symmetric;
  a_.rows = a_.cols = matrix.a.rows;
  a_.col = make_array(ctx, matrix.a.col);
  a_.val = Array<double, device>(ctx, matrix.a.nnz());
  std::vector<Offset> row_ptr;
  with_row_ptr(matrix.a, [&](auto begin) {
    const auto rows = to_vector(ctx, begin);
    row_ptr.assign(rows.begin(), rows.end());
  });
  a_.row_ptr = make_array(ctx, row_ptr);
  take_values(ctx, matrix.a.val);
  make(ctx);
}

template <class T>
CsrView<double, device> CudssFactors<T>::view() const {
  return CsrView<double, device>(a_);
}

template <class T>
void CudssFactors<T>::make(const DeviceContext& ctx) {
  factors_.reset();
  try {
    factors_ = std::make_unique<CudssMatrixFactors>(cudss_, ctx, view(), kind_);
  } catch (const CudssError&) {
  } catch (const OutOfMemory&) {
  }
  title_ = kind_ == Cudss::general     ? "L U by cuDSS"
           : kind_ == Cudss::symmetric ? "L D L^T by cuDSS"
                                       : "L L^T by cuDSS";
  state_ = State::values_are_new;
}

template <class T>
const std::string& CudssFactors<T>::title() const {
  return on_host_ ? on_host_->title() : title_;
}

template <class T>
void CudssFactors<T>::take_values(const DeviceContext& ctx, Span<const T, device> values) {
  if (on_host_) return on_host_->take_values(ctx, values);
  copy_as<T, double>(ctx, values, a_.val.span());
  state_ = State::values_are_new;
}

template <class T>
bool CudssFactors<T>::factorise(const DeviceContext& ctx) {
  if (on_host_) return on_host_->factorise(ctx);
  if (state_ != State::values_are_new) return state_ == State::factorised;
  state_ = State::no_factors;
  try {
    if (factors_ != nullptr && factors_->factorise()) state_ = State::factorised;
  } catch (const CudssError&) {
  }
  return state_ == State::factorised;
}

// An x that is left as it is does not meet the tolerance, and others are asked.
template <class T>
void CudssFactors<T>::correct(const DeviceContext& ctx, Span<const T, device> r, int exponent, Span<T, device> x) {
  if (on_host_) return on_host_->correct(ctx, r, exponent, x);
  const std::int64_t n = correction_.size();
  for (std::int64_t first = 0; first < r.size; first += n) {
    copy_as<T, double>(ctx, r.subspan(first, n), factors_->vector());
    try {
      factors_->solve();
    } catch (const CudssError&) {
      return;
    }
    scale_by_power<double, device>(ctx, exponent, factors_->solution(), factors_->vector());
    copy_as<double, T>(ctx, factors_->vector(), correction_.span());
    axpy<T, device>(ctx, T(1), correction_.cspan(), x.subspan(first, n));
  }
}

template <class T>
bool CudssFactors<T>::next(const DeviceContext& ctx) {
  if (on_host_) return on_host_->next(ctx);
  if (!refused_.empty()) return false;
  if (kind_ != Cudss::general) {
    kind_ = Cudss::general;
    make(ctx);
    return true;
  }
  try {
    take_host(ctx);
    return true;
  } catch (const InputError& e) {
    refused_.push_back({"factors on the host", e.what()});
  } catch (const OutOfMemory& e) {
    refused_.push_back({"factors on the host", e.what()});
  }
  return false;
}

// The values are those that were taken last.
template <class T>
void CudssFactors<T>::take_host(const DeviceContext& ctx) {
  auto host = std::make_unique<HostFactors<T, device>>(ctx, host_factorisations(), host_pattern(ctx, view()),
                                                       symmetric_, most_seconds_);
  Array<T, device> values(ctx, a_.val.size());
  copy_as<double, T>(ctx, a_.val.cspan(), values.span());
  host->take_values(ctx, values.cspan());
  on_host_ = std::move(host);
  factors_.reset();
}

template <class T>
std::unique_ptr<SystemFactors<T, device>> make_system_factors(const Context<device>& ctx,
                                                              const SolverMatrix<T, device>& matrix) {
  if (const Cudss* const library = cudss()) return std::make_unique<CudssFactors<T>>(*library, ctx, matrix);
  return std::make_unique<HostFactors<T, device>>(ctx, host_factorisations(), matrix);
}

#define X(T, S)                   \
  template class CudssFactors<T>; \
  template std::unique_ptr<SystemFactors<T, S>> make_system_factors(const Context<S>&, const SolverMatrix<T, S>&);
NEWEL_FOR_TYPES(X, Space::device)
#undef X

}  // namespace newel::detail

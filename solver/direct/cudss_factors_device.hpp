// SPDX-License-Identifier: Apache-2.0
/// CudssFactors: factors on a device by cuDSS, and those of the host if they do not serve. Internal; needs the CUDA
/// headers.
#pragma once

#include <string>
#include <vector>

#include "solver/direct/libraries/cudss_library_device.hpp"
#include "solver/direct/system_factors.hpp"

namespace newel::detail {

/// Handles of cuDSS, and what they refer to: one matrix of one kind. Throws OutOfMemory, and an Error if
/// cuDSS refuses a call.
class CudssMatrixFactors {
 public:
  /// Orders and analyses the matrix, whose arrays outlive this. A symmetric kind reads the lower triangle alone.
  CudssMatrixFactors(const Cudss& library, const Context<Space::device>& ctx, const CsrView<double, Space::device>& a,
                     int kind);

  /// Of the present values. False: cuDSS says that there are none. Waits for the stream.
  bool factorise();
  /// v = inverse(A) v. On the stream.
  void solve();
  Span<double, Space::device> vector() { return b_.span(); }
  Span<const double, Space::device> solution() const { return x_.cspan(); }

 private:
  // Also of a constructor that throws.
  struct Handles {
    explicit Handles(const Cudss& library) : cudss(library) {}
    ~Handles();
    Handles(const Handles&) = delete;
    Handles& operator=(const Handles&) = delete;

    const Cudss& cudss;
    CudssHandle library = nullptr;
    CudssConfig config = nullptr;
    CudssData data = nullptr;
    CudssMatrix a = nullptr, x = nullptr, b = nullptr;
  };

  void execute(int phase);
  void check(int result, const char* call) const;
  void require_memory() const;

  const Cudss& cudss_;
  Context<Space::device> ctx_;
  Array<double, Space::device> b_, x_;
  Handles handles_;
  bool factorised_ = false;
};

/// L L^T for a symmetric matrix with a positive diagonal, L D L^T for another symmetric one; then L U, then the
/// factors of the host.
template <class T>
class CudssFactors final : public SystemFactors<T, Space::device> {
 public:
  using DeviceContext = Context<Space::device>;
  using DeviceMatrix = SolverMatrix<T, Space::device>;

  CudssFactors(const Cudss& library, const DeviceContext& ctx, const DeviceMatrix& matrix);

  const std::string& title() const override;
  void take_values(const DeviceContext& ctx, Span<const T, Space::device> values) override;
  bool factorise(const DeviceContext& ctx) override;
  void correct(const DeviceContext& ctx, Span<const T, Space::device> r, int exponent,
               Span<T, Space::device> x) override;
  bool next(const DeviceContext& ctx) override;
  const std::vector<Untried>& refused() const override { return on_host_ ? on_host_->refused() : refused_; }
  double seconds_of_refused() const override { return on_host_ ? on_host_->seconds_of_refused() : 0; }
  Index added() const override { return on_host_ ? on_host_->added() : 0; }
  double correct_least_squares(const DeviceContext& ctx, Span<const T, Space::device> r, int exponent,
                               Span<T, Space::device> x) override {
    return on_host_ ? on_host_->correct_least_squares(ctx, r, exponent, x) : 0;
  }
  bool find_singular(const DeviceContext& ctx, Failure& failure) override {
    return on_host_ && on_host_->find_singular(ctx, failure);
  }

 private:
  enum class State { values_are_new, factorised, no_factors };

  void make(const DeviceContext& ctx);
  void take_host(const DeviceContext& ctx);
  CsrView<double, Space::device> view() const;

  const Cudss& cudss_;
  int kind_;
  bool symmetric_;
  double most_seconds_;
  Csr<double, Space::device> a_;
  std::unique_ptr<CudssMatrixFactors> factors_;  // null: cuDSS refuses the matrix
  State state_ = State::values_are_new;
  std::string title_;
  std::unique_ptr<HostFactors<T, Space::device>> on_host_;  // in their place
  std::vector<Untried> refused_;
  Array<T, Space::device> correction_;
};

}  // namespace newel::detail

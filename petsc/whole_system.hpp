// SPDX-License-Identifier: Apache-2.0
/// The system of one process, in either space. Internal.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include <newel/core/cuda_interop.hpp>

#include "system.hpp"

namespace newel::petsc {

/// The device of the context is current as long as this lives. PETSc, which may use another, finds its own
/// afterwards.
template <Space S>
class Current {
 public:
  explicit Current(const Context<S>& ctx) { ctx.make_current(); }

 private:
  std::conditional_t<S == Space::device, KeptDevice, std::monostate> kept_;
};

/// Arrays of the host are used in place on the host, and copied to and from a device.
template <Space S>
class WholeSystem final : public System {
 public:
  WholeSystem(Context<S> ctx, const SystemOptions& options, const LocalRows& rows) : ctx_(std::move(ctx)) {
    const std::int64_t n = rows.rows();
    const Span<const PetscInt, Space::host> row_ptr(rows.row_ptr(), n + 1), col(rows.col(), rows.values().size);
    if constexpr (S == Space::host) {
      system_.emplace(ctx_, MatrixInput<double, S>::csr(n, n, row_ptr, col, rows.values()), options);
    } else {
      const auto device_row_ptr = make_array(ctx_, row_ptr);
      const auto device_col = make_array(ctx_, col);
      values_ = make_array(ctx_, rows.values());
      system_.emplace(ctx_, MatrixInput<double, S>::csr(n, n, device_row_ptr, device_col, values_.cspan()), options);
    }
  }

  ~WholeSystem() override {
    const Current<S> current(ctx_);
    system_.reset();
  }

  void refresh(ConstHostSpan values) override {
    const Current<S> current(ctx_);
    system_->refresh(input(values, values_));
  }

  SolveReport solve(const StopCriterion& stop, ConstHostSpan b, HostSpan x, const ProgressFn& progress,
                    InitialGuess guess) override {
    const Current<S> current(ctx_);
    system_->set_stop_criterion(stop);
    if constexpr (S == Space::host) {
      return system_->solve(b, x, progress, guess);
    } else {
      const Span<const double, S> right = input(b, in_);
      static_cast<void>(input({x.data, x.size}, out_));
      SolveReport report = system_->solve(right, out_.span(), progress, guess);
      copy(ctx_, out_.cspan(), x);
      return report;
    }
  }

  void precondition(ConstHostSpan r, HostSpan z) override {
    const Current<S> current(ctx_);
    const LinearOperator<double, S>* M = system_->ordered().preconditioner();
    resize(r.size);
    system_->ordered().from_user_order(input(r, in_), ordered_r_.span());
    if (M == nullptr) {
      copy(ctx_, ordered_r_.cspan(), ordered_z_.span());
    } else {
      M->apply(ctx_, 1.0, ordered_r_.cspan(), 0.0, ordered_z_.span());
    }
    if constexpr (S == Space::host) {
      system_->ordered().to_user_order(ordered_z_.cspan(), z);
    } else {
      system_->ordered().to_user_order(ordered_z_.cspan(), in_.span());
      copy(ctx_, in_.cspan(), z);
    }
  }

  SystemInfo info() const override { return system_->info(); }

 private:
  // On a device a copy of `from` in `buffer`.
  Span<const double, S> input(ConstHostSpan from, [[maybe_unused]] Array<double, S>& buffer) {
    if constexpr (S == Space::host) {
      return from;
    } else {
      if (buffer.size() != from.size) buffer = Array<double, S>(ctx_, from.size);
      copy(ctx_, from, buffer.span());
      return buffer.cspan();
    }
  }
  void resize(std::int64_t size) {
    if (ordered_r_.size() == size) return;
    ordered_r_ = Array<double, S>(ctx_, size);
    ordered_z_ = Array<double, S>(ctx_, size);
  }

  Context<S> ctx_;
  Array<double, S> values_, in_, out_;      // of a device
  Array<double, S> ordered_r_, ordered_z_;  // in solver order, once a preconditioner is applied alone
  std::optional<LinearSystem<double, S>> system_;
};

}  // namespace newel::petsc

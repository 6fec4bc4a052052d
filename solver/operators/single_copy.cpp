// SPDX-License-Identifier: Apache-2.0
// A in both precisions, M in one.
#include "solver/operators/single_copy.hpp"

#include <cmath>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/mixed/mixed_solvers.hpp"
#include "solver/krylov/steps/convergence_steps.hpp"
#include "solver/krylov/steps/mixed_steps.hpp"
#include "solver/operators/operator_builder.hpp"

namespace newel::detail {
namespace {

// The usual size of a number of the matrix: far from both ends of single precision once divided by it.
template <Space S>
double usual_size(const Context<S>& ctx, Span<const double, S> values) {
  if (values.empty()) return 1;
  Array<double, S> total(ctx, 1);
  norm2<double, S>(ctx, values, total.data());
  const double norm = fetch(ctx, total.data()), size = static_cast<double>(values.size);
  if (std::isfinite(norm) && norm >= least_safe_norm) return norm / std::sqrt(size);
  sweep(ctx, values.size, AbsSumStep<double>(values.data, total.data()));  // squares leave the range
  return fetch(ctx, total.data()) / size;
}

template <Space S>
SystemParts<float, S> low_parts(const SystemParts<double, S>& parts) {
  if (parts.has_preconditioner() && !parts.has_low_preconditioner()) {
    throw InputError(
        "mixed precision needs M in single precision, but has it in double only: set SystemParts::low_preconditioner "
        "or "
        "make_low_preconditioner");
  }
  SystemParts<float, S> low;
  low.preconditioner = parts.low_preconditioner;
  low.make_preconditioner = parts.make_low_preconditioner;
  return low;
}

}  // namespace

template <Space S>
SingleCopy<S>::SingleCopy(const Context<S>& ctx, const CsrView<double, S>& a, const SystemOptions& options,
                          SystemParts<float, S> parts) {
  PhaseSeconds rounding;
  timed(ctx, rounding, "single precision", [&] {
    scale_ = 1 / power_of_two_below(usual_size(ctx, a.val));
    rounded_ = Array<float, S>(ctx, a.nnz());
    sweep(ctx, a.nnz(), RoundStep(a.val.data, rounded_.data(), scale_));
  });
  const CsrView<float, S> low(Pattern<S>(a), rounded_.cspan());
  SystemOptions named = options;
  named.mixed = false;
  named.columns = 1;  // they are taken one after the other
  system_ = build<float, S>(ctx, low, std::move(named), std::move(parts), false);
  system_->setup_seconds.insert(system_->setup_seconds.begin(), rounding.front());
}

template <Space S>
SingleCopy<S>::SingleCopy(std::shared_ptr<const LinearOperator<float, S>> A, OperatorPtr<float, S> made,
                          std::shared_ptr<const LinearOperator<float, S>> M)
    : A_(std::move(A)), given_M_(std::move(M)), M_(std::move(made)) {}

template <Space S>
LowSystem<S> SingleCopy<S>::plain() const {
  if (system_ != nullptr) return {system_->matrix(), system_->preconditioner(), scale_};
  return {*A_, M_ != nullptr ? M_.get() : given_M_.get(), scale_};
}

template <Space S>
LowSystem<S> SingleCopy<S>::iterated() const {
  const LowSystem<S> low = plain();
  return {low.A, zero_mean_ != nullptr ? zero_mean_.get() : low.M, low.scale};
}

template <Space S>
void SingleCopy<S>::take_out_mean(const Context<S>& ctx) {
  const LowSystem<S> low = plain();
  zero_mean_ = std::make_unique<ZeroMeanPrecond<float, S>>(ctx, low.A.rows(), low.M);
}

template <Space S>
void SingleCopy<S>::refresh(const Context<S>& ctx, Span<const double, S> values, RefreshScope scope) {
  sweep(ctx, values.size, RoundStep(values.data, rounded_.data(), scale_));
  system_->refresh(rounded_.cspan(), scope);
}

template <Space S>
void SingleCopy<S>::operator_changed(const Context<S>& ctx) {
  if (M_ != nullptr) M_->refresh(ctx, {});
}

template <Space S>
std::unique_ptr<Operators<double, S>> build_mixed(const Context<S>& ctx, const CsrView<double, S>& a,
                                                  SystemOptions options, const SystemParts<double, S>& parts) {
  auto made = std::make_unique<Operators<double, S>>(ctx, std::move(options), parts);
  made->single = std::make_unique<SingleCopy<S>>(ctx, a, made->options, low_parts(parts));
  const Operators<float, S>& low = *made->single->system();
  made->setup_seconds = low.setup_seconds;
  timed(ctx, made->setup_seconds, "format in double", [&] {
    PermutedCsr<double, S> permuted;
    CsrView<double, S> view = a;
    if (!low.order.natural()) {
      permuted = permute(ctx, a, low.order);
      view = permuted.view();
    }
    made->A = make_spmv(ctx, view, low.order, SpmvOptions{"csr"});
  });
  if (low.preconditioner() != nullptr)
    made->parts.preconditioner = std::make_shared<WidenedPrecond<S>>(ctx, made->single->plain());
  if (made->options.null_space == NullSpace::constant) made->single->take_out_mean(ctx);
  made->chosen.solvers = low.chosen.solvers;
  made->options.precond.name = low.options.precond.name;
  return made;
}

#define X(S)                                                                                               \
  template class SingleCopy<S>;                                                                            \
  template std::unique_ptr<Operators<double, S>> build_mixed(const Context<S>&, const CsrView<double, S>&, \
                                                             SystemOptions, const SystemParts<double, S>&);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail

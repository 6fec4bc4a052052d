// SPDX-License-Identifier: Apache-2.0
// A in both precisions, M in one.
#include "solver/system/mixed_operators.hpp"

#include <cmath>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/steps/convergence_steps.hpp"
#include "solver/krylov/steps/mixed_steps.hpp"

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

}  // namespace

template <Space S>
MixedOperators<S>::MixedOperators(const Context<S>& ctx, const CsrView<double, S>& a, const SystemOptions& options,
                                  const SystemParts<double, S>& parts)
    : ctx_(ctx), solver_(options.solver), null_space_(options.null_space) {
  timed(ctx_, setup_seconds_, "single precision", [&] {
    scale_ = 1 / power_of_two_below(usual_size(ctx_, a.val));
    rounded_ = Array<float, S>(ctx_, a.nnz());
    sweep(ctx_, a.nnz(), RoundStep(a.val.data, rounded_.data(), scale_));
  });
  const CsrView<float, S> low(Pattern<S>(a), rounded_.cspan());
  SystemOptions low_options = options;
  low_options.mixed = false;
  low_options.columns = 1;  // they are taken one after the other
  if (parts.has_preconditioner() && !parts.has_low_preconditioner()) {
    throw InputError(
        "mixed precision needs M in single precision, and got it in double alone: SystemParts::low_preconditioner or "
        "make_low_preconditioner");
  }
  SystemParts<float, S> low_parts;
  low_parts.preconditioner = parts.low_preconditioner;
  low_parts.make_preconditioner = parts.make_low_preconditioner;
  low_.emplace(ctx_, low, low_options, std::move(low_parts), false);
  timed(ctx_, setup_seconds_, "format in double", [&] {
    const RowOrder<S>& order = low_->order();
    PermutedCsr<double, S> permuted;
    CsrView<double, S> view = a;
    if (!order.natural()) {
      permuted = permute(ctx_, a, order);
      view = permuted.view();
    }
    A_ = make_spmv(ctx_, view, order, SpmvOptions{"csr"});
  });
  if (low_->preconditioner() != nullptr) M_ = std::make_unique<WidenedPrecond<S>>(ctx_, low_system());
  if (null_space_ == NullSpace::constant) {
    zero_mean_ = std::make_unique<ZeroMeanPrecond<float, S>>(ctx_, a.rows, low_->preconditioner());
  }
}

template <Space S>
SolverChain<double, S> MixedOperators<S>::make_chain() {
  const LowSystem<S> low{low_->matrix(), zero_mean_ != nullptr ? zero_mean_.get() : low_->preconditioner(), scale_};
  auto steps = chain_steps<double, S>(ctx_, low.A.rows(), low_->solver_choice().order, solver_);
  steps = with_mixed_step<S>(ctx_, std::move(steps), low, solver_);
  return {ctx_, std::move(steps), *A_, M_.get(), null_space_ == NullSpace::constant};
}

template <Space S>
void MixedOperators<S>::refresh(Span<const double, S> values, RefreshScope scope) {
  sound_ = false;
  A_->refresh(ctx_, values);
  sweep(ctx_, values.size, RoundStep(values.data, rounded_.data(), scale_));
  low_->refresh(rounded_.cspan(), scope);
  sound_ = true;
}

namespace {

[[noreturn]] void refuse_slots() {
  throw InputError("a system in mixed precision stores its values twice: pass new ones to `refresh`");
}

}  // namespace

template <Space S>
Slots<double, S> MixedOperators<S>::matrix_slots() {
  refuse_slots();
}

template <Space S>
Slots<double, S> MixedOperators<S>::preconditioner_slots() {
  refuse_slots();
}

template <Space S>
void MixedOperators<S>::slots_written(RefreshScope) {
  refuse_slots();
}

template <Space S>
SystemInfo MixedOperators<S>::info() {
  SystemInfo info = low_->info();
  info.mixed = true;
  info.residual_matrix = A_->info();
  info.residual_matrix.bytes.emplace_back("rounded values",
                                          static_cast<std::uint64_t>(rounded_.size()) * sizeof(float));
  info.solver = mixed_name(info.solver);
  info.setup_seconds = setup_seconds();
  return info;
}

template <Space S>
PhaseSeconds MixedOperators<S>::setup_seconds() const {
  PhaseSeconds seconds = low_->setup_seconds();
  seconds.insert(seconds.begin(), setup_seconds_.front());
  seconds.push_back(setup_seconds_.back());
  return seconds;
}

#define X(S) template class MixedOperators<S>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail

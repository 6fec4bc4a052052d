// SPDX-License-Identifier: Apache-2.0
// How the preconditioner of a system that chose it itself changes.
#include <purlin/solver/system_operators.hpp>

#include <algorithm>

#include <purlin/core/instantiate.hpp>
#include <purlin/precond/build_cost.hpp>
#include <purlin/spmv/registry.hpp>

namespace purlin::detail {

// Asked at every poll: the model's seconds are worked out once, and the pattern is read once, when that is worth it.
template <class T, Space S>
const StrongerPrecond* PlainOperators<T, S>::stronger_preconditioner(int done) {
  constexpr double reading_seconds = 1e-9;  // of an entry of the pattern: its way from a device, and a pass over it
  constexpr double small_share = 0.1;       // of what the solve has taken
  if (!provisional_ || !order_.natural()) return nullptr;
  const std::optional<CsrView<T, S>> csr = A_->as_csr();
  if (!csr || !estimate_stronger(*csr)) return nullptr;
  if (stronger_->build_seconds > 0) return &*stronger_;
  const auto nonzeros = static_cast<double>(csr->nnz());
  if (!(small_share * done * stronger_->present_seconds >= reading_seconds * nonzeros)) return nullptr;
  const PrecondMethod& method = find_preconditioner(stronger_->name);
  PrecondOptions named = options_.precond;
  named.name = method.name;
  const double entries = method.entries == nullptr ? nonzeros : method.entries(named, csr->rows, csr->nnz());
  try {
    stronger_->build_seconds = build_seconds(ctx_, Pattern<S>(*csr), method, static_cast<Offset>(entries));
  } catch (const OutOfMemory&) {
    provisional_ = false;
    return nullptr;
  }
  return &*stronger_;
}

// All but the seconds of the setup, both in the format that the solve is expected to end in. False: there is none.
template <class T, Space S>
bool PlainOperators<T, S>::estimate_stronger(const CsrView<T, S>& a) {
  if (stronger_) return true;
  const PrecondMethod* const method = purlin::stronger_preconditioner(*traits_);
  const SpmvFormat& format = find_spmv_format(expected_format_.empty() ? options_.spmv.format : expected_format_);
  if (method == nullptr || format.cost_estimate == nullptr) return false;
  const CostEstimate product = format.cost_estimate(facts(a), {"", options_.spmv, machine_of(ctx_), sizeof(T)});
  PrecondOptions named = options_.precond;
  StrongerPrecond found;
  found.present_seconds = iteration_estimate(named, product).seconds;
  named.name = found.name = method->name;
  found.iteration_seconds = iteration_estimate(named, product).seconds;
  stronger_ = std::move(found);
  return true;
}

template <class T, Space S>
bool PlainOperators<T, S>::take_stronger_preconditioner() {
  const std::optional<CsrView<T, S>> csr = A_->as_csr();
  provisional_ = false;
  PrecondOptions named = options_.precond;
  named.name = stronger_->name;
  OperatorPtr<T, S> made;
  try {
    made = make_precond(ctx_, *csr, order_, named, options_.spmv);
  } catch (const InputError&) {  // the matrix does not support it
    return false;
  } catch (const OutOfMemory&) {
    return false;
  }
  weaker_ = std::move(M_);
  weaker_name_ = options_.precond.name;
  M_ = std::move(made);
  options_.precond.name = named.name;
  precond_reason_ = "followed " + weaker_name_ + " in a long solve";
  std::replace(candidates_.begin(), candidates_.end(), named.name, weaker_name_);
  estimate_formats(*csr);
  return true;
}

template <class T, Space S>
void PlainOperators<T, S>::restore_preconditioner() {
  if (weaker_ == nullptr) return;
  M_ = std::move(weaker_);
  precond_reason_ = options_.precond.name + " gained less";
  std::replace(candidates_.begin(), candidates_.end(), weaker_name_, options_.precond.name);
  options_.precond.name = weaker_name_;
  if (const std::optional<CsrView<T, S>> csr = A_->as_csr(); csr && order_.natural()) estimate_formats(*csr);
}

// The formats again, for iterations with the present preconditioner.
template <class T, Space S>
void PlainOperators<T, S>::estimate_formats(const CsrView<T, S>& a) {
  if (format_choice() == nullptr) return;
  FormatChoice again = choose_format_by_cost<T>(ctx_, Pattern<S>(a), options_.spmv, format_use(a));
  format_.trials = std::move(again.trials);
  if (!expected_format_.empty()) expected_format_ = again.format;
}

template <class T, Space S>
void PlainOperators<T, S>::decide_preconditioner() {
  const std::optional<CsrView<T, S>> csr = A_->as_csr();
  if (!provisional_ || !csr || !order_.natural() || !sound()) return;
  const std::string before = options_.precond.name;
  choose_preconditioner(*csr, false);
  std::replace(candidates_.begin(), candidates_.end(), options_.precond.name, before);
  if (options_.precond.name != before) estimate_formats(*csr);
}

template <class T, Space S>
bool PlainOperators<T, S>::next_preconditioner() {
  provisional_ = false;
  Array<T, S> values;
  PermutedCsr<T, S> permuted;
  std::optional<CsrView<T, S>> view;
  while (!candidates_.empty()) {
    PrecondOptions next = options_.precond;
    next.name = candidates_.front();
    candidates_.erase(candidates_.begin());
    try {
      if (next.name != "none" && !view) {
        view = source(values);
        if (!order_.natural()) view = (permuted = permute(ctx_, *view, order_)).view();
      }
      OperatorPtr<T, S> made = next.name == "none" ? nullptr : make_precond(ctx_, *view, order_, next, options_.spmv);
      M_ = std::move(made);
    } catch (const InputError&) {  // the matrix does not support it
      continue;
    } catch (const OutOfMemory&) {
      continue;
    }
    options_.precond.name = next.name;
    precond_reason_ = "the others failed";
    precond_sound_ = true;
    return true;
  }
  return false;
}

#define X(T, S)                                                                       \
  template const StrongerPrecond* PlainOperators<T, S>::stronger_preconditioner(int); \
  template bool PlainOperators<T, S>::take_stronger_preconditioner();                 \
  template void PlainOperators<T, S>::restore_preconditioner();                       \
  template void PlainOperators<T, S>::decide_preconditioner();                        \
  template bool PlainOperators<T, S>::next_preconditioner();
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin::detail

// SPDX-License-Identifier: Apache-2.0
// The format of a system: its choice, the matrix as it was given, and the same system in another format.
#include "solver/system/system_operators.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include <newel/spmv/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/cost/iteration_cost.hpp"

namespace newel::detail {

template <class T, Space S>
void PlainOperators<T, S>::choose_format(const CsrView<T, S>& a, bool exchangeable) {
  const std::string asked = canonical_name(options_.spmv.format);
  chosen_.format.format = options_.spmv.format;
  if (!is_format_choice(asked)) return;
  if (chosen_.diagonal && asked == "auto" && decided() == nullptr) {
    chosen_.format.format = options_.spmv.format = "csr";
    chosen_.format.reason = "a diagonal matrix";
    return;
  }
  const bool is_decided = decided() != nullptr && !decided()->format.empty();
  to_weigh_ = asked == "auto" && exchangeable && changes_on_its_way() && !is_decided;
  if (S == Space::device || !to_weigh_) expect_iterations(a);  // a device has the facts with the traits as a rule
  if (is_decided) {
    take_decided_format(a, asked == "measure");
  } else if (to_weigh_) {
    chosen_.format.format = "csr";
  } else if (asked == "auto") {
    chosen_.format = format_by_cost(a);
  } else {
    const double products = options_.expected_products > 0 ? options_.expected_products
                                                           : first_method().products * chosen_.expected_iterations;
    chosen_.format = measure_formats(ctx_, a, options_.spmv, products, !given_order());
  }
  options_.spmv.format = chosen_.format.format;
}

template <class T, Space S>
FormatChoice PlainOperators<T, S>::format_by_cost(const CsrView<T, S>& a) {
  options_.spmv.equal_opposites = equal_opposites(a);
  return choose_format_by_cost<T>(ctx_, Pattern<S>(a), options_.spmv, format_use(a));
}

// Of a system that begins in CSR: the formats by the iterations with its preconditioner.
template <class T, Space S>
void PlainOperators<T, S>::weigh_alternatives() {
  if (!std::exchange(to_weigh_, false)) return;
  const CsrView<T, S> a = *A_->as_csr();
  expect_iterations(a);
  if (chosen_.provisional) {
    if (std::string why = why_no_stronger(precond_use()); !why.empty()) {
      chosen_.provisional = false;
      chosen_.precond_reason = std::move(why);
    }
  }
  chosen_.format = format_by_cost(a);
  if (chosen_.format.format == "csr") return;
  chosen_.expected_format = std::exchange(chosen_.format.format, "csr");
  chosen_.format.reason = "to begin with; " + chosen_.expected_format + " " + chosen_.format.reason;
}

// A solve that takes fewer iterations than expected has not paid for another format than CSR, which needs no setup to
// speak of, nor for a strong preconditioner. Not where the caller says what is coming, nor for what does not change
// its operators on the way.
template <class T, Space S>
bool PlainOperators<T, S>::changes_on_its_way() const {
  return options_.expected_products == 0 && options_.columns == 1 && options_.null_space == NullSpace::none &&
         !given_order() && !first_method().from_matrix();
}

template <class T, Space S>
const PatternFacts& PlainOperators<T, S>::facts(const CsrView<T, S>& a) {
  if (!chosen_.facts) chosen_.facts = pattern_facts(ctx_, Pattern<S>(a));
  return *chosen_.facts;
}

template <class T, Space S>
void PlainOperators<T, S>::expect_iterations(const CsrView<T, S>& a) {
  chosen_.expected_iterations =
      options_.estimate_scale.iterations * newel::expected_iterations(facts(a), options_.stop.rel_tol);
}

// Of one of the formats whose facts are known; nothing where the model does not know it.
template <class T, Space S>
std::optional<CostEstimate> PlainOperators<T, S>::product_estimate(const std::string& format,
                                                                   std::size_t value_bytes) const {
  const SpmvFormat& line = find_spmv_format(format);
  if (line.cost_estimate == nullptr) return std::nullopt;
  return line.cost_estimate(*chosen_.facts, {"", options_.spmv, machine_, value_bytes});
}

// Of the first solver with the named preconditioner.
template <class T, Space S>
IterationEstimate PlainOperators<T, S>::iteration_estimate(const std::string& precond,
                                                           const CostEstimate& product) const {
  static const std::string none = "none";
  const std::string& name = needless() && precond == options_.precond.name ? none : precond;
  IterationCost cost{
      first_method(), options_.solver, precond_cost(name, options_.precond, *chosen_.facts, sizeof(T)),
      machine_,       sizeof(T),       options_.columns == 1 && options_.null_space == NullSpace::none};
  if (parts_.has_preconditioner()) cost.precond.resident = false;
  return cost.estimate(*chosen_.facts, product);
}

// Formats are compared by the iterations of the first solver that they lead to.
template <class T, Space S>
FormatUse PlainOperators<T, S>::format_use(const CsrView<T, S>& a) {
  FormatUse use;
  chosen_.formats_estimated_for = options_.precond.name;
  use.steps = options_.expected_products / first_method().products;
  use.may_renumber = !given_order();
  use.rel_tol = options_.stop.rel_tol;
  use.estimate_scale = options_.estimate_scale.iterations;
  use.facts = &facts(a);
  use.machine = &machine_;
  use.iteration = [this](const SpmvFormat&, const PatternFacts&, const CostEstimate& product) {
    return iteration_estimate(options_.precond.name, product);
  };
  return use;
}

// Looked up only where a format can make use of it.
template <class T, Space S>
bool PlainOperators<T, S>::equal_opposites(const CsrView<T, S>& a) {
  if (S == Space::host || options_.columns > 1 || first_method().demands == Demand::nothing) return false;
  if (!chosen_.traits) chosen_.traits = matrix_traits(ctx_, a);
  return chosen_.traits->pattern_symmetric && chosen_.traits->max_asymmetry == 0;
}

template <class T, Space S>
const FormatChoice* PlainOperators<T, S>::format_choice() {
  weigh_alternatives();
  const bool chosen = !chosen_.format.trials.empty() && !chosen_.format.measured && !given_order();
  return chosen && order_.natural() && A_->as_csr() ? &chosen_.format : nullptr;
}

template <class T, Space S>
std::string PlainOperators<T, S>::expected_format() {
  weigh_alternatives();
  return chosen_.expected_format == chosen_.format.format ? std::string() : chosen_.expected_format;
}

template <class T, Space S>
std::unique_ptr<SystemOperators<T, S>> PlainOperators<T, S>::in_format(const std::string& format) {
  weigh_alternatives();
  const std::optional<CsrView<T, S>> csr = A_->as_csr();
  if (!csr || !order_.natural() || given_order() || !sound() || !made_.empty()) return nullptr;
  return std::unique_ptr<PlainOperators>(new PlainOperators(*this, *csr, format));
}

// The system of `from`, whose matrix is `a`, in another format. What may throw comes before M is taken.
template <class T, Space S>
PlainOperators<T, S>::PlainOperators(PlainOperators& from, const CsrView<T, S>& a, const std::string& format)
    : ctx_(from.ctx_), machine_(from.machine_), options_(from.options_), parts_(from.parts_), chosen_(from.chosen_) {
  chosen_.expected_format = format;
  chosen_.format.format = options_.spmv.format = format;
  expect_present_format(chosen_.outlooks);
  expect_present_format(chosen_.weaker_outlooks);
  order_ = from.order_follows_ && order_in_options() ? callers_order(a.rows)
                                                     : plan_order<T>(ctx_, Pattern<S>(a), options_.spmv);
  require_memory_of_choice(a);
  CsrView<T, S> view = a;
  PermutedCsr<T, S> permuted;
  if (!order_.natural()) view = (permuted = permute(ctx_, a, order_)).view();
  A_ = make_spmv(ctx_, view, order_, options_.spmv);
  source_.emplace(ctx_, *A_, order_);
  fix_free_unknowns(a);
  keep_source(a);
  source_->keep_values(a);
  const bool has_precond = from.M_ != nullptr;
  chosen_.format.reason = "followed " + from.chosen_.format.format;
  if (has_precond) M_ = from.M_->renumbered(ctx_, order_, precond_spmv(options_.precond, options_.spmv));
  renumbered_serial_ = M_ != nullptr ? M_->serial() : 0;
  same_preconditioner_ = !has_precond || M_ != nullptr || !from.M_->diagonal().empty();
  if (!has_precond || M_ != nullptr) return;
  if (from.chosen_.precond_older)
    throw InputError("the preconditioner is older than the matrix, and cannot be made again");
  M_ = parts_.make_preconditioner != nullptr ? parts_.make_preconditioner(ctx_, view, order_)
                                             : make_precond(ctx_, view, order_, options_.precond, options_.spmv);
}

// The seconds of iterations, which were those of another format, or of the one that was expected.
template <class T, Space S>
void PlainOperators<T, S>::expect_present_format(std::optional<PrecondOutlooks>& outlooks) const {
  const std::optional<CostEstimate> product = outlooks ? product_estimate(options_.spmv.format) : std::nullopt;
  if (!product) return;
  const auto expect = [&](PrecondOutlook& outlook) {
    outlook.iteration_seconds = outlook.now_seconds = iteration_estimate(outlook.name, *product).seconds;
  };
  expect(outlooks->present);
  for (PrecondOutlook& outlook : outlooks->stronger) expect(outlook);
}

#define X(T, S)                                                                                                \
  template void PlainOperators<T, S>::choose_format(const CsrView<T, S>&, bool);                               \
  template FormatChoice PlainOperators<T, S>::format_by_cost(const CsrView<T, S>&);                            \
  template void PlainOperators<T, S>::weigh_alternatives();                                                    \
  template bool PlainOperators<T, S>::changes_on_its_way() const;                                              \
  template void PlainOperators<T, S>::expect_iterations(const CsrView<T, S>&);                                 \
  template const PatternFacts& PlainOperators<T, S>::facts(const CsrView<T, S>&);                              \
  template std::optional<CostEstimate> PlainOperators<T, S>::product_estimate(const std::string&, std::size_t) \
      const;                                                                                                   \
  template IterationEstimate PlainOperators<T, S>::iteration_estimate(const std::string&, const CostEstimate&) \
      const;                                                                                                   \
  template FormatUse PlainOperators<T, S>::format_use(const CsrView<T, S>&);                                   \
  template const FormatChoice* PlainOperators<T, S>::format_choice();                                          \
  template std::string PlainOperators<T, S>::expected_format();                                                \
  template std::unique_ptr<SystemOperators<T, S>> PlainOperators<T, S>::in_format(const std::string&);         \
  template void PlainOperators<T, S>::expect_present_format(std::optional<PrecondOutlooks>&) const;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

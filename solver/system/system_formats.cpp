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
  format_.format = options_.spmv.format;
  if (!is_format_choice(asked)) return;
  if (diagonal_ && asked == "auto" && decided() == nullptr) {
    format_.format = options_.spmv.format = "csr";
    format_.reason = "a diagonal matrix";
    return;
  }
  const bool is_decided = decided() != nullptr && !decided()->format.empty();
  to_weigh_ = asked == "auto" && exchangeable && changes_on_its_way() && !is_decided;
  if (S == Space::device || !to_weigh_) expect_iterations(a);  // a device has the facts with the traits as a rule
  if (is_decided) {
    take_decided_format(a, asked == "measure");
  } else if (to_weigh_) {
    format_.format = "csr";
  } else if (asked == "auto") {
    format_ = format_by_cost(a);
  } else {
    const double products =
        options_.expected_products > 0 ? options_.expected_products : first_method().products * expected_iterations_;
    format_ = measure_formats(ctx_, a, options_.spmv, products, !given_order());
  }
  options_.spmv.format = format_.format;
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
  if (provisional_) {
    if (std::string why = why_no_stronger(precond_use()); !why.empty()) {
      provisional_ = false;
      precond_reason_ = std::move(why);
    }
  }
  format_ = format_by_cost(a);
  if (format_.format == "csr") return;
  expected_format_ = std::exchange(format_.format, "csr");
  format_.reason = "to begin with; " + expected_format_ + " " + format_.reason;
}

// A solve that takes fewer iterations than expected has not paid for another format than CSR, which needs no setup to
// speak of, nor for a strong preconditioner. Not where the caller says what is coming, nor for what does not change
// its operators on the way.
template <class T, Space S>
bool PlainOperators<T, S>::changes_on_its_way() const {
  return options_.expected_products == 0 && options_.columns == 1 && options_.null_space == NullSpace::none &&
         !given_order();
}

template <class T, Space S>
const PatternFacts& PlainOperators<T, S>::facts(const CsrView<T, S>& a) {
  if (!facts_) facts_ = pattern_facts(ctx_, Pattern<S>(a));
  return *facts_;
}

template <class T, Space S>
void PlainOperators<T, S>::expect_iterations(const CsrView<T, S>& a) {
  expected_iterations_ =
      options_.estimate_scale.iterations * newel::expected_iterations(facts(a), options_.stop.rel_tol);
}

// Of one of the formats whose facts are known; nothing where the model does not know it.
template <class T, Space S>
std::optional<CostEstimate> PlainOperators<T, S>::product_estimate(const std::string& format,
                                                                   std::size_t value_bytes) const {
  const SpmvFormat& line = find_spmv_format(format);
  if (line.cost_estimate == nullptr) return std::nullopt;
  return line.cost_estimate(*facts_, {"", options_.spmv, machine_, value_bytes});
}

// Of the first solver with the named preconditioner.
template <class T, Space S>
IterationEstimate PlainOperators<T, S>::iteration_estimate(const std::string& precond,
                                                           const CostEstimate& product) const {
  static const std::string none = "none";
  const std::string& name = needless() && precond == options_.precond.name ? none : precond;
  IterationCost cost{
      first_method(), options_.solver, precond_cost(name, options_.precond, *facts_, sizeof(T)),
      machine_,       sizeof(T),       options_.columns == 1 && options_.null_space == NullSpace::none};
  if (parts_.has_preconditioner()) cost.precond.resident = false;
  return cost.estimate(*facts_, product);
}

// Formats are compared by the iterations of the first solver that they lead to.
template <class T, Space S>
FormatUse PlainOperators<T, S>::format_use(const CsrView<T, S>& a) {
  FormatUse use;
  formats_estimated_for_ = options_.precond.name;
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
  if (S == Space::host || options_.columns > 1 || !first_method().needs_symmetry) return false;
  if (!traits_) traits_ = matrix_traits(ctx_, a);
  return traits_->pattern_symmetric && traits_->max_asymmetry == 0;
}

template <class T, Space S>
const FormatChoice* PlainOperators<T, S>::format_choice() {
  weigh_alternatives();
  const bool chosen = !format_.trials.empty() && !format_.measured && !given_order();
  return chosen && order_.natural() && A_->as_csr() ? &format_ : nullptr;
}

template <class T, Space S>
std::string PlainOperators<T, S>::expected_format() {
  weigh_alternatives();
  return expected_format_ == format_.format ? std::string() : expected_format_;
}

template <class T, Space S>
std::unique_ptr<SystemOperators<T, S>> PlainOperators<T, S>::in_format(const std::string& format) {
  weigh_alternatives();
  const std::optional<CsrView<T, S>> csr = A_->as_csr();
  if (!csr || !order_.natural() || given_order() || !sound()) return nullptr;
  return std::unique_ptr<PlainOperators>(new PlainOperators(*this, *csr, format));
}

// The system of `from`, whose matrix is `a`, in another format. What may throw comes before M is taken.
template <class T, Space S>
PlainOperators<T, S>::PlainOperators(PlainOperators& from, const CsrView<T, S>& a, const std::string& format)
    : ctx_(from.ctx_),
      machine_(from.machine_),
      options_(from.options_),
      parts_(from.parts_),
      format_(from.format_),
      choice_(from.choice_),
      facts_(from.facts_),
      traits_(from.traits_),
      precond_reason_(from.precond_reason_),
      candidates_(from.candidates_),
      expected_format_(format),
      expected_iterations_(from.expected_iterations_),
      formats_estimated_for_(from.formats_estimated_for_),
      precond_older_(from.precond_older_),
      traits_older_(from.traits_older_),
      precond_chosen_(from.precond_chosen_),
      diagonal_(from.diagonal_),
      provisional_(from.provisional_),
      outlooks_(from.outlooks_),
      builds_estimated_(from.builds_estimated_),
      builds_by_values_(from.builds_by_values_),
      values_unreadable_(from.values_unreadable_),
      weaker_outlooks_(from.weaker_outlooks_) {
  format_.format = options_.spmv.format = format;
  expect_present_format(outlooks_);
  expect_present_format(weaker_outlooks_);
  order_ = from.order_follows_ && order_in_options() ? callers_order(a.rows)
                                                     : plan_order<T>(ctx_, Pattern<S>(a), options_.spmv);
  require_memory_of_choice(a);
  CsrView<T, S> view = a;
  PermutedCsr<T, S> permuted;
  if (!order_.natural()) view = (permuted = permute(ctx_, a, order_)).view();
  A_ = make_spmv(ctx_, view, order_, options_.spmv);
  fix_free_unknowns(a);
  keep_pattern(a);
  keep_values(a);
  const bool has_precond = from.M_ != nullptr;
  format_.reason = "followed " + from.format_.format;
  if (has_precond) M_ = from.M_->renumbered(ctx_, order_, precond_spmv(options_.precond, options_.spmv));
  renumbered_serial_ = M_ != nullptr ? M_->serial() : 0;
  same_preconditioner_ = !has_precond || M_ != nullptr || !from.M_->diagonal().empty();
  if (!has_precond || M_ != nullptr) return;
  if (from.precond_older_) throw InputError("the preconditioner is older than the matrix, and cannot be made again");
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

// Where the memory for it is not there, no other preconditioner than none can follow.
template <class T, Space S>
void PlainOperators<T, S>::keep_pattern(const CsrView<T, S>& a) {
  if (candidates_.empty() || (A_->as_csr() && order_.natural())) return;
  try {
    KeptPattern kept;
    kept.rows = a.rows;
    kept.row_ptr32 = make_array(ctx_, a.row_ptr32);
    kept.row_ptr64 = make_array(ctx_, a.row_ptr64);
    kept.col = make_array(ctx_, a.col);
    pattern_ = std::move(kept);
  } catch (const OutOfMemory&) {
    candidates_ = {"none"};
  }
}

// A preconditioner may follow the format, and would read the values back from it.
template <class T, Space S>
void PlainOperators<T, S>::keep_values(const CsrView<T, S>& a) {
  if (!pattern_ || a.value_map != nullptr) return;
  try {
    pattern_->val = make_array(ctx_, a.val);
  } catch (const OutOfMemory&) {
    pattern_->val = {};
  }
}

template <class T, Space S>
void PlainOperators<T, S>::renew_kept_values(Span<const T, S> values) {
  if (!pattern_ || pattern_->val.empty()) return;
  const bool may_follow = provisional_ && !(outlooks_ && outlooks_->stronger.empty());
  if ((may_follow || weaker_outlooks_) && pattern_->val.size() == values.size) {
    copy<T>(ctx_, values, pattern_->val.span());
  } else {
    pattern_->val = {};
  }
}

// The matrix in the caller's numbering, its values read back from A_ into `values` where it is not CSR and they are
// not kept. That is slow: for what happens once, after a failure. Throws InputError where A_ does not hold them all.
template <class T, Space S>
CsrView<T, S> PlainOperators<T, S>::source(Array<T, S>& values) {
  if (!pattern_) return *A_->as_csr();
  if (!pattern_->val.empty()) return {pattern_->view(), pattern_->val.cspan()};
  const Slots<T, S> slots = A_->slots(ctx_);
  const std::vector<T> stored = to_vector(ctx_, Span<const T, S>(slots.values));
  std::vector<T> of_entry(static_cast<std::size_t>(pattern_->col.size()), T(0));
  std::vector<bool> found(of_entry.size(), false);
  for (std::size_t k = 0; k < stored.size(); ++k) {
    if (slots.entry[k] < 0) continue;
    const auto entry = static_cast<std::size_t>(slots.entry[k]);
    of_entry[entry] = stored[k];
    found[entry] = true;
  }
  if (std::find(found.begin(), found.end(), false) != found.end()) {
    throw InputError("the format reads one of two opposite entries, and does not store the other");
  }
  values = make_array(ctx_, of_entry);
  return {pattern_->view(), values.cspan()};
}

template <class T, Space S>
CsrView<T, S> PlainOperators<T, S>::source_in_order(Array<T, S>& values, PermutedCsr<T, S>& permuted) {
  const CsrView<T, S> view = source(values);
  if (order_.natural()) return view;
  permuted = permute(ctx_, view, order_);
  return permuted.view();
}

// The pattern in the caller's numbering; nothing where it is not kept.
template <class T, Space S>
std::optional<Pattern<S>> PlainOperators<T, S>::source_pattern() const {
  if (pattern_) return pattern_->view();
  const std::optional<CsrView<T, S>> csr = A_->as_csr();
  return csr && order_.natural() ? std::optional<Pattern<S>>(*csr) : std::nullopt;
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
  template std::optional<Pattern<S>> PlainOperators<T, S>::source_pattern() const;                             \
  template void PlainOperators<T, S>::expect_present_format(std::optional<PrecondOutlooks>&) const;            \
  template void PlainOperators<T, S>::keep_pattern(const CsrView<T, S>&);                                      \
  template void PlainOperators<T, S>::keep_values(const CsrView<T, S>&);                                       \
  template void PlainOperators<T, S>::renew_kept_values(Span<const T, S>);                                     \
  template CsrView<T, S> PlainOperators<T, S>::source_in_order(Array<T, S>&, PermutedCsr<T, S>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

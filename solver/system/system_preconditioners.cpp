// SPDX-License-Identifier: Apache-2.0
// How the preconditioner of a system that chose it itself changes.
#include "solver/system/system_operators.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/vectors/instantiate.hpp"
#include "precond/precond_constants.hpp"
#include "solver/cost/profiles/decision_constants.hpp"

namespace newel::detail {

// Asked at every poll: the model's seconds are worked out once, and the pattern is read once, when that is worth it.
// The values are looked at before one is made.
template <class T, Space S>
const PrecondOutlooks* PlainOperators<T, S>::stronger_preconditioners(double done) {
  weigh_alternatives();
  if (!chosen_.provisional || (chosen_.outlooks && chosen_.outlooks->stronger.empty())) return nullptr;
  const std::optional<Pattern<S>> a = source_->pattern();
  if (!a || !estimate_stronger()) return nullptr;
  if (chosen_.builds_estimated) return &*chosen_.outlooks;
  // Those of a device are not read.
  const double read_entry = S == Space::host ? constants_of<HostPrecondConstants>(machine_).read_entry : 0;
  const double read = read_entry * static_cast<double>(a->nnz());
  const double enough = WorthConstants::small_share * done * chosen_.outlooks->present.iteration_seconds;
  if (!(enough >= read)) return nullptr;
  try {
    KnownValues known = known_values();
    known.later = known.matrix.index() != 0;
    known.matrix = {};
    estimate_builds(*a, known);
  } catch (const OutOfMemory&) {
    chosen_.provisional = false;
    return nullptr;
  }
  return &*chosen_.outlooks;
}

// All but the seconds of the setup, in the format that the solve is expected to end in. False: there is none.
template <class T, Space S>
bool PlainOperators<T, S>::estimate_stronger() {
  if (chosen_.outlooks) return true;
  const auto now = product_estimate(options_.spmv.format);
  const auto product = chosen_.expected_format.empty() ? now : product_estimate(chosen_.expected_format);
  if (!product || !now) return false;
  const auto outlook = [&](const std::string& name) {
    PrecondOutlook found;
    found.name = name;
    found.iteration_seconds = iteration_estimate(name, *product).seconds;
    found.now_seconds = iteration_estimate(name, *now).seconds;
    found.iterations = iterations_of(name);
    found.margin = margin_of(name);
    return found;
  };
  PrecondOutlooks found{outlook(options_.precond.name), {}};
  for (const PrecondMethod* const method : newel::stronger_preconditioners(*chosen_.traits)) {
    found.stronger.push_back(outlook(method->name));
  }
  chosen_.outlooks = std::move(found);
  return !chosen_.outlooks->stronger.empty();
}

template <class T, Space S>
bool PlainOperators<T, S>::values_unseen() const {
  const bool wanted = chosen_.builds_estimated && !chosen_.builds_by_values && !chosen_.values_unreadable;
  return wanted && source_->pattern() && known_values().matrix.index() != 0;
}

template <class T, Space S>
void PlainOperators<T, S>::look_at_values() {
  try {
    estimate_builds(*source_->pattern(), known_values());
  } catch (const OutOfMemory&) {
    chosen_.values_unreadable = true;
  }
}

template <class T, Space S>
void PlainOperators<T, S>::estimate_builds(const Pattern<S>& a, const KnownValues& values) {
  for (PrecondOutlook& outlook : chosen_.outlooks->stronger) {
    const PrecondMethod& method = find_preconditioner(outlook.name);
    const PrecondSeconds seconds = build_seconds(ctx_, a, method, options_.precond, &machine_, &values);
    outlook.build_seconds = seconds.build;
    outlook.refresh_seconds = seconds.refresh;
    outlook.iteration_seconds *= seconds.iteration_share;
    outlook.now_seconds *= seconds.iteration_share;
    outlook.by_values = values.matrix.index() != 0;
  }
  chosen_.builds_estimated = true;
  chosen_.builds_by_values = chosen_.builds_by_values || values.matrix.index() != 0;
}

// The matrix in the caller's order, where that is how it is multiplied, or where it is kept beside its format.
template <class T, Space S>
KnownValues PlainOperators<T, S>::known_values() const {
  KnownValues known;
  const std::optional<CsrView<T, S>> csr = source_->at_hand();
  if (!csr) return known;
  known.matrix = *csr;
  const NodeCoordinates* const nodes = options_.spmv.coordinates.get();
  if (chosen_.facts) known.node_rows = static_cast<int>(chosen_.facts->block);
  if (nodes != nullptr && static_cast<Offset>(nodes->xyz.size()) == csr->rows) known.node_rows = nodes->dimension;
  return known;
}

template <class T, Space S>
bool PlainOperators<T, S>::take_stronger_preconditioner(const std::string& name) {
  const auto is_it = [&](const PrecondOutlook& outlook) { return outlook.name == name; };
  std::vector<PrecondOutlook>& stronger = chosen_.outlooks->stronger;
  const auto it = std::find_if(stronger.begin(), stronger.end(), is_it);
  PrecondOutlook taken = *it;
  const auto before_it = stronger.erase(it) - stronger.begin();
  PrecondOptions named = options_.precond;
  named.name = name;
  OperatorPtr<T, S> made;
  try {
    Array<T, S> values;
    PermutedCsr<T, S> permuted;
    const CsrView<T, S> a = source_->in_order(values, permuted);
    if (named.symmetric && chosen_.traits_older && !matrix_traits(ctx_, a).symmetric()) return false;
    made = make_precond(ctx_, a, order_, named, options_.spmv);
  } catch (const InputError&) {  // the matrix does not support it
    return false;
  } catch (const OutOfMemory&) {
    return false;
  } catch (const WorkInterrupted&) {
    return false;
  }
  if (!taken.by_values) {
    const OperatorInfo info = made->info();
    PrecondQuestion question{options_.precond, machine_};
    question.made = &info;
    question.host_threads = host_context(ctx_).threads();
    const double more = cost_of(find_preconditioner(name), question).more_refresh_seconds;
    taken.refresh_seconds += more;
    taken.build_seconds += more;  // should it come again
  }
  weaker_kept_ = true;
  weaker_ = std::move(M_);
  weaker_older_ = std::exchange(chosen_.precond_older, false);
  chosen_.weaker_outlooks = *chosen_.outlooks;
  chosen_.outlooks->present = taken;
  for (auto other = stronger.begin(); other != stronger.begin() + before_it; ++other) other->passed_over = true;
  M_ = std::move(made);
  options_.precond.name = name;
  chosen_.precond_reason = "followed " + chosen_.weaker_outlooks->present.name + " in a long solve";
  std::replace(chosen_.untried.begin(), chosen_.untried.end(), name, chosen_.weaker_outlooks->present.name);
  estimate_formats();
  return true;
}

template <class T, Space S>
void PlainOperators<T, S>::restore_preconditioner() {
  if (!weaker_kept_) return;
  weaker_kept_ = false;
  M_ = std::move(weaker_);
  chosen_.precond_older = weaker_older_;
  call_weaker_present("gained less");
}

// M is the one before again: so are its name and what is known of it.
template <class T, Space S>
void PlainOperators<T, S>::call_weaker_present(const char* why) {
  chosen_.outlooks = std::move(chosen_.weaker_outlooks);
  chosen_.weaker_outlooks.reset();
  const std::string& name = chosen_.outlooks->present.name;
  chosen_.precond_reason = options_.precond.name + " " + why;
  std::replace(chosen_.untried.begin(), chosen_.untried.end(), name, options_.precond.name);
  options_.precond.name = name;
  estimate_formats();
}

template <class T, Space S>
std::optional<FollowedPrecond> PlainOperators<T, S>::followed_preconditioner() const {
  if (!chosen_.weaker_outlooks || !chosen_.outlooks) return std::nullopt;
  return FollowedPrecond{chosen_.outlooks->present, chosen_.weaker_outlooks->present};
}

template <class T, Space S>
bool PlainOperators<T, S>::leave_preconditioner(int iterations) {
  if (!chosen_.weaker_outlooks || !source_->pattern()) return false;
  PrecondOptions named = options_.precond;
  named.name = chosen_.weaker_outlooks->present.name;
  try {
    Array<T, S> values;
    PermutedCsr<T, S> permuted;
    const CsrView<T, S> a = source_->in_order(values, permuted);
    M_ = named.name == "none" ? nullptr : make_precond(ctx_, a, order_, named, options_.spmv);
  } catch (const InputError&) {  // the present values do not support it
    return false;
  } catch (const OutOfMemory&) {
    return false;
  } catch (const WorkInterrupted&) {
    return false;
  }
  chosen_.precond_older = false;
  PrecondOutlook left = chosen_.outlooks->present;
  left.measured_iterations = iterations;
  call_weaker_present("took longer");
  chosen_.outlooks->stronger.push_back(left);
  return true;
}

// The formats again, for iterations with the present preconditioner.
template <class T, Space S>
void PlainOperators<T, S>::estimate_formats() {
  if (format_choice() == nullptr) return;
  const CsrView<T, S> a = *A_->as_csr();
  FormatChoice again = choose_format_by_cost<T>(ctx_, Pattern<S>(a), options_.spmv, format_use(a));
  chosen_.format.trials = std::move(again.trials);
  if (!chosen_.expected_format.empty()) chosen_.expected_format = again.format;
}

template <class T, Space S>
void PlainOperators<T, S>::decide_preconditioner() {
  weigh_alternatives();
  const std::optional<CsrView<T, S>> csr = A_->as_csr();
  if (!chosen_.provisional || !csr || !order_.natural() || !sound()) return;
  const std::string before = options_.precond.name;
  try {
    choose_preconditioner(*csr, false);
  } catch (const WorkInterrupted&) {  // the one that "auto" began with stays
    return;
  }
  std::replace(chosen_.untried.begin(), chosen_.untried.end(), options_.precond.name, before);
  if (options_.precond.name != before) estimate_formats();
}

template <class T, Space S>
bool PlainOperators<T, S>::raise_precision() {
  if (M_ == nullptr || options_.precond.name == "none" || !source_->pattern()) return false;
  const PrecondMethod& method = find_preconditioner(options_.precond.name);
  if (method.chose_single == nullptr || !method.chose_single(options_.precond, M_->info())) return false;
  PrecondOptions options = options_.precond;
  method.forbid_single(options);
  try {
    Array<T, S> values;
    PermutedCsr<T, S> permuted;
    M_ = make_precond(ctx_, source_->in_order(values, permuted), order_, options, options_.spmv);
  } catch (const InputError&) {  // the format does not give the values back, for one
    return false;
  } catch (const OutOfMemory&) {
    return false;
  } catch (const WorkInterrupted&) {
    return false;
  }
  options_.precond = options;
  chosen_.precond_older = false;
  precond_sound_ = true;
  return true;
}

// By the model, than what is left of the time limit.
template <class T, Space S>
bool PlainOperators<T, S>::takes_too_long(const std::string& name) {
  const double left = work_limit(ctx_).seconds_left();
  if (!std::isfinite(left)) return false;
  const double seconds = candidate_build_seconds(name);
  if (!(seconds > left)) return false;
  char text[96];
  std::snprintf(text, sizeof text, "its setup is estimated at %.3g s, longer than the time limit allows", seconds);
  untried_.push_back({"the preconditioner " + name, text});
  return true;
}

template <class T, Space S>
bool PlainOperators<T, S>::next_preconditioner() {
  weigh_alternatives();
  chosen_.provisional = false;
  chosen_.weaker_outlooks.reset();
  Array<T, S> values;
  PermutedCsr<T, S> permuted;
  std::optional<CsrView<T, S>> view;
  while (!chosen_.untried.empty()) {
    PrecondOptions next = options_.precond;
    next.name = chosen_.untried.front();
    chosen_.untried.erase(chosen_.untried.begin());
    if (takes_too_long(next.name)) continue;
    try {
      if (next.name != "none" && !view) view = source_->in_order(values, permuted);
      OperatorPtr<T, S> made = next.name == "none" ? nullptr : make_precond(ctx_, *view, order_, next, options_.spmv);
      M_ = std::move(made);
    } catch (const InputError&) {  // the matrix does not support it
      continue;
    } catch (const OutOfMemory&) {
      continue;
    } catch (const WorkInterrupted&) {
      return false;
    }
    options_.precond.name = next.name;
    chosen_.precond_older = false;
    chosen_.precond_reason = "the others failed";
    precond_sound_ = true;
    return true;
  }
  return false;
}

#define X(T, S)                                                                                  \
  template const PrecondOutlooks* PlainOperators<T, S>::stronger_preconditioners(double);        \
  template bool PlainOperators<T, S>::values_unseen() const;                                     \
  template void PlainOperators<T, S>::look_at_values();                                          \
  template void PlainOperators<T, S>::estimate_formats();                                        \
  template bool PlainOperators<T, S>::take_stronger_preconditioner(const std::string&);          \
  template void PlainOperators<T, S>::restore_preconditioner();                                  \
  template std::optional<FollowedPrecond> PlainOperators<T, S>::followed_preconditioner() const; \
  template bool PlainOperators<T, S>::leave_preconditioner(int);                                 \
  template void PlainOperators<T, S>::decide_preconditioner();                                   \
  template bool PlainOperators<T, S>::raise_precision();                                         \
  template bool PlainOperators<T, S>::next_preconditioner();
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

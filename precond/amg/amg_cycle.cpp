// SPDX-License-Identifier: Apache-2.0
// The V-cycle, and the way of values from the hierarchy into its operators.
#include <purlin/precond/amg/amg_cycle.hpp>

#include <algorithm>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/parallel.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/precond/amg/amg_steps.hpp>
#include <purlin/precond/amg/placed_csr.hpp>
#include <purlin/spmv/registry.hpp>

namespace purlin::detail {
namespace {

constexpr double eigenvalue_margin = 1.1;  // the power method comes from below
// What SPAI or FSAI has to make of the largest eigenvalue of D^-1 A, to be better than the diagonal.
constexpr double most_of_diagonal = 0.8;
constexpr int coarse_degree = 2;  // levels below the first have few entries

std::int64_t size_of(const std::vector<double>& x) { return static_cast<std::int64_t>(x.size()); }

// The diagonal serves where SPAI or FSAI has refused the matrix.
AmgSmoother used_smoother(const AmgLevel& level, bool has_matrix) {
  return is_sparse(level.smoother) && !has_matrix ? AmgSmoother::chebyshev : level.smoother;
}

}  // namespace

template <class T, Space S>
AmgCycle<T, S>::AmgCycle(const Context<S>& ctx, AmgFinest<T, S> finest, const AmgHierarchy& hierarchy,
                         const std::vector<Index>& old_of_new, int degree)
    : old_of_new_(old_of_new), symmetric_(finest.symmetric) {
  const HostContext& host = host_context(ctx);
  std::vector<Index> new_of_old(old_of_new.size());
  for (std::size_t i = 0; i < old_of_new.size(); ++i) new_of_old[old_of_new[i]] = static_cast<Index>(i);
  const std::vector<Index> natural;
  const std::vector<AmgLevel>& from = hierarchy.levels();
  levels_.resize(from.size());
  for (std::size_t l = 0; l < from.size(); ++l) {
    Level& level = levels_[l];
    const Index rows = from[l].a.scalar_rows();
    if (l > 0) {
      level.b = Array<T, S>(ctx, rows);
      level.x = Array<T, S>(ctx, rows);
    }
    if (from[l].smoother_diagonal.empty()) continue;
    level.a = l == 0 ? std::move(finest.a) : make_operator(ctx, scalar_rows(host, from[l].a), from[l].a.val.cspan());
    level.m = l == 0 ? std::move(finest.smoother) : make_smoother(ctx, from[l]);
    const double lambda = sparse_lambda(ctx, l, hierarchy);
    if (hierarchy.chooses_smoothers() && lambda > most_of_diagonal * from[l].lambda) level.m.reset();
    if (level.m != nullptr) level.z = Array<T, S>(ctx, rows);
    level.steps =
        smoother_steps(used_smoother(from[l], level.m != nullptr), l == 0 ? degree : coarse_degree * degree);
    level.r = Array<T, S>(ctx, rows);
    level.d = Array<T, S>(ctx, rows);
    level.smoother = Array<T, S>(ctx, rows);
    place_smoother(ctx, l, hierarchy, lambda);
    if (from[l].last()) continue;
    const BlockCsr& p = from[l].p;
    level.p = make_operator(ctx, scalar_rows(host, p, l == 0 ? old_of_new : natural), p.val.cspan());
    level.pt = make_operator(ctx, scalar_columns(host, p, l == 0 ? new_of_old : natural), p.val.cspan());
  }
  const std::vector<double>& inverse = hierarchy.inverse();
  if (!from.back().smoother_diagonal.empty()) return;
  inverse_ = make_operator(ctx, dense_pattern(host, from.back().a.scalar_rows()), {inverse.data(), size_of(inverse)});
}

// The hierarchy's values in precision T and space S, until the next call.
template <class T, Space S>
Span<const T, S> AmgCycle<T, S>::place(const Context<S>& ctx, Span<const double, Space::host> values) {
  if constexpr (std::is_same_v<T, double> && S == Space::host) {
    return values;
  } else {
    const HostContext& host = host_context(ctx);
    if (converted_.size() < values.size) converted_ = Array<T, Space::host>(host, values.size);
    const Span<T, Space::host> converted = converted_.span().subspan(0, values.size);
    parallel_for(host, values.size, [&](std::int64_t i) { converted[i] = static_cast<T>(values[i]); });
    if constexpr (S == Space::host) {
      return converted;
    } else {
      if (placed_.size() < values.size) placed_ = Array<T, S>(ctx, values.size);
      const Span<T, S> placed = placed_.span().subspan(0, values.size);
      copy<T>(ctx, Span<const T, Space::host>(converted), placed);
      return placed;
    }
  }
}

// In the format csr, which takes rectangular matrices in any order.
template <class T, Space S>
OperatorPtr<T, S> AmgCycle<T, S>::make_operator(const Context<S>& ctx, const ScalarPattern& pattern,
                                                Span<const double, Space::host> values) const {
  const PlacedCsr<T, S> placed(ctx, pattern, values);
  return make_spmv<T, S>(ctx, placed.view(), RowOrder<S>{}, SpmvOptions{});
}

template <class T, Space S>
OperatorPtr<T, S> AmgCycle<T, S>::make_smoother(const Context<S>& ctx, const AmgLevel& level) const {
  if (!is_sparse(level.smoother)) return nullptr;
  const HostContext& host = host_context(ctx);
  const std::vector<double> values = regular_values(host, level.a);
  const PlacedCsr<T, S> placed(ctx, scalar_rows(host, level.a), {values.data(), size_of(values)});
  try {
    return make_sparse_smoother<T, S>(ctx, placed.view(), RowOrder<S>{}, level.smoother, symmetric_, SpmvOptions{});
  } catch (const InputError&) {
    return nullptr;
  }
}

// New values for what smooths a level. FSAI that refuses them stays as it is: any positive definite matrix smooths.
template <class T, Space S>
void AmgCycle<T, S>::refresh_smoother(const Context<S>& ctx, std::size_t l, Span<const T, S> values,
                                      const AmgHierarchy& hierarchy) {
  Level& level = levels_[l];
  try {
    if (level.m != nullptr && l == 0) level.m->refresh(ctx, values);
    if (level.m != nullptr && l > 0) {
      const std::vector<double> regular = regular_values(host_context(ctx), hierarchy.levels()[l].a);
      level.m->refresh(ctx, place(ctx, {regular.data(), size_of(regular)}));
    }
  } catch (const NotPositiveDefinite&) {
  }
  place_smoother(ctx, l, hierarchy, sparse_lambda(ctx, l, hierarchy));
}

// The largest eigenvalue that a sparse smoother makes of a level's matrix; 0 where there is none.
template <class T, Space S>
double AmgCycle<T, S>::sparse_lambda(const Context<S>& ctx, std::size_t l, const AmgHierarchy& hierarchy) const {
  const Level& level = levels_[l];
  if (level.m == nullptr) return 0;
  const bool definite = hierarchy.levels()[l].smoother == AmgSmoother::fsai;
  const std::vector<Index> natural;
  return largest_eigenvalue<T, S>(ctx, *level.a, *level.m, definite, l == 0 ? old_of_new_ : natural);
}

template <class T, Space S>
void AmgCycle<T, S>::place_smoother(const Context<S>& ctx, std::size_t l, const AmgHierarchy& hierarchy,
                                    double lambda) {
  Level& level = levels_[l];
  if (level.m != nullptr) {
    return fill<T, S>(ctx, static_cast<T>(1 / (eigenvalue_margin * lambda)), level.smoother.span());
  }
  const std::vector<double>& in_hierarchy = hierarchy.levels()[l].smoother_diagonal;
  Span<const double, Space::host> values(in_hierarchy.data(), size_of(in_hierarchy));
  std::vector<double> ordered;
  if (l == 0 && !old_of_new_.empty()) {
    ordered.resize(in_hierarchy.size());
    for (std::size_t i = 0; i < ordered.size(); ++i) ordered[i] = in_hierarchy[old_of_new_[i]];
    values = {ordered.data(), size_of(ordered)};
  }
  copy<T>(ctx, place(ctx, values), level.smoother.span());
}

template <class T, Space S>
void AmgCycle<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values, const AmgHierarchy& hierarchy,
                             bool prolongators) {
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = levels_[l];
    const AmgLevel& from = hierarchy.levels()[l];
    if (level.a != nullptr) {
      level.a->refresh(ctx, l == 0 ? values : place(ctx, from.a.val.cspan()));
      refresh_smoother(ctx, l, values, hierarchy);
    }
    if (level.p == nullptr || !prolongators) continue;
    const Span<const T, S> of_p = place(ctx, from.p.val.cspan());
    level.p->refresh(ctx, of_p);
    level.pt->refresh(ctx, of_p);
  }
  const std::vector<double>& inverse = hierarchy.inverse();
  if (inverse_ != nullptr) inverse_->refresh(ctx, place(ctx, {inverse.data(), size_of(inverse)}));
}

// S r but for 1 / lambda; r itself where S is a diagonal, which the steps multiply with.
template <class T, Space S>
const T* AmgCycle<T, S>::smoothed(const Context<S>& ctx, const Level& level, const T* r) const {
  if (level.m == nullptr) return r;
  level.m->apply(ctx, T(1), Span<const T, S>(r, level.z.size()), T(0), level.z.span());
  return level.z.data();
}

// The steps of a smoother after its first, whose direction is `before`.
template <class T, Space S>
void AmgCycle<T, S>::smooth_further(const Context<S>& ctx, const Level& level, const T* before, T* x) const {
  const std::int64_t n = level.r.size();
  T* const d = level.d.data();
  for (const auto& [c1, c2] : level.steps.next) {
    level.a->apply(ctx, T(-1), Span<const T, S>(before, n), T(1), level.r.span());
    const T* const r = smoothed(ctx, level, level.r.data());
    sweep(ctx, n, AmgNextStep<T>(static_cast<T>(c1), static_cast<T>(c2), level.smoother.data(), r, before, d, x));
    before = d;
  }
}

template <class T, Space S>
void AmgCycle<T, S>::descend(const Context<S>& ctx, std::size_t l, Span<const T, S> b, Span<T, S> x) const {
  const Level& level = levels_[l];
  if (level.a == nullptr) return inverse_->apply(ctx, T(1), b, T(0), x);
  const auto first = static_cast<T>(level.steps.first);
  T* const r = level.r.data();
  T* const d = level.d.data();
  sweep(ctx, x.size, AmgFirstStep<T>(first, level.smoother.data(), b.data, smoothed(ctx, level, b.data), x.data, r));
  smooth_further(ctx, level, x.data, x.data);
  if (level.p == nullptr) return;

  const T* const last = level.steps.next.empty() ? x.data : d;
  level.a->apply(ctx, T(-1), Span<const T, S>(last, x.size), T(1), level.r.span());
  const Level& coarse = levels_[l + 1];
  level.pt->apply(ctx, T(1), level.r.cspan(), T(0), coarse.b.span());
  descend(ctx, l + 1, coarse.b.cspan(), coarse.x.span());
  level.p->apply(ctx, T(1), coarse.x.cspan(), T(0), level.d.span());

  level.a->apply(ctx, T(-1), level.d.cspan(), T(1), level.r.span());
  sweep(ctx, x.size, AmgAgainStep<T>(first, level.smoother.data(), smoothed(ctx, level, r), d, x.data));
  smooth_further(ctx, level, d, x.data);
}

// f(operator, how often a cycle multiplies with it)
template <class T, Space S>
template <class F>
void AmgCycle<T, S>::for_operators(F&& f) const {
  for (const Level& level : levels_) {
    const int steps = static_cast<int>(level.steps.next.size());
    if (level.a != nullptr) f(*level.a, level.p == nullptr ? steps : 2 * steps + 2);
    if (level.m != nullptr) f(*level.m, level.p == nullptr ? steps + 1 : 2 * steps + 2);
    if (level.p != nullptr) f(*level.p, 1), f(*level.pt, 1);
  }
  if (inverse_ != nullptr) f(*inverse_, 1);
}

template <class T, Space S>
std::string AmgCycle<T, S>::smoother_text(const AmgHierarchy& hierarchy) const {
  std::string text;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    if (levels_[l].a == nullptr) continue;
    const std::string name = name_of(used_smoother(hierarchy.levels()[l], levels_[l].m != nullptr));
    if (text.find(name) == std::string::npos) text += (text.empty() ? "" : " and ") + name;
  }
  return text.empty() ? "no smoother" : text;
}

template <class T, Space S>
bool AmgCycle<T, S>::capturable() const {
  bool all = true;
  for_operators([&](const MatrixOperator<T, S>& op, int) { all = all && op.capturable(); });
  return all;
}

template <class T, Space S>
std::uint64_t AmgCycle<T, S>::bytes_per_cycle() const {
  std::uint64_t bytes = 0;
  for_operators([&](const MatrixOperator<T, S>& op, int times) {
    bytes += static_cast<std::uint64_t>(times) * op.info().bytes_per_product;
  });
  for (const Level& level : levels_) {
    const auto steps = static_cast<std::uint64_t>(level.steps.next.size());
    // The first step moves 4 vectors, each further one 6, the one after the coarse correction 6.
    const std::uint64_t vectors = level.p == nullptr ? 4 + 6 * steps : 10 + 12 * steps;
    bytes += vectors * level.smoother.bytes();
  }
  return bytes;
}

template <class T, Space S>
std::vector<std::pair<std::string, std::uint64_t>> AmgCycle<T, S>::bytes() const {
  std::uint64_t matrices = 0, prolongators = 0, smoothers = 0,
                vectors = placed_.bytes() + (S == Space::host ? converted_.bytes() : 0);
  for (const Level& level : levels_) {
    if (level.a != nullptr) matrices += level.a->info().total_bytes();
    if (level.p != nullptr) prolongators += level.p->info().total_bytes() + level.pt->info().total_bytes();
    if (level.m != nullptr) smoothers += level.m->info().total_bytes();
    vectors += level.smoother.bytes() + level.z.bytes() + level.r.bytes() + level.d.bytes() + level.b.bytes() +
               level.x.bytes();
  }
  return {{"matrices of the levels", matrices},
          {"prolongators", prolongators},
          {"smoothers", smoothers},
          {"coarsest inverse", inverse_ == nullptr ? 0 : inverse_->info().total_bytes()},
          {"vectors", vectors}};
}

template <class T, Space S>
std::pair<Offset, Offset> AmgCycle<T, S>::nonzeros_and_slots() const {
  std::pair<Offset, Offset> sums{0, 0};
  for_operators([&](const MatrixOperator<T, S>& op, int) {
    const OperatorInfo info = op.info();
    sums.first += info.nonzeros;
    sums.second += info.stored_slots;
  });
  return sums;
}

#define X(T, S) template class AmgCycle<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin::detail

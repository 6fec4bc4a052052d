// SPDX-License-Identifier: Apache-2.0
// Preconditioners of a matrix whose rows are distributed over ranks.
#include "distributed/rank_precond.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/spai/spai_options.hpp>
#include <newel/solver/choice.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/precond/amg/rank_amg.hpp"
#include "distributed/precond/rank_fsai.hpp"
#include "distributed/precond/rank_refusal.hpp"
#include "distributed/precond/rank_spai.hpp"
#include "distributed/precond/rank_sparsity.hpp"
#include "distributed/precond/rank_traits.hpp"
#include "distributed/rows/values_in_space.hpp"
#include "precond/build_cost.hpp"
#include "precond/jacobi/jacobi.hpp"
#include "precond/l1_jacobi/l1_jacobi.hpp"
#include "solver/cost/iteration_model.hpp"
#include "solver/operators/precond_chooser.hpp"

namespace newel::detail {
namespace {

template <class T, Space S>
using MakeOnRanks = OperatorPtr<T, S> (*)(const Context<S>&, const DistributedOperator<T, S>&, const RankMatrix<T>&,
                                          const PrecondOptions&);

// One line for each, by its name in the table of preconditioners.
template <class T, Space S>
struct RankPrecond {
  const char* name;
  MakeOnRanks<T, S> make;
  bool asks_symmetry = false;  // it reads PrecondOptions::symmetric
};

template <class T, Space S>
OperatorPtr<T, S> make_jacobi(const Context<S>& ctx, const DistributedOperator<T, S>& A, const RankMatrix<T>&,
                              const PrecondOptions&) {
  return JacobiOperator<T, S>::of_operator(ctx, A, A.order().old_of_new);
}

template <class T, Space S>
OperatorPtr<T, S> make_l1_jacobi(const Context<S>& ctx, const DistributedOperator<T, S>& A, const RankMatrix<T>& a,
                                 const PrecondOptions&) {
  Array<Offset, S> row_ptr;
  Array<T, S> val;
  return std::make_unique<L1JacobiOperator<T, S>>(ctx, in_space<Offset, S>(ctx, a.rows.row_ptr, row_ptr),
                                                  in_space<T, S>(ctx, a.rows.val, val), A.order().old_of_new);
}

template <class Operator, class T, Space S>
OperatorPtr<T, S> make_from_rows(const Context<S>& ctx, const DistributedOperator<T, S>&, const RankMatrix<T>& a,
                                 const PrecondOptions& options) {
  return std::make_unique<Operator>(ctx, a, options);
}

template <class T, Space S>
const std::array<RankPrecond<T, S>, 6>& rank_preconditioners() {
  static const std::array<RankPrecond<T, S>, 6> all = {{{"jacobi", &make_jacobi<T, S>},
                                                        {"l1-jacobi", &make_l1_jacobi<T, S>},
                                                        {"fsai", &make_from_rows<RankFsai<T, S>, T, S>},
                                                        {"spai", &make_from_rows<RankSpai<T, S>, T, S>, true},
                                                        {"spai0", &make_from_rows<RankSpai0<T, S>, T, S>},
                                                        {"amg", &make_amg_on_ranks<T, S>, true}}};
  return all;
}

template <class T, Space S>
const RankPrecond<T, S>* find_on_ranks(const std::string& name) {
  for (const RankPrecond<T, S>& one : rank_preconditioners<T, S>()) {
    if (same_name(one.name, name)) return &one;
  }
  return nullptr;
}

}  // namespace

void require_precond_on_ranks(const PrecondOptions& options) {
  const std::string name = canonical_name(options.name);
  if (name != "auto" && name != "none") {
    const PrecondMethod& method = find_preconditioner(name);
    if (find_on_ranks<double, Space::host>(name) == nullptr) {
      std::string names;
      for (const auto& one : rank_preconditioners<double, Space::host>())
        names += std::string(", \"") + one.name + "\"";
      throw InputError("the preconditioner \"" + method.name + "\" is not available on ranks, which have \"none\"" +
                       names);
    }
    if (method.check != nullptr) method.check(options);
  }
  const std::string format = canonical_name(options.format);
  if (!format.empty() && format != "csr") {
    throw InputError("the format \"" + format + "\" of a preconditioner's matrices: on ranks they are \"csr\"");
  }
  if (options.of<PatternOptions>().pattern != nullptr) {
    throw InputError(
        "a given pattern of a preconditioner needs the whole matrix, but each rank has only some of its rows");
  }
  if (options.of<AmgOptions>().smoother == AmgSmoother::ilut) {
    throw InputError(
        "the smoother ilut: incomplete factors need the whole matrix, but each rank has only some of its rows");
  }
  if (options.of<SpaiOptions>().adaptive > 0) {
    throw InputError(
        "the option spai_adaptive: a pattern that grows reads rows that are not known before it has grown, and ranks "
        "fetch the rows of others beforehand");
  }
}

template <class T, Space S>
OperatorPtr<T, S> make_precond_on_ranks(const Context<S>& ctx, const DistributedOperator<T, S>& A,
                                        const RankMatrix<T>& a, const PrecondOptions& options) {
  const RankPrecond<T, S>* const found = find_on_ranks<T, S>(options.name);
  return found == nullptr ? nullptr : found->make(ctx, A, a, options);
}

namespace {

// Seconds of one solve with its setup, by the cost model.
double seconds_of(const PrecondTrial& trial, double iterations) {
  return trial.build_seconds + iterations * trial.iteration_seconds;
}

// The choice of "auto".
template <class T, Space S>
class RankChoice {
 public:
  RankChoice(const Context<S>& ctx, const DistributedOperator<T, S>& A, const RankMatrix<T>& a,
             const SystemOptions& options, const PrecondOptions& precond, const MatrixTraits& traits,
             const SolverMethod& solver, const NearRows<T>& near)
      : ctx_(ctx),
        A_(A),
        a_(a),
        options_(options),
        precond_(precond),
        traits_(traits),
        solver_(solver),
        pattern_(only_own(host_context(ctx), near, copy_of(host_context(ctx), near.view()), OtherRows::empty)) {}

  ChosenPrecond<T, S> chosen() {
    const double rel_tol = tolerance_for_estimates(options_.stop.rel_tol);
    const PrecondMethod* const cheap = simple_preconditioner(traits_);
    OperatorPtr<T, S> simple, strong;
    PrecondTrial of_simple, of_strong;
    if (cheap == nullptr || !tried(cheap->name, simple, of_simple)) tried("none", simple, of_simple);
    const double first = predict_iterations(of_simple, rel_tol);
    if (first <= precond_counts.few_iterations && (options_.expected_products <= first || first == 0)) {
      return {std::move(simple), {of_simple.name, "a trial found that nothing stronger is needed"}};
    }
    LocatedText why = "no stronger preconditioner is available on ranks";
    for (const PrecondMethod* const method : stronger_by_seconds(first)) {
      if (std::isfinite(first) && setup_seconds(*method, 0) > seconds_of(of_simple, first)) {
        why = method->name + " was refused: its setup is estimated to take longer than the solve with " +
              of_simple.name;
        continue;
      }
      if (!tried(method->name, strong, of_strong)) {
        why = LocatedText(method->name + " was refused: ").append(refusal_);
        continue;
      }
      const PrecondChoice choice = decide_precond(of_simple, of_strong, rel_tol, options_.expected_products);
      return {std::move(choice.name == method->name ? strong : simple), choice};
    }
    return {std::move(simple), {of_simple.name, why}};
  }

 private:
  bool tried(const std::string& name, OperatorPtr<T, S>& M, PrecondTrial& trial) {
    PrecondOptions named = precond_;
    named.name = name;
    if (!is_taken([&] { M = make_precond_on_ranks(ctx_, A_, a_, named); }, refusal_)) return false;
    trial = try_precond<T, S>(ctx_, A_, M.get(), trial_rhs(), solver_.name, options_);
    trial.name = name;
    const OperatorInfo info = M == nullptr ? OperatorInfo{} : M->info();
    if (M != nullptr) trial.build_seconds = setup_seconds(find_preconditioner(name), info.nonzeros);
    const auto of_entries = an_entry * static_cast<double>(info.nonzeros);
    trial.iteration_seconds =
        iteration_seconds(info.bytes_per_product > 0 ? static_cast<double>(info.bytes_per_product) : of_entries);
    return true;
  }

  // Those that ranks have, by the model's seconds of all solves, which take `simple` iterations with the simple one.
  std::vector<const PrecondMethod*> stronger_by_seconds(double simple) const {
    if (!std::isfinite(simple)) simple = precond_counts.few_iterations;
    const double solves = std::max(1.0, options_.expected_products / std::max(simple, 1.0));
    const MatrixOrigin origin = a_.coordinates != nullptr ? MatrixOrigin::mesh : MatrixOrigin::unknown;
    std::vector<std::pair<double, const PrecondMethod*>> all;
    for (const PrecondMethod* const method : stronger_preconditioners(traits_)) {
      if (find_on_ranks<T, S>(method->name) == nullptr) continue;
      PrecondQuestion question{precond_, machine_of(ctx_), A_.rows(), a_.rows.col.size};
      question.origin = origin;
      const PrecondCost cost = cost_of(*method, question);
      const double entries = cost.entries > 0 ? cost.entries : static_cast<double>(a_.rows.col.size);
      const double bytes = cost.low_share * (an_entry * entries + sizeof(T) * cost.vector_passes * A_.rows());
      const double iterations = solves * iterations_with(*method, origin)(simple);
      all.emplace_back(setup_seconds(*method, 0) + iterations * iteration_seconds(bytes), method);
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    std::vector<const PrecondMethod*> methods;
    for (const auto& one : all) methods.push_back(one.second);
    return methods;
  }

  // The same on any number of ranks.
  std::vector<T> trial_rhs() const {
    std::vector<T> b(static_cast<std::size_t>(A_.rows()));
    for (Index i = 0; i < A_.rows(); ++i) {
      const Index old = a_.old_of_new.size == 0 ? i : a_.old_of_new[i];
      b[static_cast<std::size_t>(i)] = static_cast<T>(trial_entry(first_row(ctx_) + old));
    }
    return b;
  }

  // Of all ranks together: whether one method pays beside another does not depend on how many share the work.
  double setup_seconds(const PrecondMethod& method, Offset entries) const {
    double seconds =
        build_seconds<Space::host>(host_context(ctx_), pattern_.view(), method, precond_, nullptr, nullptr, entries)
            .build;
    sum_over_ranks(ctx_, &seconds, 1);
    return seconds;
  }

  // `bytes_of_m`: that a product with M moves on this rank.
  double iteration_seconds(double bytes_of_m) const {
    const Machine machine = machine_of(ctx_);
    const IterationModel model{solver_, options_, machine, nullptr, sizeof(T), false, false};
    const double bytes = model.bytes(an_entry * static_cast<double>(a_.rows.col.size), A_.rows()) +
                         solver_.precond_products * bytes_of_m;
    double seconds = bytes / machine.bytes_per_second;
    sum_over_ranks(ctx_, &seconds, 1);
    return seconds;
  }

  static constexpr double an_entry = sizeof(T) + sizeof(Index);

  const Context<S>& ctx_;
  const DistributedOperator<T, S>& A_;
  const RankMatrix<T>& a_;
  const SystemOptions& options_;
  const PrecondOptions& precond_;
  const MatrixTraits& traits_;
  const SolverMethod& solver_;
  Sparsity pattern_;  ///< of this rank's rows
  LocatedText refusal_;
};

// `near`: where the rows are not on a device.
template <class T, Space S>
MatrixTraits traits_of(const Context<S>& ctx, const RankMatrix<T>& a, const std::optional<NearRows<T>>& near) {
  if constexpr (S == Space::device) {
    if (a.on_device != nullptr) return rank_traits(ctx, a, *a.on_device);
  }
  return rank_traits(host_context(ctx), *near);
}

}  // namespace

template <class T, Space S>
ChosenPrecond<T, S> precond_on_ranks(const Context<S>& ctx, const DistributedOperator<T, S>& A,
                                     const RankMatrix<T>& a, const SystemOptions& options) {
  const bool choose = same_name(options.precond.name, "auto");
  PrecondOptions precond = options.precond;
  const RankPrecond<T, S>* const named = choose ? nullptr : find_on_ranks<T, S>(precond.name);
  if (!choose && (named == nullptr || !named->asks_symmetry)) return {make_precond_on_ranks(ctx, A, a, precond), {}};
  const bool any_solver = same_name(options.solver.name, "auto");
  if (!choose && !any_solver) {
    if (find_solver(options.solver.name).demands != Demand::nothing) precond.symmetric = true;
    return {make_precond_on_ranks(ctx, A, a, precond), {}};
  }
  std::optional<NearRows<T>> near;
  if (choose || a.on_device == nullptr) near.emplace(host_context(ctx), a.first_rows, a.rows, 1);
  const MatrixTraits traits = traits_of(ctx, a, near);
  const SolverMethod& solver = find_solver(any_solver ? choose_solver(traits).order.front() : options.solver.name);
  if (solver.demands != Demand::nothing) precond.symmetric = true;
  if (!choose) return {make_precond_on_ranks(ctx, A, a, precond), {}};
  return RankChoice<T, S>(ctx, A, a, options, precond, traits, solver, *near).chosen();
}

#define X(T, S)                                                                                         \
  template OperatorPtr<T, S> make_precond_on_ranks(const Context<S>&, const DistributedOperator<T, S>&, \
                                                   const RankMatrix<T>&, const PrecondOptions&);        \
  template ChosenPrecond<T, S> precond_on_ranks(const Context<S>&, const DistributedOperator<T, S>&,    \
                                                const RankMatrix<T>&, const SystemOptions&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail

// SPDX-License-Identifier: Apache-2.0
/// The operators of a LinearSystem: A and M of one pattern in solver order, with all that was chosen for them.
/// Internal.
#pragma once

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <newel/core/error.hpp>
#include <newel/precond/choice.hpp>
#include <newel/solver/candidate.hpp>
#include <newel/solver/choice.hpp>
#include <newel/solver/memory_estimate.hpp>
#include <newel/solver/system_info.hpp>
#include <newel/solver/system_options.hpp>
#include <newel/solver/system_parts.hpp>
#include "core/memory/available_memory.hpp"
#include "core/memory/work_limit.hpp"
#include "precond/build_cost.hpp"
#include "solver/policy/system_choices.hpp"
#include "solver/system/fixed_unknowns.hpp"
#include "solver/system/matrix_source.hpp"
#include "solver/system/solver_chain.hpp"

namespace newel::detail {

/// How long each phase of a setup took, work on the stream included.
using PhaseSeconds = std::vector<std::pair<std::string, double>>;

/// What LinearSystem needs to know of its operators. Vectors are in solver order, values in the order of the
/// canonical matrix that the operators were made from.
template <class T, Space S>
class SystemOperators : public Forecasts {
 public:
  virtual const RowOrder<S>& order() const = 0;
  virtual const LinearOperator<T, S>& matrix() const = 0;
  virtual const LinearOperator<T, S>* preconditioner() const = 0;  ///< null: none
  /// What solves apply of it: null too where it changes nothing but their time.
  virtual const LinearOperator<T, S>* applied_preconditioner() const { return preconditioner(); }
  /// As in the table, "auto" decided.
  virtual const std::string& preconditioner_name() const = 0;
  /// The solvers, with their vectors, for these operators.
  virtual SolverChain<T, S> make_chain() = 0;

  /// See LinearSystem.
  virtual void refresh(Span<const T, S> values, RefreshScope scope) = 0;
  virtual Slots<T, S> matrix_slots() = 0;
  virtual Slots<T, S> preconditioner_slots() = 0;
  virtual void slots_written(RefreshScope scope) = 0;
  virtual void operator_changed(RefreshScope) {}
  virtual void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) = 0;
  /// False after a refresh that failed, until one succeeds.
  virtual bool sound() const = 0;
  /// The same of the matrix alone.
  virtual bool matrix_sound() const { return sound(); }

  /// Everything but the bytes that the context holds.
  virtual SystemInfo info() = 0;
  /// Of the setup, phase by phase.
  virtual PhaseSeconds setup_seconds() const = 0;

  /// Compares the formats, and the preconditioners that may follow, where that has been put off: a solve of a few
  /// iterations ends before anybody wants to know. What tells of them calls it itself.
  virtual void weigh_alternatives() {}

  /// The format that the expected iterations pay for, where a solve begins in a cheaper one; empty: it is the
  /// present one.
  virtual std::string expected_format() { return {}; }
  /// What the automatic choices compare, the least seconds first, where one solve takes so many iterations with the
  /// simple preconditioner. Empty: there is nothing to compare by the model.
  virtual std::vector<SystemCandidate> candidates(double simple_iterations) {
    static_cast<void>(simple_iterations);
    return {};
  }
  /// Writes what was decided, and what may follow it; not what SystemState counts.
  virtual void write_decision(SystemDecision& decision) { static_cast<void>(decision); }
  /// The same system in another format, made from the matrix as this one keeps it; null where it does not. Throws as
  /// a constructor does, and this system stays as it is. After success it must not be used any more: M may have
  /// moved.
  virtual std::unique_ptr<SystemOperators> in_format(const std::string&) { return nullptr; }
  /// Whether M of the system that `in_format` made is that of this one in another order, but for rounding.
  virtual bool same_preconditioner() const { return false; }
  /// Estimates the setups of stronger preconditioners again, by the values of A, where they are unseen. Waits on the
  /// stream.
  virtual void look_at_values() {}
  /// Builds one of them in the place of the present one, which is kept; it is none of them any more. False, and all
  /// else is as it was: it cannot be built.
  virtual bool take_stronger_preconditioner(const std::string& name) {
    static_cast<void>(name);
    return false;
  }
  /// The one before again, where it was kept.
  virtual void restore_preconditioner() {}
  /// The preconditioner stays: drops the one that was kept.
  virtual void settle_preconditioner() {}
  /// Between solves, that one again, made from the present values. The present one may follow it another time, by the
  /// iterations that it took. False, and all is as it was: it cannot be made.
  virtual bool leave_preconditioner(int iterations) {
    static_cast<void>(iterations);
    return false;
  }
  /// Decides by a trial between the one that "auto" began with and the stronger one, for solves that cannot change it
  /// on their way.
  virtual void decide_preconditioner() {}
  /// Replaces M by the next that the choice "auto" has, after the solvers have failed with those before; false
  /// where there is no further one. The chain made before must not be used any more.
  virtual bool next_preconditioner() { return false; }
  virtual bool has_next_preconditioner() const { return false; }
  /// Replaces an M that has chosen to work in single precision by the same in the precision of the system; false, and
  /// all is as it was, where it has not, or cannot be made. The chain made before must not be used any more.
  virtual bool raise_precision() { return false; }
  /// Those that `next_preconditioner` has passed over since this was last asked, because the time left is too short.
  virtual std::vector<Untried> take_untried() { return {}; }
  /// There will be no other preconditioner: drops what is kept for them.
  virtual void keep_preconditioner() {}
};

/// The usual case: format and preconditioner in the precision of the system.
template <class T, Space S>
class PlainOperators final : public SystemOperators<T, S> {
 public:
  /// Chooses what the options leave open and builds it for the square canonical matrix `a`. Throws as the constructor
  /// of LinearSystem does. With `exchangeable`, what a change of the preconditioner needs is kept, and a format that
  /// has to pay for its setup first waits until a solve shows that it will: see `expected_format`.
  PlainOperators(const Context<S>& ctx, const CsrView<T, S>& a, SystemOptions options, SystemParts<T, S> parts,
                 bool exchangeable = true);

  const RowOrder<S>& order() const override { return order_; }
  const LinearOperator<T, S>& matrix() const override { return *A_; }
  const LinearOperator<T, S>* preconditioner() const override {
    return M_ != nullptr ? M_.get() : parts_.preconditioner.get();
  }
  const LinearOperator<T, S>* applied_preconditioner() const override {
    const LinearOperator<T, S>* const applied = needless() ? nullptr : preconditioner();
    if (!fixed_unknowns_) return applied;
    fixed_unknowns_->set_inner(applied);
    return &*fixed_unknowns_;
  }
  const std::string& preconditioner_name() const override { return options_.precond.name; }
  SolverChain<T, S> make_chain() override;
  void refresh(Span<const T, S> values, RefreshScope scope) override;
  void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) override;
  Slots<T, S> matrix_slots() override;
  Slots<T, S> preconditioner_slots() override { return M_ == nullptr ? Slots<T, S>{} : M_->slots(ctx_); }
  void slots_written(RefreshScope scope) override;
  bool sound() const override { return matrix_sound_ && precond_sound_; }
  bool matrix_sound() const override { return matrix_sound_; }
  SystemInfo info() override;
  PhaseSeconds setup_seconds() const override { return setup_seconds_; }
  void weigh_alternatives() override;
  bool weighed() const override { return !to_weigh_; }
  const FormatChoice* format_choice() override;
  std::string expected_format() override;
  double expected_iterations() override {
    weigh_alternatives();
    return present_iterations()(chosen_.expected_iterations);
  }
  double of_usual_iterations() override;
  double sure_iterations(bool before) override;
  ExpectedIterations present_iterations() const override { return iterations_of(options_.precond.name); }
  std::vector<SystemCandidate> candidates(double simple_iterations) override;
  void write_decision(SystemDecision& decision) override;
  std::unique_ptr<SystemOperators<T, S>> in_format(const std::string& format) override;
  /// The format for solves in mixed precision, if they are expected to be faster in it than in double with whatever
  /// may follow there; empty: they are not.
  std::string format_in_single();
  /// The same system in mixed precision, in that format, made from `a`, the matrix in the caller's numbering.
  std::unique_ptr<SystemOperators<T, S>> in_single(const CsrView<T, S>& a, const std::string& format) const;
  bool same_preconditioner() const override { return same_preconditioner_; }
  const PrecondOutlooks* stronger_preconditioners(double done) override;
  bool values_unseen() const override;
  void look_at_values() override;
  double estimate_scale() const override { return options_.estimate_scale.iterations; }
  double seconds_left() const override { return work_limit(ctx_).seconds_left(); }
  bool take_stronger_preconditioner(const std::string& name) override;
  void restore_preconditioner() override;
  void settle_preconditioner() override {
    weaker_kept_ = false;
    weaker_.reset();
  }
  std::optional<FollowedPrecond> followed_preconditioner() const override;
  bool leave_preconditioner(int iterations) override;
  void decide_preconditioner() override;
  bool next_preconditioner() override;
  bool has_next_preconditioner() const override { return !chosen_.untried.empty(); }
  bool raise_precision() override;
  std::vector<Untried> take_untried() override { return std::exchange(untried_, {}); }
  void keep_preconditioner() override {
    chosen_.untried.clear();
    source_->forget();
  }

  /// Whether solves may change format and preconditioner, as far as the options go.
  bool changes_on_its_way() const;
  /// The options as decided.
  const SystemOptions& options() const { return options_; }
  const SolverChoice& solver_choice() const { return chosen_.solvers; }
  /// The method that a solve begins with.
  const SolverMethod& first_method() const { return find_solver(chosen_.solvers.order.front()); }

 private:
  // Whether A is diagonal and M its inverse, by choice, so that nothing has to be iterated.
  bool divides() const {
    return chosen_.diagonal && chosen_.precond_chosen && M_ != nullptr && !M_->diagonal().empty();
  }
  void require_memory_of_choice(const CsrView<T, S>& a) const;
  void find_traits(const CsrView<T, S>& a);
  void choose_solver_for(const CsrView<T, S>& a);
  void choose_format(const CsrView<T, S>& a, bool exchangeable);
  FormatChoice format_by_cost(const CsrView<T, S>& a);
  void estimate_formats();
  bool estimate_stronger();
  void estimate_builds(const Pattern<S>& a, const KnownValues& values);
  PlainOperators(PlainOperators& from, const CsrView<T, S>& a, const std::string& format);
  FormatUse format_use(const CsrView<T, S>& a);
  const PatternFacts& facts(const CsrView<T, S>& a);
  void expect_iterations(const CsrView<T, S>& a);
  IterationEstimate iteration_estimate(const std::string& precond, const CostEstimate& product) const;
  std::optional<double> single_iteration_seconds(const std::string& format) const;
  void expect_present_format(std::optional<PrecondOutlooks>& outlooks) const;
  std::optional<CostEstimate> product_estimate(const std::string& format, std::size_t value_bytes = sizeof(T)) const;
  ExpectedIterations iterations_of(const std::string& precond) const { return iterations_with(precond, origin()); }
  // A Jacobi of a constant diagonal, that is, but for the inverse of A; a user's own choice is applied.
  bool needless() const {
    return chosen_.precond_chosen && !chosen_.diagonal && M_ != nullptr && M_->is_multiple_of_identity();
  }
  double margin_of(const std::string& precond) const {
    if (precond == "none") return usual_margin;
    const PrecondMethod& method = find_preconditioner(precond);
    if (origin() == MatrixOrigin::mesh) return method.margin_on_mesh;
    return undamped() ? std::sqrt(method.margin_on_mesh * method.margin) : method.margin;
  }
  // Whether most rows are those of a discrete operator without a mass, as far as is known.
  bool undamped() const {
    return chosen_.traits && !chosen_.traits_older &&
           2 * static_cast<double>(chosen_.traits->undamped_rows) >= A_->rows();
  }
  bool is_stencil() const;
  MatrixOrigin origin() const {
    const NodeCoordinates* const nodes = options_.spmv.coordinates.get();
    if (nodes != nullptr && !nodes->xyz.empty()) return MatrixOrigin::mesh;
    return chosen_.facts && chosen_.facts->block > 1 ? MatrixOrigin::blocks : MatrixOrigin::unknown;
  }
  bool order_in_options() const { return !options_.old_of_new.empty() || !options_.part_begin.empty(); }
  bool given_order() const { return (order_in_options() && !order_follows_) || parts_.preconditioner != nullptr; }
  void take_parts(Index rows);
  RowOrder<S> callers_order(Index rows) const;
  bool equal_opposites(const CsrView<T, S>& a);
  void make_preconditioner(const CsrView<T, S>& a, bool may_follow);
  void make_from_matrix(const CsrView<T, S>& a);
  // What an earlier system decided, in the place of a choice; null: this system decides.
  const SystemDecision* decided() const { return options_.decision ? &*options_.decision : nullptr; }
  void take_decided_format(const CsrView<T, S>& a, bool measured);
  void take_decided_preconditioner(const CsrView<T, S>& a, bool may_follow);
  void choose_preconditioner(const CsrView<T, S>& a, bool may_follow);
  PrecondUse precond_use() const;
  bool invert_diagonal(const CsrView<T, S>& a);
  void list_candidates();
  std::vector<std::pair<std::string, double>> candidate_formats() const;
  std::vector<std::pair<std::string, double>> candidate_preconditioners() const;
  double candidate_build_seconds(const std::string& name) const;
  bool takes_too_long(const std::string& name);
  KnownValues known_values() const;
  void call_weaker_present(const char* why);
  void fix_free_unknowns(const CsrView<T, S>& a);
  void keep_source(const CsrView<T, S>& a);
  double iteration_bytes() const;
  PrecondTrial tried(const LinearOperator<T, S>* candidate);
  template <class Renew>
  void renew_preconditioner(RefreshScope scope, Renew&& renew);

  Context<S> ctx_;
  Machine machine_;  // of the cost model
  SystemOptions options_;
  SystemParts<T, S> parts_;
  RowOrder<S> order_;
  OperatorPtr<T, S> A_, M_;
  /// Solvers that are made from the matrix, for every chain.
  std::vector<std::pair<const SolverMethod*, std::shared_ptr<KrylovSolver<T, S>>>> made_;
  mutable std::optional<FixedUnknowns<T, S>> fixed_unknowns_;  // of columns without entries, where there are any
  RowCount free_unknowns_;                                     // the same, in the caller's numbering
  SystemChoices chosen_;
  std::vector<Untried> untried_;
  std::optional<MatrixSource<T, S>> source_;  // for what is made later
  bool matrix_sound_ = true, precond_sound_ = true;
  bool to_weigh_ = false;  // its alternatives: see weigh_alternatives
  bool same_preconditioner_ = false;
  std::uint64_t renumbered_serial_ = 0;  // of the M that followed the format
  bool order_follows_ = false;           // the order in the options is that of a format still to come
  // Where a stronger one is on probation: the one before it.
  bool weaker_kept_ = false, weaker_older_ = false;
  OperatorPtr<T, S> weaker_;
  PhaseSeconds setup_seconds_;
};

/// What `op` says of itself, or its name and size.
template <class T, Space S>
OperatorInfo info_of(const LinearOperator<T, S>& op, const char* name) {
  if (const auto* matrix = dynamic_cast<const MatrixOperator<T, S>*>(&op)) return matrix->info();
  OperatorInfo info;
  info.name = name;
  info.rows = op.rows();
  info.cols = op.cols();
  return info;
}

/// The same of M, which may be null, for n unknowns.
template <class T, Space S>
OperatorInfo info_of_precond(const LinearOperator<T, S>* M, Index n) {
  if (M != nullptr) return info_of(*M, "own");
  OperatorInfo none;
  none.name = "none";
  none.rows = none.cols = n;
  return none;
}

/// Throws InputError unless `op` is null or n x n.
template <class Operator>
void require_size(const Operator* op, Index n, const char* what) {
  if (op == nullptr || (op->rows() == n && op->cols() == n)) return;
  throw InputError(std::string(what) + " is " + std::to_string(op->rows()) + " x " + std::to_string(op->cols()) +
                   ", and the system has " + std::to_string(n) + " unknowns");
}

/// Runs `phase` and waits for it; notes its seconds under `name`.
template <Space S, class Phase>
void timed(const Context<S>& ctx, PhaseSeconds& seconds, const char* name, Phase&& phase) {
  const auto start = std::chrono::steady_clock::now();
  phase();
  ctx.synchronize();
  seconds.emplace_back(name, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

/// Throws OutOfMemory where the estimate exceeds what the context's memory is known to have left.
template <Space S>
void require_memory(const Context<S>& ctx, const SystemEstimate& wanted) {
  require_available(ctx, "this system (an estimate)", wanted.total());
}

}  // namespace newel::detail

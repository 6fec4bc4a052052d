// SPDX-License-Identifier: Apache-2.0
/// SystemState: what a LinearSystem holds, and how it exchanges its parts. Internal.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <newel/core/assembled_matrix.hpp>
#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/solver/memory_estimate.hpp>
#include "solver/krylov/monitor/limits_left.hpp"
#include "solver/krylov/monitor/solve_limits.hpp"
#include "solver/policy/decision_cache.hpp"
#include "solver/policy/advisor.hpp"
#include "solver/system/given_operators.hpp"
#include "solver/system/mixed_operators.hpp"
#include "solver/system/solve_gate.hpp"
#include "solver/system/system_operators.hpp"

namespace newel::detail {

template <class T, Space S>
void require_apart(Span<const T, S> read, Span<const T, S> written, const char* which) {
  if (read.size == 0 || read.data >= written.data + written.size || written.data >= read.data + read.size) return;
  throw InputError(std::string(which) + " share memory");
}

template <class T, Space S>
struct SystemState : private OperatorExchange<T, S> {
  Context<S> ctx;
  StopCriterion stop;
  Index rows = 0;
  Offset entries = 0;                              // of the matrix; 0: it is an operator
  PrecondOptions precond;                          // as given
  std::optional<AssembledMatrix<T, S>> assembled;  // where the input was not taken as it came
  std::unique_ptr<SystemOperators<T, S>> operators;
  std::optional<SolverChain<T, S>> chain;
  Array<T, S> ordered_b, ordered_x;    // where the system is renumbered
  Array<T, S> guess;                   // where another preconditioner may begin again from it
  bool guess_is_zero = false;          // and `guess` is not filled
  Array<T, S> ordered_bs, ordered_xs;  // likewise, of the most columns that were solved for at once
  PhaseSeconds setup_seconds;
  double first_setup_seconds = 0;       // which count against the time limit of the first solve; 0 from then on
  WorkEnd setup_ended = WorkEnd::none;  // before it was done: solves say so
  std::string why_double;               // though mixed precision was requested
  bool single_by_choice = false;        // solves begin in single precision because "auto" chose it
  SolveGate gate;
  History history;
  Advisor advisor;
  bool pinned = false;  // somebody outside holds what a change would replace
  std::string changed;  // since the last solve

  bool last_converged = false;
  std::optional<DecisionCache> kept_decisions;
  std::string learnt;  // by other systems, one sentence; empty: nothing

  // Of the solve under way.
  Span<const T, S> present_b;
  Span<T, S> present_x;
  bool may_move = false;     // to another format or preconditioner
  bool exchanged = false;    // b and x are not those that it began with
  std::optional<Move> next;  // what it does next
  bool exchanged_precond = false;

  SystemState(const Context<S>& ctx_, const SystemOptions& options)
      : ctx(ctx_), stop(options.stop), precond(options.precond), gate(ctx.lock()) {
    gate.require_free();
    ctx.make_current();
    if (options.columns < 1)
      throw InputError("SystemOptions::columns is 1 or more, not " + std::to_string(options.columns));
    if (!(options.expected_products >= 0)) throw InputError("SystemOptions::expected_products is not negative");
  }

  ~SystemState() override { keep_decision(true); }

  void set_up(const MatrixInput<T, S>& a, SystemOptions options, SystemParts<T, S> parts) {
    CsrView<T, S> view;
    options.solver.name = canonical_name(options.solver.name);
    a.check_lengths();
    rows = static_cast<Index>(a.rows());
    if (parts.has_preconditioner()) options.precond.name = "none";
    require_memory(options, a.most_entries());
    timed(ctx, setup_seconds, "check", [&] { view = checked(a, options.canonicalise); });
    entries = view.nnz();
    if (options.decision) require_size_of(*options.decision);
    try {
      const SolveLimits<S> limits(ctx, time_left_of_setup(), {});
      operators = make_operators(view, options, parts);
      if (takes_kept_decision(options, parts)) begin_as_others_ended(view, options, parts);
      if (options.decision) follow_decided_format(options);
    } catch (const WorkInterrupted& e) {
      set_up_unlimited(e.why(), view, options, parts);
    }
    finish_setup();
    if (options.decision) take_learnt(*options.decision, options);
    if (assembled) assembled->drop_pattern();
    if (!(stop.time_limit_seconds > 0)) return;  // a limit that is set later is for solves alone
    for (const auto& [phase, seconds] : setup_seconds) first_setup_seconds += seconds;
  }

  double time_left_of_setup() const {
    if (!(stop.time_limit_seconds > 0)) return 0;
    double spent = 0;
    for (const auto& [phase, seconds] : setup_seconds) spent += seconds;
    return limits_left(stop, 0, spent).time_limit_seconds;
  }

  // The system without the preconditioner whose setup was ended: its solves return at once, and say why.
  void set_up_unlimited(WorkEnd why, const CsrView<T, S>& a, SystemOptions& options, const SystemParts<T, S>& parts) {
    setup_ended = why;
    const std::string what = same_name(options.precond.name, "auto") ? "the preconditioner" : options.precond.name;
    note_change("no preconditioner, since the time limit ended the setup of " + what);
    options.precond.name = "none";
    options.decision.reset();
    kept_decisions.reset();
    operators = make_operators(a, options, parts);
  }

  void set_up(std::shared_ptr<const LinearOperator<T, S>> a, SystemOptions options, SystemParts<T, S> parts) {
    if (a == nullptr) throw InputError("a linear system needs an operator, not a null pointer");
    options.solver.name = canonical_name(options.solver.name);
    rows = a->rows();
    SystemOptions bare = options;
    bare.spmv.format = "csr";
    bare.precond.name = "none";
    require_memory(bare, 0);
    operators = std::make_unique<GivenOperators<T, S>>(ctx, std::move(a), std::move(options), std::move(parts));
    finish_setup();
  }

  void require_memory(const SystemOptions& options, Offset nonzeros) const {
    SystemSize size{rows, nonzeros, sizeof(T), false, options.mixed && !chooses_precision(options)};
    size.columns = options.columns;
    size.null_space = options.null_space == NullSpace::constant;
    newel::detail::require_memory(ctx, estimate_system(options.spmv, options.precond, options.solver, size));
  }

  void finish_setup() {
    const PhaseSeconds phases = operators->setup_seconds();
    setup_seconds.insert(setup_seconds.end(), phases.begin(), phases.end());
    timed(ctx, setup_seconds, "vectors", [&] { make_vectors(); });
  }

  // Where nothing was named that single precision is to be used for.
  static bool chooses_precision(const SystemOptions& options) {
    return same_name(options.spmv.format, "auto") && same_name(options.precond.name, "auto");
  }

  std::unique_ptr<SystemOperators<T, S>> make_operators(const CsrView<T, S>& a, SystemOptions options,
                                                        const SystemParts<T, S>& parts) {
    if (options.mixed) {
      if constexpr (!std::is_same_v<T, double>) {
        throw InputError("mixed precision is for systems in double");
      } else if (chooses_precision(options)) {
        options.mixed = false;
        auto in_double = std::make_unique<PlainOperators<T, S>>(ctx, a, options, parts);
        const std::string format = parts.has_preconditioner() ? std::string() : in_double->format_in_single();
        why_double = "in double, which is expected to be as fast";
        if (format.empty()) return in_double;
        try {
          std::unique_ptr<SystemOperators<T, S>> mixed = in_double->in_single(a, format);
          why_double.clear();
          single_by_choice = true;
          return mixed;
        } catch (const InputError&) {
          why_double = "in double, since single precision does not support the values";
          return in_double;
        }
      } else if (!same_name(options.solver.name, "auto") && find_solver(options.solver.name).from_matrix()) {
        why_double = "in double, since the solver is made from the matrix";
      } else {
        try {
          return std::make_unique<MixedOperators<S>>(ctx, a, options, parts);
        } catch (const ZeroDiagonal&) {  // in single precision; double says whether it is so
        } catch (const NotPositiveDefinite&) {
        }
        why_double = "in double, since single precision does not support the preconditioner";
      }
    }
    options.mixed = false;
    return std::make_unique<PlainOperators<T, S>>(ctx, a, options, parts);
  }

  bool natural() const { return operators->order().natural(); }

  void gather_to_solver_order(Span<const T, S> user_order, Span<T, S> solver_order) const {
    if (natural()) return copy<T>(ctx, user_order, solver_order);
    gather<T, S>(ctx, user_order, operators->order().old_of_new.cspan(), solver_order);
  }
  void gather_to_user_order(Span<const T, S> solver_order, Span<T, S> user_order) const {
    if (natural()) return copy<T>(ctx, solver_order, user_order);
    gather<T, S>(ctx, solver_order, operators->order().new_of_old.cspan(), user_order);
  }

  CsrView<T, S> checked(const MatrixInput<T, S>& a, bool canonicalise) {
    if (a.rows() != a.cols()) {
      throw InputError("a linear system needs a square matrix, not " + std::to_string(a.rows()) + " x " +
                       std::to_string(a.cols()));
    }
    if (const auto csr = a.as_csr(); csr && !canonicalise) {
      check_csr(ctx, *csr);
      return *csr;
    }
    assembled.emplace(ctx, a);
    return assembled->view();
  }

  SolveReport solve_from(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress, InitialGuess from);
  SystemInfo info() const {
    SystemInfo info = operators->info();
    info.precision_reason = why_double;
    return info;
  }

  void make_vectors() {
    make_chain();
    if (operators->has_next_preconditioner()) guess = Array<T, S>(ctx, rows);
    if (natural()) return;
    ordered_b = Array<T, S>(ctx, rows);
    ordered_x = Array<T, S>(ctx, rows);
  }

  // From the guess in x, both in the caller's numbering. The system may move to another format before the solve, and
  // on its way.
  SolveReport solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                    InitialGuess from = InitialGuess::in_x);
  // Both in solver order. With `may_move` the operators may change on the way, and the result is then in `ordered_x`.
  SolveReport solve_ordered(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress, InitialGuess from,
                            bool may_move = false);

  // Somebody outside depends on the format and the preconditioner from now on.
  void pin();

  // A preconditioner that "auto" chose for other values, and that does not support these, is followed by the next.
  void refresh(Span<const T, S> values, RefreshScope scope) {
    chain->values_changed();
    if (scope != RefreshScope::operator_only) {
      history.count_refresh();
    }
    const LinearOperator<T, S>* const applied = operators->applied_preconditioner();
    try {
      operators->refresh(values, scope);
    } catch (const InputError&) {
      if (!operators->matrix_sound() || !exchange_preconditioner(", which does not support the new values")) throw;
    }
    follow_applied(applied);
  }

  void slots_written(RefreshScope scope) {
    chain->values_changed();
    const LinearOperator<T, S>* const applied = operators->applied_preconditioner();
    operators->slots_written(scope);
    follow_applied(applied);
  }

  // New values may change whether a preconditioner is applied.
  void follow_applied(const LinearOperator<T, S>* before) {
    const LinearOperator<T, S>* const applied = operators->applied_preconditioner();
    if (applied != before) chain->use(operators->matrix(), applied);
  }

  std::vector<SystemCandidate> candidates() const {
    const double guess = simple_iterations_for(operators->present_iterations(), operators->expected_iterations());
    return operators->candidates(history.simple_seen > 0 ? history.simple_seen : guess);
  }

  bool exchange_preconditioner(const std::string& why) {
    const std::string before = operators->preconditioner_name();
    if (!operators->has_next_preconditioner() || !operators->next_preconditioner()) return false;
    make_chain();
    note_other_preconditioner();
    note_change("preconditioner " + operators->preconditioner_name() + " for " + before + why);
    return true;
  }

  // What an M in single precision has failed at, the same in double may do.
  bool raise_precision() {
    if (!operators->raise_precision()) return false;
    make_chain();
    note_other_preconditioner();
    note_change("preconditioner " + operators->preconditioner_name() +
                " in double precision, which failed in single");
    return true;
  }

  void make_chain() {
    chain.emplace(operators->make_chain());
    chain->set_exchange(this);
  }

  static void add_change(std::string& to, const std::string& what) {
    to += (to.empty() || what.empty() ? "" : "; ") + what;
  }
  void note_change(const std::string& what) { add_change(changed, what); }

  void try_other_preconditioners(SolveReport& report, Span<const T, S> b, Span<T, S> x, const ProgressFn& progress);

  // As a value, and the way back: in system_decision.cpp.
  SystemDecision decision() const;
  void require_size_of(const SystemDecision& decided) const;
  void follow_decided_format(const SystemOptions& options);
  void take_learnt(const SystemDecision& decided, const SystemOptions& options);
  // What the plan cache holds for such a system, and what it is to hold for the next: in system_decision.cpp.
  void begin_as_others_ended(const CsrView<T, S>& a, SystemOptions& options, const SystemParts<T, S>& parts);
  void keep_decision(bool at_the_end) noexcept;
  void add_learnt(SystemInfo& info) const;

  // The time limit of a solve that begins, without what the setup before the first one has taken of it; 0: none.
  double seconds_of_solve() {
    const double spent = std::exchange(first_setup_seconds, 0);
    return stop.time_limit_seconds > 0 ? limits_left(stop, 0, spent).time_limit_seconds : 0;
  }
  // The limits for iterations that begin now.
  StopCriterion stop_now() const {
    StopCriterion now = stop;
    if (setup_ended != WorkEnd::none) now.max_iterations = 0;
    if (!(stop.time_limit_seconds > 0)) return now;
    const double gone = stop.time_limit_seconds - work_limit(ctx).seconds_left();
    return gone > 0 ? limits_left(now, 0, gone) : now;
  }
  // Says of a solve that a limit ended a setup, unless it had converged before.
  static void end_as(SolveReport& report, WorkEnd why) {
    if (report.converged()) return;
    const bool caller = why == WorkEnd::caller;
    report.status = caller ? Status::stopped_by_caller : Status::time_limit;
    report.failure = {caller ? Cause::stopped_by_caller : Cause::time_limit};
    if (report.attempts.empty()) return;
    report.attempts.back().status = report.status;
    report.attempts.back().failure = report.failure;
  }

  // Between solves: moves to a format or a preconditioner whose setup the iterations so far have paid for.
  bool improve(bool from_zero, bool preconditioner_too);
  // What the advisor says, once it has seen the values where it wants to.
  template <class Ask>
  std::optional<Move> advised(Ask&& ask);
  // Decides what else a first solve shows, where a solve that could change on its way does not come first.
  void decide_by_expectation();
  bool move_to(const std::string& format);
  struct OfOneSolve;
  void end_probation(bool converged);
  void leave_what_proved_slower();
  bool begin_with_stronger(const Move& move, const std::string& when);
  double seconds_of_step();
  bool make_move(const Move& move);
  bool take_stronger(const Move& move);
  void note_other_preconditioner() {
    exchanged_precond = true;
    advisor.took_other_preconditioner(history);
  }
  // As OperatorExchange says.
  bool due(const SolveStanding& now) override;
  double of_usual_iterations() const override { return operators->of_usual_iterations(); }
  double sure_of_solve() const override { return std::max(sure_of_any_solve, operators->sure_iterations(false)); }
  void prepare() override {
    if (may_move) operators->weigh_alternatives();
  }
  int not_before() override;
  std::optional<ExchangedSystem<T, S>> exchange(const std::vector<Span<T, S>>& vectors) override;
  void follow(Span<const T, S>& b, Span<T, S>& x) const override {
    if (!exchanged) return;
    b = present_b;
    x = present_x;
  }
  std::string preconditioner() const override {
    const std::string& name = operators->preconditioner_name();
    return name == "none" ? std::string() : name;
  }

  std::vector<SolveReport> solve_columns_ordered(Span<const T, S> b, Span<T, S> x, Index columns,
                                                 const ProgressFn& progress, InitialGuess from) {
    require_sound();
    if (from == InitialGuess::zero) fill<T, S>(ctx, T(0), x);
    const SolveLimits<S> limits(ctx, seconds_of_solve(), progress);
    std::vector<SolveReport> reports = chain->solve_columns(b, x, columns, stop_now(), limits.progress(), from);
    ctx.synchronize();
    for (SolveReport& report : reports) {
      if (setup_ended != WorkEnd::none) end_as(report, setup_ended);
      write_reasons(report);
      history.count(report.iterations);
      last_converged = report.converged();
    }
    keep_decision(false);
    if (!reports.empty()) reports.front().changed = std::move(changed);
    changed.clear();
    return reports;
  }

  // Of the present preconditioner.
  PrecondSide side() const {
    PrecondOptions present = precond;
    present.name = operators->preconditioner_name();
    return precond_side(present);
  }

  void require_sound() const {
    if (operators->sound()) return;
    throw InputError("the last refresh failed; refresh with values that the preconditioner accepts");
  }

  void write_reasons(SolveReport& report) const {
    const std::string& name = operators->preconditioner_name();
    newel::detail::write_reasons(report, name == "none" ? "" : name);
  }

  // As `enter`, for columns one after the other.
  void enter_columns(Span<const T, S> b, Span<const T, S> x, Index columns) const {
    enter({});
    if (columns < 0) throw InputError("the number of columns is 0 or more, not " + std::to_string(columns));
    const std::int64_t size = std::int64_t{rows} * columns;
    for (const std::int64_t length : {b.size, x.size}) {
      if (length == size) continue;
      throw InputError(std::to_string(length) + " values for " + std::to_string(columns) + " columns of " +
                       std::to_string(rows) + " unknowns");
    }
    require_apart<T, S>(b, x, "b and x");
  }

  void enter_slots() const {
    enter({});
    if (assembled && !assembled->borrowed()) {
      throw InputError("a matrix that had to be assembled cannot be written in place");
    }
  }

  // Public entries start here: no solve is pending, the device is current, and no vector is shorter or longer than
  // the system.
  void enter(std::initializer_list<std::int64_t> lengths) const {
    gate.require_free();
    ctx.make_current();
    for (const std::int64_t length : lengths) {
      if (length == rows) continue;
      throw InputError("a vector of length " + std::to_string(length) + " for a system of " + std::to_string(rows) +
                       " unknowns");
    }
  }
};

}  // namespace newel::detail

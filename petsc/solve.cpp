// SPDX-License-Identifier: Apache-2.0
// A solve of the KSP "newel": from PETSc's settings to Newel's, and back from its report.
#include "solve.hpp"

#include <algorithm>
#include <exception>
#include <limits>

#include <petsc/private/kspimpl.h>

#include "pc.hpp"
#include "petsc_calls.hpp"
#include "reasons.hpp"
#include "vectors.hpp"
#include "view.hpp"

namespace newel::petsc {
namespace {

bool is_of(PC pc, std::initializer_list<const char*> types) {
  PetscBool same = PETSC_FALSE;
  for (const char* type : types) {
    check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), type, &same));
    if (same == PETSC_TRUE) return true;
  }
  return false;
}

// PETSc gives a KSP without a PC type its default, which cannot be told from one that a program has set.
void replace_default_pc(PC pc) {
  PCType type = nullptr;
  check(PCGetType(pc, &type));
  if (type == nullptr) return check(PCSetType(pc, PCNONE));
  if (is_of(pc, {PCNONE})) return;
  PetscBool named = PETSC_FALSE;
  const auto object = reinterpret_cast<PetscObject>(pc);
  check(PetscOptionsHasName(object->options, object->prefix, "-pc_type", &named));
  if (named == PETSC_TRUE || !is_of(pc, {PCILU, PCICC, PCBJACOBI})) {
    throw InputError("KSP newel makes its own preconditioner (-ksp_newel_precond) and cannot use the PC " +
                     std::string(type) + "; use -pc_type none or newel");
  }
  check(PCSetType(pc, PCNONE));
}

// |b - A x|, by PETSc's product.
double residual_norm(KSP ksp) {
  Mat a = nullptr;
  Vec r = nullptr;
  PetscReal norm = 0;
  check(KSPGetOperators(ksp, &a, nullptr));
  check(VecDuplicate(ksp->vec_rhs, &r));
  check(MatMult(a, ksp->vec_sol, r));
  check(VecAYPX(r, -1.0, ksp->vec_rhs));
  check(VecNorm(r, NORM_2, &norm));
  check(VecDestroy(&r));
  return norm;
}

StopCriterion stop_of(KSP ksp, const KspNewel& data) {
  if (ksp->converged != KSPConvergedDefault) {
    throw InputError("KSP newel stops by KSPSetTolerances only: the convergence test must be KSPConvergedDefault");
  }
  const auto& test = *static_cast<const KSPConvergedDefaultCtx*>(ksp->cnvP);
  if (test.convmaxits == PETSC_TRUE) {
    throw InputError("KSP newel does not call a solve converged that made its iterations (-ksp_converged_maxits)");
  }
  StopCriterion stop = data.options.settings.options.stop;  // with the time limit
  stop.max_iterations = static_cast<int>(std::min<PetscInt>(ksp->max_it, std::numeric_limits<int>::max()));
  stop.rel_tol = ksp->rtol;
  stop.abs_tol = ksp->abstol;
  if (test.initialrtol != PETSC_TRUE && test.mininitialrtol != PETSC_TRUE) return stop;
  // Relative to the first residual: an absolute tolerance.
  const double first = residual_norm(ksp);
  PetscReal right = 0;
  check(VecNorm(ksp->vec_rhs, NORM_2, &right));
  stop.rel_tol = 0;
  stop.abs_tol =
      std::max(ksp->abstol, ksp->rtol * (test.mininitialrtol == PETSC_TRUE ? std::min(first, right) : first));
  return stop;
}

// Calls the monitors of a KSP for iteration 0, whenever Newel polls, and for the last iteration. Keeps their failure.
class Monitors {
 public:
  explicit Monitors(KSP ksp) : ksp_(ksp) {}

  void first() {
    if (ksp_->numbermonitors > 0) call(0, residual_norm(ksp_));
    throw_failure();
  }
  ProgressFn function() {
    if (ksp_->numbermonitors == 0) return {};
    return [this](const Progress& now) { return now.iteration == last_ || call(now.iteration, now.residual); };
  }
  void last(const SolveReport& report) {
    throw_failure();
    if (ksp_->numbermonitors > 0 && report.iterations > last_ && !report.history.empty()) {
      call(report.iterations, report.history.back());
      throw_failure();
    }
  }

 private:
  bool call(int iteration, double residual) {
    last_ = iteration;
    ksp_->its = iteration;
    ksp_->rnorm = residual;
    failure_ = KSPMonitor(ksp_, iteration, residual);
    return failure_ == success;
  }
  void throw_failure() const {
    if (failure_ != success) throw PetscFailure(failure_);
  }

  KSP ksp_;
  int last_ = 0;
  PetscErrorCode failure_ = success;
};

// A null space that Newel does not know is removed from x after the solve, which rounding of b - A x has to allow.
constexpr double share_for_solve = 0.99;

// Returns |b - A x| of the new x. A vector that A does not map to zero would spoil x.
double remove_null_space(KSP ksp, MatNullSpace space, const SolveReport& report) {
  check(MatNullSpaceRemove(space, ksp->vec_sol));
  const double after = residual_norm(ksp);
  if (!report.converged() || after <= report.tolerance / share_for_solve) return after;
  throw InputError(
      "the vectors of MatSetNullSpace are not in the null space of the matrix: without them, |b - A x| is " +
      three_digits(after) + " instead of " + three_digits(report.true_residual));
}

// Between true and false of a flag.
class Flag {
 public:
  explicit Flag(bool& flag) : flag_(flag) { flag_ = true; }
  ~Flag() { flag_ = false; }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;

 private:
  bool& flag_;
};

}  // namespace

void update_system(KSP ksp, KspNewel& data) {
  Mat a = nullptr, p = nullptr;
  check(KSPGetOperators(ksp, &a, &p));
  if (a != p) {
    throw InputError(
        "KSP newel makes its preconditioner from the matrix that it solves with: pass the same Amat and Pmat");
  }
  PC pc = nullptr;
  check(KSPGetPC(ksp, &pc));
  const c::Settings& settings = data.options.settings;
  PcNewel* const of_pc = newel_of(pc);
  if (of_pc == nullptr) {
    replace_default_pc(pc);
    return data.of_mat.update(a, {settings, settings.options.precond, nullptr, data.options.given});
  }
  if (settings.options.precond.name != "auto") {
    throw InputError("-ksp_newel_precond and -pc_type newel both name a preconditioner; use one of them");
  }
  of_pc->serves_ksp = true;
  data.of_mat.update(
      a, {settings, of_pc->options.settings.options.precond, of_pc->coordinates, data.options.given + of_pc->key()});
}

void solve_system(KSP ksp, KspNewel& data) {
  if (ksp->transpose_solve == PETSC_TRUE) throw InputError("KSP newel does not solve with the transpose");
  update_system(ksp, data);  // the Mat may have changed without KSPSetOperators
  StopCriterion stop = stop_of(ksp, data);
  MatNullSpace const null_space = data.of_mat.other_null_space();
  if (null_space != nullptr) stop.rel_tol *= share_for_solve, stop.abs_tol *= share_for_solve;
  Monitors monitors(ksp);
  const Flag solving(data.solving);
  monitors.first();
  {
    const ReadVec b(ksp->vec_rhs);
    const WrittenVec x(ksp->vec_sol);
    const InitialGuess guess = ksp->guess_zero == PETSC_TRUE ? InitialGuess::zero : InitialGuess::in_x;
    data.report = data.of_mat.keeping(
        [&](System& system) { return system.solve(stop, b.span(), x.span(), monitors.function(), guess); });
  }
  const SolveReport& report = *data.report;
  for (const double residual : report.history) check(KSPLogResidualHistory(ksp, residual));
  monitors.last(report);
  ksp->its = report.iterations;
  ksp->rnorm = report.true_residual;
  ksp->reason = reason_of(report, ksp->abstol);
  if (!report.converged()) check(PetscInfo(ksp, "newel: %s\n", report.reason.c_str()));
  if (null_space != nullptr) ksp->rnorm = remove_null_space(ksp, null_space, report);
}

}  // namespace newel::petsc

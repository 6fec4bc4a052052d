// SPDX-License-Identifier: Apache-2.0
// newel_eigenpairs.
#include <algorithm>
#include <chrono>

#include "eigenpairs.hpp"
#include "guarded.hpp"

using namespace newel;
using c::guarded;
using c::system_of;

namespace {

// A result of an eigenpair, for the functions that report on columns. `status` and `cause`: of pairs that have not
// converged.
SolveReport report_of(const EigenReport& found, std::size_t pair, Status status, Cause cause) {
  SolveReport report;
  const bool converged = found.residuals[pair] <= found.tolerance;
  report.status = converged ? Status::converged : status;
  report.failure.cause = converged ? Cause::none : cause;
  report.failure.iterations = report.iterations = found.iterations;
  report.reason = text_of(report.failure);
  report.solver = report.method = "lobpcg";
  report.tolerance = found.tolerance;
  report.true_residual = found.residuals[pair];
  report.seconds = found.seconds;
  return report;
}

// A system that another one's call uses too. Throws InputError if somebody else does. Null: none.
class TakenSystem {
 public:
  TakenSystem(newel_system* system, const char* what) : system_(system) {
    if (system == nullptr) return;
    if (system->busy.exchange(true))
      throw InputError(std::string(what) + ": the system is in use, or the same as another");
  }
  ~TakenSystem() {
    if (system_ != nullptr) system_->busy = false;
  }
  TakenSystem(const TakenSystem&) = delete;
  TakenSystem& operator=(const TakenSystem&) = delete;

 private:
  newel_system* system_;
};

// What ends LOBPCG before its time: the caller's function and the time limit.
struct EigenWatch {
  newel_system* s;
  double time_limit;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  Status status = Status::max_iterations;
  Cause cause = Cause::iteration_limit;

  bool operator()(int iterations) {
    const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (time_limit > 0 && taken > time_limit) end(Status::time_limit, Cause::time_limit);
    if (s->progress != nullptr && s->progress(s->user, 0, iterations, -1) == 0)
      end(Status::stopped_by_caller, Cause::stopped_by_caller);
    return status == Status::max_iterations;
  }
  void end(Status by, Cause with) { status = by, cause = with; }
};

}  // namespace

int newel_eigenpairs(newel_system* system, newel_system* mass, newel_system* preconditioned, int pairs,
                     int null_vectors, const double* null_space, double* values, double* vectors) {
  return guarded(system, [&] {
    const c::System& a = system_of(system);
    const TakenSystem of_mass(mass, "mass");
    const TakenSystem of_preconditioned(preconditioned == system ? nullptr : preconditioned, "preconditioned");
    const StopCriterion& stop = system->settings.options.stop;
    c::EigenQuestion question;
    if (mass != nullptr) question.mass = &system_of(mass);
    question.preconditioned = preconditioned != nullptr ? &system_of(preconditioned) : &a;
    question.options = {pairs, stop.rel_tol, stop.max_iterations};
    if (null_vectors < 0) throw InputError("null_vectors: expected at least 0");
    if (null_vectors > 0) c::require(null_space, "null_space");
    question.left_out = null_vectors;
    question.null_space = null_space;
    if (pairs < 1) throw InputError("pairs: expected at least 1, found " + std::to_string(pairs));
    c::require(values, "values");
    c::require(vectors, "vectors");
    question.vectors = vectors;
    EigenWatch watch{system, stop.time_limit_seconds};
    question.progress = [&](int iterations) { return watch(iterations); };
    system->reports.clear();
    const EigenReport report = c::eigenpairs(a, question);
    std::copy(report.values.begin(), report.values.end(), values);
    for (std::size_t k = 0; k < report.residuals.size(); ++k) {
      system->reports.push_back(report_of(report, k, watch.status, watch.cause));
    }
    return static_cast<int>(report.converged ? NEWEL_OK : NEWEL_NOT_CONVERGED);
  });
}

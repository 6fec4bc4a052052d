// SPDX-License-Identifier: Apache-2.0
/// One solve in a space and a precision: estimate, convert, upload, set up, iterate, download.
#pragma once

#include <algorithm>

#include <complex>
#include <optional>

#include <newel/solver/complex_system.hpp>

#include "apps/common/interrupt.hpp"
#include "apps/common/run_clock.hpp"
#include "apps/newel/input/precision.hpp"
#include "backend.hpp"

namespace newel::cli {

/// A vector in precision T in the context's space; itself where it is that already.
template <class T, Space S>
Array<T, S> place_vector(const Context<Space::host>& host, const Context<S>& ctx, Array<double, Space::host> from,
                         const char* what) {
  if constexpr (std::is_same_v<T, double>) {
    if constexpr (S == Space::host) return from;
    return make_array(ctx, from.cspan());
  } else {
    Array<T, Space::host> converted = to_precision<T>(host, from.cspan(), what);
    if constexpr (S == Space::host) return converted;
    return make_array(ctx, converted.cspan());
  }
}

/// x in double on the host.
template <class T, Space S>
Array<double, Space::host> take_solution(const Context<Space::host>& host, const Context<S>& ctx, Array<T, S> x) {
  if constexpr (std::is_same_v<T, double> && S == Space::host) {
    return x;
  } else {
    const std::vector<T> values = to_vector(ctx, x.cspan());
    Array<double, Space::host> result(host, x.size());
    std::copy(values.begin(), values.end(), result.begin());
    return result;
  }
}

/// The complex matrix of the task, in precision T.
template <class T>
Array<std::complex<T>, Space::host> complex_values(const Context<Space::host>& host, const SolveTask& task) {
  const Array<T, Space::host> re = to_precision<T>(host, task.a.val, "the matrix");
  const Array<T, Space::host> im = to_precision<T>(host, task.imaginary, "the matrix");
  Array<std::complex<T>, Space::host> values(host, re.size());
  parallel_for(host, re.size(), [&](Offset k) { values[k] = {re[k], im.empty() ? T(0) : im[k]}; });
  return values;
}

/// The complex system for the task's matrix; otherwise like `set_up`.
template <class T, Space S>
ComplexSystem<T, S> set_up_complex(const Context<Space::host>& host, const Context<S>& ctx, SolveTask& task,
                                   double& transfer_seconds) {
  using Value = std::complex<T>;
  const Stopwatch watch;
  Csr<double, Space::host>& a = task.a;
  const Array<Value, Space::host> values = complex_values<T>(host, task);
  const auto system_of = [&](const Array<Offset, S>& row_ptr, const Array<Index, S>& col,
                             const Array<Value, S>& val) {
    transfer_seconds += watch.seconds();
    return ComplexSystem<T, S>(
        ctx, MatrixInput<Value, S>::csr(a.rows, a.cols, row_ptr.cspan(), col.cspan(), val.cspan()), task.options);
  };
  if constexpr (S == Space::host) {
    return system_of(a.row_ptr, a.col, values);
  } else {
    const Array<Offset, S> row_ptr = make_array(ctx, a.row_ptr.cspan());
    const Array<Index, S> col = make_array(ctx, a.col.cspan());
    const Array<Value, S> uploaded = make_array(ctx, values.cspan());
    ctx.synchronize();
    return system_of(row_ptr, col, uploaded);
  }
}

/// The system for the task's matrix, whose host memory is given back. What conversion and upload take is added to
/// `transfer_seconds`.
template <class T, Space S>
LinearSystem<T, S> set_up(const Context<Space::host>& host, const Context<S>& ctx, SolveTask& task,
                          double& transfer_seconds) {
  const Stopwatch watch;
  Csr<double, Space::host>& a = task.a;
  Array<T, Space::host> converted;
  Span<const T, Space::host> values;
  if constexpr (std::is_same_v<T, double>) {
    values = a.val.cspan();
  } else {
    converted = to_precision<T>(host, a.val, "the matrix");
    values = converted;
  }
  const CsrView<T, Space::host> view(a.rows, a.cols, a.row_ptr.cspan(), a.col.cspan(), values);
  if constexpr (S == Space::host) {
    transfer_seconds += watch.seconds();
    LinearSystem<T, S> system(ctx, view, task.options);
    a = {};
    return system;
  } else {
    const Csr<T, S> uploaded = make_csr(ctx, view);
    a = {};
    ctx.synchronize();
    transfer_seconds += watch.seconds();
    return LinearSystem<T, S>(ctx, uploaded, task.options);
  }
}

/// A real system, or a complex one with the real system that stands for it.
template <class T, Space S>
class TaskSystem {
  using Value = std::complex<T>;

 public:
  TaskSystem(const Context<Space::host>& host, const Context<S>& ctx, SolveTask& task, double& transfer_seconds) {
    if (!task.complex) {
      real_.emplace(set_up<T>(host, ctx, task, transfer_seconds));
      return;
    }
    complex_.emplace(set_up_complex<T>(host, ctx, task, transfer_seconds));
    task.a = {};
  }
  LinearSystem<T, S>& real() { return complex_ ? complex_->real_system() : *real_; }
  SystemInfo info() const { return complex_ ? complex_->info() : real_->info(); }
  Index rows() const { return complex_ ? complex_->rows() : real_->rows(); }
  std::vector<SystemFacts> facts(const Context<S>& ctx, const Array<T, S>& b, Index columns) {
    if (!complex_) return facts_of<T, S>(ctx, *real_, b.cspan(), columns);
    return facts_of<T, S>(ctx, *complex_, {reinterpret_cast<const Value*>(b.data()), b.size() / 2}, columns);
  }
  std::string real_form() const {
    if (!complex_) return "";
    return "solved as a real system (" + std::string(name_of(complex_->form())) + "): " + complex_->form_reason();
  }
  std::vector<SolveReport> solve_columns(const Array<T, S>& b, Array<T, S>& x, Index columns,
                                         const ProgressFn& progress, InitialGuess guess) {
    if (!complex_) return real_->solve_columns(b, x, columns, progress, guess);
    return complex_->solve_columns({reinterpret_cast<const Value*>(b.data()), b.size() / 2},
                                   {reinterpret_cast<Value*>(x.data()), x.size() / 2}, columns, progress, guess);
  }

 private:
  std::optional<LinearSystem<T, S>> real_;
  std::optional<ComplexSystem<T, S>> complex_;
};

/// What explains a failure, where there was one.
template <class T, Space S>
std::vector<SystemFacts> facts_for_advice(const Context<S>& ctx, TaskSystem<T, S>& system, const Array<T, S>& b,
                                          const std::vector<SolveReport>& reports) {
  const auto failed = [](const SolveReport& r) { return !r.converged() && r.status != Status::stopped_by_caller; };
  if (std::any_of(reports.begin(), reports.end(), failed))
    return system.facts(ctx, b, static_cast<Index>(reports.size()));
  SystemFacts sizes;
  sizes.rows = system.rows();
  return std::vector<SystemFacts>(reports.size(), sizes);
}

template <class T, Space S>
SolveOutcome solve_in(const Context<Space::host>& host, const Context<S>& ctx, SolveTask& task, SetupFacts facts,
                      const SolveObserver& observer) {
  const Index rows = task.a.rows;
  require_memory(ctx, task.options, task.complex ? 2 * rows : rows, (task.complex ? 4 : 1) * task.a.nnz(), sizeof(T));
  const std::uint64_t held_before = ctx.memory()->use().bytes;
  const Stopwatch watch;
  const Array<T, S> b = place_vector<T>(host, ctx, std::move(task.b), "the right-hand side");
  const InitialGuess guess = task.x.empty() ? InitialGuess::zero : InitialGuess::in_x;
  Array<T, S> x = guess == InitialGuess::zero ? Array<T, S>(ctx, b.size())
                                              : place_vector<T>(host, ctx, std::move(task.x), "the guess");
  facts.transfer_seconds = watch.seconds();
  TaskSystem<T, S> system(host, ctx, task, facts.transfer_seconds);
  ctx.synchronize();
  task.clock.end("setup");

  SolveOutcome outcome;
  facts.system = system.info();
  facts.real_form = system.real_form();
  outcome.setup = facts;
  {
    const InterruptScope interrupt;  // before the set-up is printed: whoever has read it may stop the solve
    observer.on_setup(facts);
    task.clock.end("report");
    const ProgressFn on_progress = [&](const Progress& progress) {
      return observer.on_progress(progress) && !interrupt.requested();
    };
    outcome.reports = system.solve_columns(b, x, task.options.columns, on_progress, guess);
  }
  task.clock.end("solve");
  outcome.facts = facts_for_advice(ctx, system, b, outcome.reports);
  task.x = take_solution(host, ctx, std::move(x));
  outcome.setup.system = system.info();
  if (task.list_candidates) outcome.candidates = system.real().history().candidates();
  if (task.measure_preconditioner) {
    task.clock.end("result");
    outcome.preconditioner_residual = inverse_residual(system.real());
    task.clock.end("preconditioner_residual");
  }
  const std::uint64_t peak = ctx.memory()->use().peak_bytes;
  outcome.peak_bytes = S == Space::host ? peak : peak - held_before;
  return outcome;
}

}  // namespace newel::cli

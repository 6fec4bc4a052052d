// SPDX-License-Identifier: Apache-2.0
/// SolveObserver: during a solve, which runs without the GIL, calls back into Python and notices Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>

#include <newel/solver/krylov.hpp>

namespace newel::python {

namespace nb = nanobind;

/// A Progress whose text is its own, for callbacks that keep it.
struct ProgressRecord : Progress {
  explicit ProgressRecord(const Progress& from) : Progress(from), name(from.solver) { solver = name; }
  std::string name;
};

/// Outlives the solve that it observes. The callback is called at every check; without one, Python's signals are
/// looked at every twentieth of a second.
class SolveObserver {
 public:
  /// `callback` may be None. Lives no longer than the call that holds it.
  explicit SolveObserver(nb::handle callback) : callback_(callback) {}

  /// To be given to the library, which calls it without the GIL.
  ProgressFn function() {
    return [this](const Progress& progress) { return observe(progress); };
  }

  /// Throws what the callback or a signal's handler threw.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  bool observe(const Progress& progress);

  nb::handle callback_;
  std::exception_ptr error_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void bind_progress(nb::module_& module);

}  // namespace newel::python

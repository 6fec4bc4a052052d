// SPDX-License-Identifier: Apache-2.0
/// Python's lock, taken and released so that a thread survives the end of the interpreter.
///
/// A daemon thread may be in a solve when the interpreter ends. Until Python 3.13 whoever then asks for the lock is
/// ended by pthread_exit. It unwinds the thread's stack, and C++ calls std::terminate if the unwinding meets a
/// noexcept function or a `catch (...)`. From 3.14 on Python makes such a thread wait for ever, and so does this file
/// for all. Nothing in this folder calls nanobind's gil_scoped_acquire and gil_scoped_release, which are noexcept.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>

#include <exception>
#include <memory>
#include <utility>

namespace newel::python {

namespace nb = nanobind;

/// Waits until the process ends.
[[noreturn]] void wait_for_ever() noexcept;

/// Returns what `work` returns. Every call that may run Python code or take the lock is made in here: if the
/// interpreter ends the thread meanwhile, the thread waits for ever instead of unwinding further.
template <class Work>
decltype(auto) in_python(Work&& work) {
#ifdef __GLIBCXX__
  try {
    return std::forward<Work>(work)();
  } catch (abi::__forced_unwind&) {
    wait_for_ever();
  }
#else
  return std::forward<Work>(work)();
#endif
}

/// Releases the lock as long as it lives. Made with the lock.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// Holds the lock as long as it lives, whether the thread held it before or not.
class WithGil {
 public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Waits for ever where the interpreter ends. Called without the lock, in every iteration.
void stop_at_the_end();

/// What the callable returns. Throws nb::python_error. Called with the lock.
nb::object call(nb::handle callable);
nb::object call(nb::handle callable, nb::handle argument);
nb::object call_method(nb::handle object, const char* name);

/// An error of Python on its way through the library, which may copy and drop it without the lock.
class PythonFailure : public std::exception {
 public:
  /// Takes the error over. Called with the lock.
  explicit PythonFailure(nb::python_error& error);
  const char* what() const noexcept override { return "an error of Python"; }
  /// Makes it the present error of Python. Called with the lock.
  void restore() const;

 private:
  std::shared_ptr<nb::python_error> error_;
};

/// What `work`, called with the lock, returns; errors of Python leave it as PythonFailure.
template <class Work>
decltype(auto) from_library(Work&& work) {
  try {
    return in_python(std::forward<Work>(work));
  } catch (nb::python_error& error) {
    throw PythonFailure(error);
  }
}

/// The end of the interpreter waits until no thread is about to ask for its lock.
void bind_end(nb::module_& module);

}  // namespace newel::python

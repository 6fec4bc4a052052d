// SPDX-License-Identifier: Apache-2.0
// Threads that meet the end of the interpreter stop here.
#include "gil.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace newel::python {
namespace {

// Of this thread: how often it has released the lock, and whether the interpreter was running when it did so first.
// The thread that ends the interpreter may release the lock afterwards, in a __del__, and gets it back.
thread_local int released = 0;
thread_local bool was_running = false;

// Threads that work without the lock, and threads that ask for it.
std::atomic<int> working{0}, asking{0};

bool counts() { return released > 0 && was_running; }

// Py_IsInitialized becomes false before the lock is refused, and may be asked without the lock.
bool is_too_late() { return counts() && Py_IsInitialized() == 0; }

// A thread that finds the interpreter running, sleeps, and asks when it is gone would read freed memory: the end
// waits for those that ask.
template <class Ask>
void ask_for_lock(Ask&& ask) {
  asking.fetch_add(1);
  if (counts()) working.fetch_sub(1);
  if (is_too_late()) {
    asking.fetch_sub(1);
    wait_for_ever();
  }
#ifdef __GLIBCXX__
  try {
    ask();
  } catch (abi::__forced_unwind&) {
    asking.fetch_sub(1);
    wait_for_ever();
  }
#else
  ask();
#endif
  asking.fetch_sub(1);
}

// Called with the lock while the interpreter ends. Who waits for the lock is refused within 5 ms, or waits for ever
// in Python 3.14. Solves stop in their next iteration. A setup may work longer: it then meets the end of the process,
// in which the library's tables are destroyed.
void wait_for_others(void*) noexcept {
  const auto began = std::chrono::steady_clock::now();
  const auto is_within = [&](std::chrono::milliseconds limit) {
    return std::chrono::steady_clock::now() - began < limit;
  };
  while ((asking.load() > 0 && is_within(std::chrono::milliseconds(200))) ||
         (working.load() > 0 && is_within(std::chrono::milliseconds(1000)))) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// A reference of the caller's own; throws the present error where there is none.
PyObject* checked(PyObject* result) {
  if (result == nullptr) throw nb::python_error();
  return result;
}

}  // namespace

void wait_for_ever() noexcept {
  while (true) ::pause();
}

WithoutGil::WithoutGil() {
  if (released++ == 0) was_running = Py_IsInitialized() != 0;
  if (counts()) working.fetch_add(1);
  state_ = PyEval_SaveThread();
}

WithoutGil::~WithoutGil() {
  ask_for_lock([&] { PyEval_RestoreThread(state_); });
  --released;
}

WithGil::WithGil() {
  ask_for_lock([&] { state_ = PyGILState_Ensure(); });
}

WithGil::~WithGil() {
  if (counts()) working.fetch_add(1);
  PyGILState_Release(state_);
}

void stop_at_the_end() {
  if (!is_too_late()) return;
  working.fetch_sub(1);
  wait_for_ever();
}

nb::object call(nb::handle callable) {
  return nb::steal(checked(in_python([&] { return PyObject_CallFunctionObjArgs(callable.ptr(), nullptr); })));
}

nb::object call(nb::handle callable, nb::handle argument) {
  return nb::steal(
      checked(in_python([&] { return PyObject_CallFunctionObjArgs(callable.ptr(), argument.ptr(), nullptr); })));
}

nb::object call_method(nb::handle object, const char* name) {
  const nb::object method = nb::steal(checked(in_python([&] { return PyObject_GetAttrString(object.ptr(), name); })));
  return call(method);
}

PythonFailure::PythonFailure(nb::python_error& error)
    : error_(new nb::python_error(std::move(error)), [](nb::python_error* held) {
        const WithGil gil;
        delete held;
      }) {}

void PythonFailure::restore() const {
  nb::python_error error(*error_);
  error.restore();
}

void bind_end(nb::module_& module) {
  pthread_atfork(nullptr, nullptr, [] { working = asking = 0; });  // a child has one thread, which holds the lock
  // Destroyed with the module: after the lock has begun to be refused, and before the interpreter's memory is freed.
  module.attr("_end") = nb::capsule(&asking, &wait_for_others);
}

}  // namespace newel::python

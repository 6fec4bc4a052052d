// SPDX-License-Identifier: Apache-2.0
// What happens in Python between two iterations.
#include "interrupts.hpp"

#include <nanobind/stl/string.h>

#include "gil.hpp"

namespace newel::python {
namespace {

// Whether a callback's answer is a False: Python's own, or one of NumPy or of another library of arrays, such as a
// comparison of their numbers returns. Any other answer, None or 0, says nothing.
bool is_false(nb::handle answer) {
  if (answer.is_none() || answer.is(nb::handle(Py_True))) return false;
  if (answer.is(nb::handle(Py_False))) return true;
  if (!nb::hasattr(answer, "dtype")) return false;
  const nb::object dtype = answer.attr("dtype");
  const std::string type = nb::str(nb::handle(dtype)).c_str();
  if (type != "bool" && type != "torch.bool") return false;
  const int truth = PyObject_IsTrue(answer.ptr());  // an array of several is neither
  if (truth < 0) throw nb::python_error();
  return truth == 0;
}

}  // namespace

bool SolveObserver::observe(const Progress& progress) {
  constexpr std::chrono::milliseconds between_looks{50};
  stop_at_the_end();
  if (callback_.is_none()) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < between_looks) return true;
    last_ = now;
  }
  const WithGil gil;
  try {
    return in_python([&] {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return callback_.is_none() || !is_false(call(callback_, nb::cast(ProgressRecord(progress))));
    });
  } catch (...) {  // nothing of Python leaves through the library
    error_ = std::current_exception();
    return false;
  }
}

void bind_progress(nb::module_& module) {
  nb::class_<ProgressRecord>(module, "Progress", "What a callback sees after an iteration.")
      .def_prop_ro(
          "solver", [](const ProgressRecord& p) { return p.name; }, "The method that iterates.")
      .def_ro("iteration", &ProgressRecord::iteration, "Iterations so far.")
      .def_ro("residual", &ProgressRecord::residual, "Norm of the residual, as the recurrence has it.")
      .def_ro("relative_residual", &ProgressRecord::relative_residual, "The same over the norm of b.")
      .def_ro("tolerance", &ProgressRecord::tolerance, "The norm at which the solve ends.")
      .def_ro("seconds", &ProgressRecord::seconds, "Since the solve began.")
      .def_ro("column", &ProgressRecord::column, "Which column of b this is about, from 0.")
      .def_ro("columns", &ProgressRecord::columns, "How many there are.")
      .def_ro("iterations_left", &ProgressRecord::iterations_left, "About the iterations to go; 0: not known.")
      .def("__repr__", [](const ProgressRecord& p) {
        return "Progress(iteration=" + std::to_string(p.iteration) +
               ", relative_residual=" + std::to_string(p.relative_residual) + ")";
      });
}

}  // namespace newel::python

// SPDX-License-Identifier: Apache-2.0
// The system on the host, and how Python calls a system of any kind.
#include "system.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "host_side.hpp"
#include "system_in.hpp"

namespace newel::python {

namespace {

std::unique_ptr<System> system_of_matrix(const MatrixArrays& arrays, bool single, const nb::dict& choices,
                                         int threads, const nb::object& preconditioner) {
  return new_system<host>(single, arrays, SystemRequest{choices, preconditioner, threads, 0, {}, {}});
}

std::unique_ptr<System> system_of_operator(Index n, const nb::object& product, bool single, const nb::dict& choices,
                                           int threads, const nb::object& preconditioner) {
  return new_system<host>(single, n, product, SystemRequest{choices, preconditioner, threads, 0, {}, {}});
}

RefreshScope scope_of(bool keep_preconditioner) {
  return keep_preconditioner ? RefreshScope::operator_only : RefreshScope::everything;
}

}  // namespace

void bind_system(nb::module_& module) {
  nb::class_<System>(module, "System", "What a Solver holds. Vectors are flat and of the system's precision.")
      .def_prop_ro("rows", &System::rows)
      .def_prop_ro("single", &System::single)
      .def_prop_ro("busy", &System::busy)
      .def(
          "solve",
          [](System& system, nb::handle b, nb::handle x, Index columns, double rtol, double atol, int max_iterations,
             double time_limit, nb::handle callback, int check_every, bool zero) {
            StopCriterion stop = stop_criterion(rtol, atol, max_iterations, time_limit);
            stop.check_every = check_every;
            return in_python([&] { return system.solve(b, x, columns, zero, stop, callback); });
          },
          nb::arg("b"), nb::arg("x"), nb::arg("columns"), nb::arg("rtol"), nb::arg("atol"), nb::arg("max_iterations"),
          nb::arg("time_limit"), nb::arg("callback").none(), nb::arg("check_every") = 0, nb::arg("zero") = false)
      .def(
          "refresh", [](System& system, nb::handle values, bool keep) { system.refresh(values, scope_of(keep)); },
          nb::arg("values"), nb::arg("keep_preconditioner"))
      .def(
          "operator_changed", [](System& system, bool keep) { system.operator_changed(scope_of(keep)); },
          nb::arg("keep_preconditioner"))
      .def(
          "move_nodes", [](System& system, const Rows& points) { system.move_nodes(coordinates_of(points)); },
          nb::arg("coordinates"))
      .def("multiply", &System::multiply, nb::arg("x"), nb::arg("y"))
      .def("precondition", &System::precondition, nb::arg("x"), nb::arg("y"))
      .def("matrix_is_symmetric", [](System& system) { return system.is_symmetric(Operand::matrix); })
      .def("preconditioner_is_symmetric", [](System& system) { return system.is_symmetric(Operand::preconditioner); })
      .def("pattern_hash", &System::pattern_hash, nb::arg("arrays"))
      .def("info", &System::info)
      .def("decision", &System::decision)
      .def(
          "eigenpairs",
          [](System& system, System* mass, System& preconditioned, nb::handle deflated, nb::handle guesses,
             nb::handle vectors, int pairs, double tolerance, int max_iterations) {
            const EigenQuestion question{mass,    preconditioned, deflated,
                                         guesses, vectors,        {pairs, tolerance, max_iterations}};
            return in_python([&] { return system.eigenpairs(question); });
          },
          nb::arg("mass").none(), nb::arg("preconditioned"), nb::arg("deflated").none(), nb::arg("guesses").none(),
          nb::arg("vectors"), nb::arg("pairs"), nb::arg("tolerance"), nb::arg("max_iterations"));
  module.def("system_of_matrix", &system_of_matrix, nb::arg("arrays"), nb::arg("single"), nb::arg("choices"),
             nb::arg("threads"), nb::arg("preconditioner").none());
  module.def("system_of_operator", &system_of_operator, nb::arg("n"), nb::arg("product"), nb::arg("single"),
             nb::arg("choices"), nb::arg("threads"), nb::arg("preconditioner").none());
}

}  // namespace newel::python

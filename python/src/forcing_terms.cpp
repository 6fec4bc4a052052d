// SPDX-License-Identifier: Apache-2.0
// Forcing terms: the class of the library, with its options as keywords.
#include "forcing_terms.hpp"

#include <newel/solver/forcing_terms.hpp>

namespace nb = nanobind;

namespace newel::python {

void bind_forcing_terms(nb::module_& module) {
  nb::class_<ForcingTerms>(module, "ForcingTerms", "What newel.ForcingTerms holds.")
      .def(
          "__init__",
          [](ForcingTerms* self, int choice, double first, double most, double gamma, double alpha, double outer) {
            new (self) ForcingTerms({choice, first, most, gamma, alpha, outer});
          },
          nb::arg("choice"), nb::arg("first"), nb::arg("most"), nb::arg("gamma"), nb::arg("alpha"),
          nb::arg("outer_tolerance"))
      .def("next", &ForcingTerms::next, nb::arg("residual"), nb::arg("linear_residual"))
      .def("restart", &ForcingTerms::restart);
}

}  // namespace newel::python

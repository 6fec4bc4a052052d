// SPDX-License-Identifier: Apache-2.0
// Batches on the host, and how Python calls batches of any kind.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "batch_in.hpp"
#include "host_side.hpp"

namespace newel::python {

void bind_batch(nb::module_& module) {
  nb::class_<Batch>(module, "Batch", "What a BatchedSystem holds. Arrays are flat and of the batch's precision.")
      .def_prop_ro("rows", &Batch::rows)
      .def_prop_ro("nonzeros", &Batch::nonzeros)
      .def_prop_ro("fits", &Batch::fits)
      .def("set_limits", &Batch::set_limits, nb::arg("rtol"), nb::arg("atol"), nb::arg("max_iterations"))
      .def("set_order", &Batch::set_order, nb::arg("positions"),
           "From now on entry e has the value at position positions[e] of those of its system.")
      .def(
          "solve",
          [](Batch& batch, Index systems, nb::handle values, nb::handle b, nb::handle x, bool zero,
             const std::optional<FlatOf<Index>>& vectors) {
            return in_python([&] { return batch.solve(systems, values, b, x, zero, vectors ? &*vectors : nullptr); });
          },
          nb::arg("systems"), nb::arg("values"), nb::arg("b"), nb::arg("x"), nb::arg("zero"),
          nb::arg("vectors") = nb::none(), "System s has the vector vectors[s] of b; without them vector s.");
  module.def(
      "batch_reason",
      [](int cause, int iterations, double rhs_norm, double true_residual) {
        BatchedResult result;
        result.cause = static_cast<Cause>(cause);
        result.iterations = iterations;
        result.rhs_norm = rhs_norm;
        result.true_residual = true_residual;
        return text_of(result.failure());
      },
      nb::arg("cause"), nb::arg("iterations"), nb::arg("rhs_norm"), nb::arg("true_residual"));
  module.def(
      "batch_on_host",
      [](const MatrixArrays& pattern, bool single, const nb::dict& choices, int threads) {
        return new_batch<host>(single, pattern, SystemRequest{choices, nb::none(), threads, 0, {}, {}});
      },
      nb::arg("pattern"), nb::arg("single"), nb::arg("choices"), nb::arg("threads"));
}

}  // namespace newel::python

// SPDX-License-Identifier: Apache-2.0
// The System whose rows several devices share.
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <newel/core/cuda_interop.hpp>

#include "shared_system.hpp"

namespace newel::python {
namespace {

constexpr Space device = Space::device;

template <class T>
std::unique_ptr<System> make(const MatrixArrays& arrays, const nb::dict& choices, const std::vector<int>& devices) {
  using Held = TeamSystem<T, device>;
  const MatrixInput<T, host> input = arrays.input<T>();
  input.check_lengths();
  return std::make_unique<SharedSystem<T, Held>>(system_options(choices, static_cast<Index>(input.rows())),
                                                 [&](const SystemOptions& options) {
                                                   const KeptDevice kept;
                                                   std::vector<Context<device>> contexts;
                                                   for (const int number : devices) contexts.emplace_back(number);
                                                   return std::make_unique<Held>(std::move(contexts), input, options);
                                                 });
}

std::unique_ptr<System> system_of_team(const MatrixArrays& arrays, bool single, const nb::dict& choices,
                                       const std::vector<int>& devices) {
  return (single ? make<float> : make<double>)(arrays, choices, devices);
}

}  // namespace

void bind_team_system(nb::module_& module) {
  module.def("system_of_team", &system_of_team, nb::arg("arrays"), nb::arg("single"), nb::arg("choices"),
             nb::arg("devices"));
}

}  // namespace newel::python

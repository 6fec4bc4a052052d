// SPDX-License-Identifier: Apache-2.0
// The System whose rows are distributed over processes.
#include <nanobind/stl/unique_ptr.h>

#include <limits>

#include "python_ranks.hpp"
#include "shared_system.hpp"

namespace newel::python {
namespace {

// With the rows of all ranks, by which iterations are estimated.
SystemOptions options_of(const nb::dict& choices, std::int64_t rows, Communicator& ranks) {
  auto all_rows = static_cast<double>(rows);
  ranks.sum(&all_rows, 1);
  return system_options(choices, static_cast<Index>(std::min<double>(all_rows, std::numeric_limits<Index>::max())));
}

template <class T>
std::unique_ptr<System> make(const Flat& row_ptr, const Flat& col, const Flat& val, const nb::dict& choices,
                             int threads, const std::shared_ptr<Communicator>& ranks) {
  using Held = DistributedSystem<T>;
  const RankRows<T> rows{values_of<std::int64_t>(row_ptr), values_of<std::int64_t>(col), values_of<T>(val)};
  return std::make_unique<SharedSystem<T, Held>>(
      options_of(choices, rows.row_ptr.size - 1, *ranks), [&](const SystemOptions& options) {
        return std::make_unique<Held>(Context<host>(threads), ranks, rows, options);
      });
}

std::unique_ptr<System> system_of_rows(const Flat& row_ptr, const Flat& col, const Flat& val, bool single,
                                       const nb::dict& choices, int threads, nb::object ranks) {
  const std::shared_ptr<Communicator> communicator = python_ranks(std::move(ranks));
  return (single ? make<float> : make<double>)(row_ptr, col, val, choices, threads, communicator);
}

}  // namespace

void bind_rank_system(nb::module_& module) {
  module.def("system_of_rows", &system_of_rows, nb::arg("row_ptr"), nb::arg("col"), nb::arg("val"), nb::arg("single"),
             nb::arg("choices"), nb::arg("threads"), nb::arg("ranks"));
}

}  // namespace newel::python
